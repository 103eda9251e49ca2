package sidecar

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const id1, id2 = "0123456789abcdef0123456789abcdef", "11111111-1111-4111-8222-222222222222"

func TestFetched(t *testing.T) {
	t.Parallel()
	const text = `{"format":1,"image_time_ms":1763436000000,"source":"date of the edits","txid":12345,
	"md5":"d41d8cd98f00b204e9800998ecf8427e","cluster_id":"CID-1","nameservice":"ns1"}`
	f, err := ParseFetched([]byte(text))
	want := &Fetched{1, 1763436000000, "date of the edits", 12345, "d41d8cd98f00b204e9800998ecf8427e", "CID-1", "ns1"}
	if diff := cmp.Diff(want, f); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	data, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFetched(data)
	if diff := cmp.Diff(want, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := (&Fetched{}).Encode(); !errors.Is(err, ErrInvalid) {
		t.Errorf("an empty one was written: %v", err)
	}
	const rest = `"source":"s","txid":1`
	for text, want := range map[string]string{
		"":             "it ends in the middle",
		`{"format":1,`: "it ends in the middle",
		"[]":           "cannot unmarshal array",
		"null":         "it is no JSON object",
		`{"format":2,"image_time_ms":1,` + rest + "}":                                          "format 2; this program reads format 1",
		`{"format":1,"image_time_ms":1,"image_time_ms":2,` + rest + "}":                        `"image_time_ms" is there twice`,
		`{"format":1,"Image_Time_Ms":1,` + rest + "}":                                          `the key "Image_Time_Ms" is unknown`,
		`{"format":1,"image_time":1,` + rest + "}":                                             `unknown field "image_time"`,
		`{"format":1,"image_time_ms":1.5,` + rest + "}":                                        "cannot unmarshal number 1.5",
		`{"format":1,"image_time_ms":0,` + rest + "}":                                          "image_time_ms 0 is no time",
		`{"format":1,"image_time_ms":253402300800000,` + rest + "}":                            "is no time",
		`{"format":1,"image_time_ms":1,"source":" ","txid":1}`:                                 "no source",
		`{"format":1,"image_time_ms":1,"source":"s"}`:                                          "txid 0",
		`{"format":1,"image_time_ms":1,"md5":"D41D8CD98F00B204E9800998ECF8427E",` + rest + "}": "is not 32 lower-case",
		`{"format":1,"image_time_ms":1,"md5":null,` + rest + "}":                               "md5 is null",
		`{"format":1,"image_time_ms":1,` + rest + "} {}":                                       "something follows",
		`{"format":1,"image_time_ms":1,` + rest + ",\"cluster_id\":\"\xff\"}":                  "not UTF-8",
		strings.Repeat(" ", MaxFetchedBytes+1):                                                 "more than 65536 bytes",
	} {
		if _, err := ParseFetched([]byte(text)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v", text, err)
		}
	}
}

func TestLiveState(t *testing.T) {
	t.Parallel()
	day := (24 * time.Hour).Milliseconds()
	s := NewLiveState("ns1")
	s.Note("a.json", []string{id1}, 2, 500*day)
	s.Note("a.json", []string{id1, id2}, 3, 100*day) // an older reading
	s.Note("b.txt", []string{id1}, 0, 100*day)
	want := &LiveState{
		1, "ns1",
		map[string]LiveCounts{"a.json": {1, 2, 500 * day}, "b.txt": {1, 0, 100 * day}},
		map[string]int64{id1: 500 * day, id2: 100 * day},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseLiveState(data, "ns1")
	if diff := cmp.Diff(want, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for since, want := range map[int64][]string{100 * day: {id2}, 100*day + 1: nil} {
		if diff := cmp.Diff(want, s.SeenSince(since, map[string]bool{id1: true})); diff != "" {
			t.Error(diff)
		}
	}
	s.Forget(500 * day)
	if len(s.Seen) != 2 {
		t.Error("forgotten on the last day")
	}
	s.Forget(500*day + 1)
	if diff := cmp.Diff(map[string]int64{id1: 500 * day}, s.Seen); diff != "" || len(s.Sources) != 1 {
		t.Error(diff, s.Sources)
	}
	s.Merge(again)
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

// TestLiveStateIsExact: whatever is not as it was written is refused, byte by byte.
func TestLiveStateIsExact(t *testing.T) {
	t.Parallel()
	s := NewLiveState("ns1")
	s.Note("a.json", []string{id1}, 2, 1000)
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if _, err := ParseLiveState(data[:i], "ns1"); !errors.Is(err, ErrInvalid) {
			t.Errorf("cut at %d: %v", i, err)
		}
		bad := append([]byte(nil), data...)
		bad[i] = '\xff'
		if _, err := ParseLiveState(bad, "ns1"); !errors.Is(err, ErrInvalid) {
			t.Errorf("changed at %d: %v", i, err)
		}
	}
	for from, to := range map[string]string{
		`"format": 1`:    `"format": 2`,
		`"ids": 1`:       `"ids": -1`,
		`"ids": 1` + ",": `"ids": 1, "ids": 1,`,
		`1000`:           `0`,
		id1:              "job",
		"\n}\n":          "\n}\n\n",
		`"seen"`:         `"SEEN"`,
		"a.json":         "",
	} {
		text := strings.Replace(string(data), from, to, 1)
		if text == string(data) {
			t.Fatal(from)
		}
		if _, err := ParseLiveState([]byte(text), "ns1"); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s for %s: %v", to, from, err)
		}
	}
	if _, err := ParseLiveState(data, "ns2"); !errors.Is(err, ErrInvalid) {
		t.Error("the state of another nameservice")
	}
}
