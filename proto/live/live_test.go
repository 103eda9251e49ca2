package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/proto/policy"
)

const hour = policy.Duration(time.Hour)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var options = Options{Now: now, Nameservice: "nameservice1", Foreign: []policy.Authority{"nameservice2"}}

func readLive(t *testing.T, r io.Reader, f policy.Format) (*Set, error) {
	t.Helper()
	return Read(Input{"live.json", r, now.Add(-time.Hour)}, policy.LiveSource{File: "live.json", Format: f, MaxAge: 2 * hour}, options)
}

func TestReadLiveKubernetes(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/kubernetes.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := readLive(t, iotest.OneByteReader(f), policy.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	want := &Set{
		Name: "live.json", Format: policy.Kubernetes, ModTime: now.Add(-time.Hour), ReadAt: now, HAConfigMaps: 2, Elsewhere: 1,
		IDs: []string{
			"0d78a62fe581b047510e28f26393a7ce", "11111111111111111111111111111111", "22222222222222222222222222222222",
			"2c6b2d4f0b7a4a3a8b1c9d0e1f2a3b4c", "77777777777777777777777777777777", "9f0e1d2c3b4a59687786a5b4c3d2e1f0",
			"ffffffff8e2d96d90000000000000000",
		},
		Paths: []policy.Path{
			"/flink-checkpoints/orders-enrich/2c6b2d4f0b7a4a3a8b1c9d0e1f2a3b4c/chk-4711",
			"/flink-savepoints/billing/savepoint-ffffff-00000000000a",
			"/flink-savepoints/billing/savepoint-ffffff-0123456789ab",
			"/flink-savepoints/savepoint-0c3d5e-7a7b7c7d7e7f",
			"/flink-savepoints/savepoint-0d78a6-112233445566", // through a host: it can only keep more
			"/flink-savepoints/savepoint-0d78a6-99aabbccddee",
			"/flink-savepoints/savepoint-0d78a6-ffeeddccbbaa",
			"/flink-savepoints/savepoint-4f2a91-1b6c0d1f7e55",
		},
		Clusters: []string{"billing", "deleted-cr", "orders-enrich", "orders-enrich-old", "sessions"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadLiveOldConfigMaps(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/kubernetes-1.14.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := readLive(t, f, policy.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"33333333333333333333333333333333", "44444444444444444444444444444444"}, got.IDs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"legacy", "standalone"}, got.Clusters); diff != "" {
		t.Error(diff)
	}
}

func TestReadLiveREST(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/flink-rest.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := readLive(t, f, policy.FlinkREST)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0d78a62fe581b047510e28f26393a7ce", "9f0e1d2c3b4a59687786a5b4c3d2e1f0"}, got.IDs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]policy.Path{"/flink-savepoints/savepoint-4f2a91-1b6c0d1f7e55", "/flink-sessions/0d78a62fe581b047510e28f26393a7ce/chk-14"}, got.Paths); diff != "" {
		t.Error(diff)
	}
}

func TestReadLiveLines(t *testing.T) {
	t.Parallel()
	got, err := readLive(t, strings.NewReader("\ufeff# jobs\r\n\r\n 0d78a62fe581b047510e28f26393a7ce \r\n"+
		"6f1ce0f4-3f6e-4ad3-b0fb-0d1c7a0d5a11\nhdfs://nameservice1/a/b/\nhdfs://nameservice2/c\n/d e/[f]*"), policy.Lines)
	if err != nil {
		t.Fatal(err)
	}
	want := &Set{
		Name: "live.json", Format: policy.Lines, ModTime: now.Add(-time.Hour), ReadAt: now, Elsewhere: 1,
		IDs:   []string{"0d78a62fe581b047510e28f26393a7ce", "6f1ce0f4-3f6e-4ad3-b0fb-0d1c7a0d5a11"},
		Paths: []policy.Path{"/a/b", "/d e/[f]*"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadLiveRefused(t *testing.T) {
	t.Parallel()
	const item = `{"kind":"ConfigMap","metadata":{"name":"a-cluster-config-map"}}`
	broken := errors.New("disk")
	for _, c := range []struct {
		name   string
		format policy.Format
		text   string
		is     error
		want   string
	}{
		{"nothing", policy.Lines, "", ErrEmpty, "live.json: empty"},
		{"nothing", policy.Kubernetes, "", ErrEmpty, "live.json: empty"},
		{"nothing", policy.FlinkREST, " \n", ErrEmpty, ""},
		{"comments", policy.Lines, "# no jobs\n", ErrEmpty, "live.json: empty"},
		{"no items", policy.Kubernetes, `{"kind":"List","items":[]}`, ErrEmpty, "live.json: empty: it names no job, savepoint or cluster"},
		{"others' items", policy.Kubernetes, `{"items":[{"kind":"ConfigMap","metadata":{"name":"x"}}],"kind":"List"}`, ErrEmpty, ""},
		{"no jobs", policy.FlinkREST, `{"jobs":[]}`, ErrEmpty, "live.json: empty: it names no job, savepoint or cluster"},
		{"a line", policy.Lines, "# jobs\nmy-job\n", ErrList, `live.json:2: not understood: "my-job" is no job id of 32 lower-case hex digits, and no uuid`},
		{"an id in capitals", policy.Lines, "0D78A62FE581B047510E28F26393A7CE\n", ErrList, ""},
		{"a path", policy.Lines, "/a/../b\n", ErrList, `live.json:1: not understood: "/a/../b" has the component ".."`},
		{"a long line", policy.Lines, "/a\n/" + strings.Repeat("x", maxLine), ErrList, "live.json:2: not understood: a line of more than 65536 bytes"},
		{"a comment behind an id", policy.Lines, "0d78a62fe581b047510e28f26393a7ce # mine\n", ErrList, `live.json:1: not understood: "# mine" looks like a comment behind "0d78a62fe581b047510e28f26393a7ce"; a comment is a line of its own`},
		{"a comment behind a path", policy.Lines, "/a\n/b #\n", ErrList, `live.json:2: not understood: "#" looks like a comment behind "/b"; a comment is a line of its own`},
		{"binary", policy.Lines, "/a\x00b\n", ErrList, "live.json:1: not understood: a zero byte; this is no text file"},
		{"cut", policy.Kubernetes, `{"kind":"List","items":[` + item, ErrList, "live.json: byte 87: not understood: the file ends in the middle; was it written to its end?"},
		{"cut in an item", policy.Kubernetes, `{"kind":"List","items":[` + item[:30], ErrList, ""},
		{"an error of kubectl", policy.Kubernetes, "error: the server doesn't have a resource type\n", ErrList, "live.json: byte 1: not understood: invalid character 'e' looking for beginning of value"},
		{"YAML", policy.Kubernetes, "apiVersion: v1\n", ErrList, ""},
		{"one resource", policy.Kubernetes, item, ErrList, `live.json: byte 19: not understood: a "ConfigMap", where a List belongs; save the output of kubectl get … -o json`},
		{"an array", policy.Kubernetes, "[" + item + "]", ErrList, ""},
		{"no list", policy.Kubernetes, `{}`, ErrList, ""},
		{"two lists", policy.Kubernetes, `{"items":[` + item + `]}{"items":[]}`, ErrList, ""},
		{"items twice", policy.Kubernetes, `{"items":[` + item + `],"items":[]}`, ErrList, ""},
		{"an item without a kind", policy.Kubernetes, `{"items":[` + item + `,{"metadata":{"name":"x"}}]}`, ErrList, ""},
		{
			"a wrong id", policy.Kubernetes, `{"items":[` + item + `,{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":"d"},"status":{"jobStatus":{"jobId":"5"}}}]}`, ErrList,
			`live.json: byte 201: items[1], FlinkDeployment "d": not understood: "5" is no job id of 32 lower-case hex digits, and no uuid`,
		},
		{"a piece", policy.Kubernetes, `{"kind":"List","items":[` + item + `],"metadata":{"continue":"eyJ2IjoibWV0YSJ9"}}`, ErrList, "live.json: byte 131: not understood: the list is a part: metadata has continue or remainingItemCount; get all of it, as kubectl get does without --limit"},
		{"a piece, by its rest", policy.Kubernetes, `{"metadata":{"continue":"","remainingItemCount":1},"items":[` + item + `]}`, ErrList, ""},
		{"metadata that say nothing", policy.Kubernetes, `{"metadata":{"continue":5},"items":[` + item + `]}`, ErrList, ""},
		{"items in two cases", policy.Kubernetes, `{"items":[` + item + `],"Items":[]}`, ErrList, ""},
		{"items in another case alone", policy.Kubernetes, `{"Items":[` + item + `]}`, ErrList, ""},
		{"continue in two cases", policy.Kubernetes, `{"metadata":{"continue":"x","Continue":""},"items":[` + item + `]}`, ErrList, ""},
		{"a job id in two cases", policy.Kubernetes, `{"items":[` + deployment(`"status":{"jobStatus":{"jobId":"0d78a62fe581b047510e28f26393a7ce","jobID":null}}`) + `]}`, ErrList, ""},
		{"a path in two cases in a remembered spec", policy.Kubernetes, `{"items":[` + deployment(`"status":{"reconciliationStatus":{"lastStableSpec":"{\"job\":{\"initialSavepointPath\":\"/a\",\"initialſavepointPath\":null}}"}}`) + `]}`, ErrList, ""},
		{"a path in two cases in a history", policy.Kubernetes, `{"items":[` + deployment(`"status":{"jobStatus":{"savepointInfo":{"savepointHistory":[{"location":"/a","Location":""}]}}}`) + `]}`, ErrList, ""},
		{"metadata twice", policy.Kubernetes, `{"metadata":{"continue":"x"},"metadata":{},"items":[` + item + `]}`, ErrList, ""},
		{"continue twice", policy.Kubernetes, `{"metadata":{"continue":"x","continue":""},"items":[` + item + `]}`, ErrList, ""},
		{"a kind that is none", policy.Kubernetes, `{"kind":["List"],"items":[` + item + `]}`, ErrList, ""},
		{"any number of keys", policy.Kubernetes, `{"items":[` + item + `]` + manyKeys(200) + `}`, ErrList, ""},
		{
			"a job id twice", policy.Kubernetes, `{"items":[` + item + `,` + deployment(`"status":{"jobStatus":{"jobId":"0d78a62fe581b047510e28f26393a7ce","jobId":"9f0e1d2c3b4a59687786a5b4c3d2e1f0"}}`) + `]}`, ErrList,
			`live.json: byte 275: items[1]: not understood: the key "jobId" is there twice in one object`,
		},
		{"a job id twice, once escaped", policy.Kubernetes, `{"items":[` + deployment(`"status":{"jobStatus":{"jobId":"0d78a62fe581b047510e28f26393a7ce","jobI\u0064":null}}`) + `]}`, ErrList, ""},
		{"a path twice in a remembered spec", policy.Kubernetes, `{"items":[` + deployment(`"status":{"reconciliationStatus":{"lastStableSpec":"{\"job\":{\"initialSavepointPath\":\"/a\",\"initialSavepointPath\":null}}"}}`) + `]}`, ErrList, ""},
		{
			"a savepoint that is no path", policy.Kubernetes, `{"items":[` + deployment(`"spec":{"job":{"initialSavepointPath":"flink-savepoints/savepoint-0d78a6-99aabbccddee"}}`) + `]}`, ErrList,
			`live.json: byte 189: items[0], FlinkDeployment "d": not understood: "flink-savepoints/savepoint-0d78a6-99aabbccddee" is not absolute: a path starts with /`,
		},
		{"a savepoint that is a name", policy.Kubernetes, `{"items":[` + deployment(`"spec":{"job":{"initialSavepointPath":"savepoint-0d78a6-99aabbccddee"}}`) + `]}`, ErrList, ""},
		{"an upgrade from no path", policy.Kubernetes, `{"items":[` + deployment(`"status":{"jobStatus":{"upgradeSavepointPath":"LAST_STATE"}}`) + `]}`, ErrList, ""},
		{"a history without paths", policy.Kubernetes, `{"items":[` + deployment(`"status":{"jobStatus":{"savepointInfo":{"savepointHistory":[{"location":"/a"},{"location":"b"}]}}}`) + `]}`, ErrList, ""},
		{"a remembered spec with no path", policy.Kubernetes, `{"items":[` + deployment(`"status":{"reconciliationStatus":{"lastReconciledSpec":"{\"spec\":{\"job\":{\"initialSavepointPath\":\"x\"}}}"}}`) + `]}`, ErrList, ""},
		{"a wrong type", policy.Kubernetes, `{"items":[{"kind":5}]}`, ErrList, ""},
		{"a spec that is no JSON", policy.Kubernetes, `{"items":[{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":"d"},"status":{"reconciliationStatus":{"lastStableSpec":"{"}}}]}`, ErrList, ""},
		{"a huge item", policy.Kubernetes, `{"items":[{"kind":"` + strings.Repeat("x", maxItemBytes+1<<20), ErrList, ""},
		{"an answer that is an error", policy.FlinkREST, `{"errors":["Service temporarily unavailable"]}`, ErrList, `live.json: byte 46: not understood: answer 1 is an error: "Service temporarily unavailable"`},
		{"another answer", policy.FlinkREST, `{"taskmanagers":5}`, ErrList, ""},
		{"only checkpoints", policy.FlinkREST, `{"latest":{"restored":{"external_path":"/a"}}}`, ErrList, ""},
		{"a job without id", policy.FlinkREST, `{"jobs":[{"name":"x"}]}`, ErrList, ""},
		{"cut", policy.FlinkREST, `{"jobs":[{"jid":"0d78a62fe5`, ErrList, ""},
		{
			"jobs twice", policy.FlinkREST, `{"jobs":[{"jid":"0d78a62fe581b047510e28f26393a7ce"}],"jobs":[]}`, ErrList,
			`live.json: byte 63: not understood: the key "jobs" is there twice in one object`,
		},
		{
			"an id in two cases", policy.FlinkREST, `{"jobs":[{"jid":"0d78a62fe581b047510e28f26393a7ce","JID":""}]}`, ErrList,
			`live.json: byte 62: not understood: the keys "jid" and "JID" in one object are the same but for their case`,
		},
		{"an id twice", policy.FlinkREST, `{"jobs":[{"jid":"0d78a62fe581b047510e28f26393a7ce","jid":"9f0e1d2c3b4a59687786a5b4c3d2e1f0"}]}`, ErrList, ""},
		{"HTML", policy.FlinkREST, "<html>", ErrList, ""},
		{"another format", "csv", "x", ErrList, ""},
	} {
		got, err := readLive(t, strings.NewReader(c.text), c.format)
		list, ok := errors.AsType[*ListError](err)
		if !ok || !errors.Is(err, c.is) || got != nil || list.Name != "live.json" {
			t.Errorf("%s, %s: %v", c.format, c.name, err)
			continue
		}
		if c.want != "" && err.Error() != c.want {
			t.Errorf("%s, %s:\n%v\n%s", c.format, c.name, err, c.want)
		}
	}
	for _, f := range []policy.Format{policy.Lines, policy.Kubernetes, policy.FlinkREST} {
		if _, err := readLive(t, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(broken)), f); !errors.Is(err, broken) && f != policy.Lines {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// deployment is a FlinkDeployment d with these keys.
func deployment(keys string) string {
	return `{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":"d"},` + keys + `}`
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return b.String()
}

// TestReadLiveTaken: what looks like a mistake of [TestReadLiveRefused] and is none.
func TestReadLiveTaken(t *testing.T) {
	t.Parallel()
	const id = "0d78a62fe581b047510e28f26393a7ce"
	withPaths := func(p string) string {
		return deployment(`"spec":{"job":{"initialSavepointPath":` + p + `}},"status":{"jobStatus":{"jobId":"` + id + `","upgradeSavepointPath":` + p +
			`,"savepointInfo":{"lastSavepoint":null,"savepointHistory":[{"location":` + p + `}]}}}`)
	}
	for _, c := range []struct {
		format policy.Format
		text   string
		paths  []policy.Path
	}{
		{policy.Kubernetes, "\ufeff" + `{"metadata":{"resourceVersion":"","continue":"","remainingItemCount":0},"items":[` + withPaths(`""`) + `]}`, nil},
		{policy.Kubernetes, `{"metadata":null,"items":[` + withPaths(`null`) + `]}`, nil},
		{policy.Kubernetes, `{"items":[` + withPaths(`"KUBERNETES_OPERATOR_LAST_STATE"`) + `]}`, nil},
		{policy.Kubernetes, `{"items":[` + withPaths(`"<checkpoint-not-externally-addressable>"`) + `]}`, nil},
		{policy.Kubernetes, `{"items":[` + withPaths(`"HDFS://nameservice1/a"`) + `]}`, []policy.Path{"/a"}},
		// The same keys in different objects.
		{policy.Kubernetes, `{"items":[` + withPaths(`"/a"`) + `,` + withPaths(`"/b"`) + `]}`, []policy.Path{"/a", "/b"}},
		{policy.FlinkREST, "\ufeff" + `{"jobs":[{"jid":"` + id + `","tasks":{"a":1},"b":{"a":[{"a":1},{"a":2}]}},{"jid":"` + id + `"}]}`, nil},
		{policy.Lines, "\ufeff " + id + "\n/a#b/#c\n", []policy.Path{"/a#b/#c"}},
	} {
		got, err := readLive(t, strings.NewReader(c.text), c.format)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !slices.Equal(got.IDs, []string{id}) || !slices.Equal(got.Paths, c.paths) {
			t.Errorf("%s: %v %v", c.text, got.IDs, got.Paths)
		}
	}
}

func TestReadLiveAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		age  time.Duration
		want string
	}{
		{2 * time.Hour, ""},
		{-5 * time.Minute, ""},
		{2*time.Hour + time.Second, "jobs: stale: written at 2026-11-29T09:59:59Z, 2h1s before 2026-11-29T12:00:00Z; the policy allows 2h"},
		{-6 * time.Minute, "jobs: stale: written at 2026-11-29T12:06:00Z, which is after 2026-11-29T12:00:00Z"},
	} {
		_, err := Read(Input{"jobs", strings.NewReader("/a"), now.Add(-c.age)}, policy.LiveSource{Format: policy.Lines, MaxAge: 2 * hour}, options)
		if got := fmt.Sprint(err); (err != nil || c.want != "") && (got != c.want || !errors.Is(err, ErrStale)) {
			t.Errorf("%v: %s", c.age, got)
		}
	}
}

// TestReadLiveHAConfigMaps: a ConfigMap that only looks like one of high availability
// names a cluster, which can only keep more, but does not show that somebody could see
// those of Flink.
func TestReadLiveHAConfigMaps(t *testing.T) {
	t.Parallel()
	const rootCA = `{"kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt"}}`
	const looks = `{"kind":"ConfigMap","metadata":{"name":"a-cluster-config-map"}}`
	const flinks = `{"kind":"ConfigMap","metadata":{"name":"b-cluster-config-map","labels":{"app":"b","configmap-type":"high-availability"}}}`
	for want, items := range []string{rootCA + "," + looks, rootCA + "," + looks + "," + flinks, flinks + "," + rootCA + "," + flinks} {
		got, err := readLive(t, strings.NewReader(`{"kind":"List","items":[`+items+`]}`), policy.Kubernetes)
		if err != nil || got.HAConfigMaps != want {
			t.Errorf("%+v, %v; want %d", got, err, want)
		}
	}
}

// endless is a list of so many ConfigMaps, each of 200 kB.
func endless(n int) io.Reader {
	item := `{"kind":"ConfigMap","metadata":{"name":"a-cluster-config-map","labels":{"app":"a","configmap-type":"high-availability"}},"data":{"x":"` + strings.Repeat("y", 200_000) + `"}}`
	readers := []io.Reader{strings.NewReader(`{"kind":"List","items":[` + item)}
	for range n - 1 {
		readers = append(readers, strings.NewReader(","), strings.NewReader(item))
	}
	return io.MultiReader(append(readers, strings.NewReader("]}"))...)
}

// TestReadLiveMemory: of 200 MB in pieces no more than a few pieces are in memory.
func TestReadLiveMemory(t *testing.T) {
	before := heap()
	most := uint64(0)
	r := &watched{endless(1000), func(n int64) {
		if n%(20<<20) < 1<<15 {
			most = max(most, heap())
		}
	}, 0}
	got, err := readLive(t, r, policy.Kubernetes)
	if err != nil || got.HAConfigMaps != 1000 || r.n < 200_000_000 {
		t.Fatalf("%v, %d bytes", err, r.n)
	}
	if most > before+16<<20 {
		t.Errorf("%d MiB more in memory", (most-before)>>20)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type watched struct {
	r   io.Reader
	saw func(int64)
	n   int64
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	w.saw(w.n)
	return n, err
}

func FuzzReadLive(f *testing.F) {
	for _, name := range []string{"kubernetes.json", "kubernetes-1.14.json", "flink-rest.json"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range []policy.Format{policy.Lines, policy.Kubernetes, policy.FlinkREST} {
			got, err := readLive(t, strings.NewReader(string(b)), format)
			if (got == nil) == (err == nil) {
				t.Errorf("%s: %v %v", format, got, err)
			}
		}
	})
}
