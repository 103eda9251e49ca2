package fetch

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fsweep/execute"
)

// world is a nameservice in memory. Its clock moves when somebody sleeps.
type world struct {
	mu      sync.Mutex
	now     time.Time
	servers []execute.ImageServer
	body    func(server, asked int) (io.Reader, error) // of an image; nil: content
	head    func(server, asked int, i *execute.Image)
	saved   func(server int) (txid, ms int64, err error)
	content []byte
	asked   []int // which servers were asked for an image
	surveys int
	slept   []time.Duration
	notes   []string
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d > 0 {
		w.now = w.now.Add(d)
		w.slept = append(w.slept, d)
	}
	return ctx.Err()
}

func (w *world) ImageServers(context.Context) []execute.ImageServer {
	w.surveys++
	return slices.Clone(w.servers)
}

func (w *world) index(s *execute.ImageServer) int {
	return slices.IndexFunc(w.servers, func(o execute.ImageServer) bool { return o.NameNode == s.NameNode })
}

func (w *world) Saved(_ context.Context, s *execute.ImageServer) (txid, ms int64, err error) {
	return w.saved(w.index(s))
}

func (w *world) Image(_ context.Context, s *execute.ImageServer) (*execute.Image, error) {
	i := w.index(s)
	w.asked = append(w.asked, i)
	var from io.Reader = bytes.NewReader(w.content)
	if w.body != nil {
		var err error
		if from, err = w.body(i, len(w.asked)); err != nil {
			return nil, err
		}
	}
	image := &execute.Image{Name: fmt.Sprintf("fsimage_%019d", s.TxID), TxID: s.TxID, Length: int64(len(w.content)), MD5: md5.Sum(w.content), Body: io.NopCloser(from)}
	if w.head != nil {
		w.head(i, len(w.asked), image)
	}
	return image, nil
}

// newWorld has NameNodes nn1, nn2 … of these roles, all with an image of transaction 42.
func newWorld(roles ...execute.Role) *world {
	w := &world{now: time.Unix(1_800_000_000, 0), content: bytes.Repeat([]byte("HDFSIMG1"), 100_000)}
	for i, r := range roles {
		w.servers = append(w.servers, execute.ImageServer{
			NameNode: execute.NameNode{Nameservice: "ns1", ID: fmt.Sprintf("nn%d", i+1), Address: fmt.Sprintf("h%d:8020", i+1)},
			URL:      fmt.Sprintf("http://h%d:9870", i+1), Role: r, ClusterID: "CID-1", TxID: 42,
		})
	}
	w.saved = func(int) (int64, int64, error) { return 42, 1_799_999_000_000, nil }
	return w
}

// kept is what a [Target] got.
type kept struct {
	bytes.Buffer
	committed *Fetched
	aborted   bool
	fail      error // of the next Write
}

func (k *kept) Write(b []byte) (int, error) {
	if k.fail != nil {
		return 0, k.fail
	}
	return k.Buffer.Write(b)
}
func (k *kept) Commit(f *Fetched) error { k.committed = f; return nil }
func (k *kept) Abort()                  { k.aborted = k.committed == nil }

func (w *world) fetch(t *testing.T, o Options) (*Fetched, []*kept, error) {
	t.Helper()
	var all []*kept
	if o.Begin == nil {
		o.Begin = func(*Fetched) (Target, error) {
			all = append(all, &kept{})
			return all[len(all)-1], nil
		}
	}
	o.Tries, o.Pause, o.Clock = max(o.Tries, 1), 5*time.Second, w
	o.Note = func(s string) { w.notes = append(w.notes, s) }
	got, err := Newest(t.Context(), w, o)
	for i, k := range all {
		if complete := err == nil && i == len(all)-1; (k.committed != nil) != complete || k.aborted == complete {
			t.Errorf("image %d: committed %v, aborted %v, and the fetch ended with %v", i, k.committed, k.aborted, err)
		}
		if k.committed != nil && !bytes.Equal(k.Bytes(), w.content) {
			t.Errorf("%d bytes were kept, the image has %d", k.Len(), len(w.content))
		}
	}
	return got, all, err
}

const (
	active   = execute.ActiveRole
	standby  = execute.StandbyRole
	observer = execute.ObserverRole
	unknown  = execute.UnknownRole
)

// TestWhich: the newest image of who has time to spare; the ACTIVE one only if it may be asked.
func TestWhich(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, tc := range map[string]struct {
		roles      []execute.Role
		txids      []int64
		err        []error
		fromActive bool
		want       []int  // in which order they are asked if none gives
		text       string // of the error if nobody is asked
		spared     bool
	}{
		"a pair":                   {roles: []execute.Role{active, standby}, want: []int{1}},
		"a pair, also active":      {roles: []execute.Role{active, standby}, fromActive: true, want: []int{1, 0}},
		"a newer active":           {roles: []execute.Role{active, standby}, txids: []int64{43, 42}, fromActive: true, want: []int{0, 1}},
		"a newer active, spared":   {roles: []execute.Role{active, standby}, txids: []int64{43, 42}, want: []int{1}},
		"an observer":              {roles: []execute.Role{active, observer, standby}, want: []int{2, 1}},
		"a newer observer":         {roles: []execute.Role{active, observer, standby}, txids: []int64{1, 50, 49}, want: []int{1, 2}},
		"two standbys":             {roles: []execute.Role{active, standby, standby}, txids: []int64{1, 50, 51}, want: []int{2, 1}},
		"one does not tell":        {roles: []execute.Role{active, standby, standby}, txids: []int64{1, execute.NoImage, 51}, want: []int{2, 1}},
		"one is down":              {roles: []execute.Role{active, standby, standby}, err: []error{nil, down, nil}, want: []int{2}},
		"only one":                 {roles: []execute.Role{active}, text: "there is only one NameNode, and nn1 is ACTIVE", spared: true},
		"only one, asked":          {roles: []execute.Role{active}, fromActive: true, want: []int{0}},
		"two active":               {roles: []execute.Role{active, active}, text: "no NameNode is a standby or an observer: nn1 is ACTIVE; nn2 is ACTIVE", spared: true},
		"the standby is down":      {roles: []execute.Role{active, standby}, err: []error{nil, down}, text: "no standby or observer can be asked for its image: nn1 is ACTIVE; nn2 is standby: down"},
		"unknown counts as active": {roles: []execute.Role{active, unknown}, text: "nn2 is not known to be a standby"},
		"unknown, asked":           {roles: []execute.Role{unknown, active}, fromActive: true, want: []int{0, 1}},
		"all down":                 {roles: []execute.Role{active}, err: []error{down}, fromActive: true, text: "no NameNode can be asked for its image: nn1 is ACTIVE: down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(tc.roles...)
			for i := range tc.roles {
				if tc.txids != nil {
					w.servers[i].TxID = tc.txids[i]
				}
				if tc.err != nil {
					w.servers[i].Err = tc.err[i]
				}
			}
			w.body = func(i, _ int) (io.Reader, error) {
				return nil, &execute.ImageError{NameNode: w.servers[i].NameNode, Fault: execute.ImageRefused, Text: "no"}
			}
			_, _, err := w.fetch(t, Options{FromActive: tc.fromActive})
			_, spared := errors.AsType[*SparedError](err)
			if !slices.Equal(w.asked, tc.want) || err == nil || !strings.Contains(err.Error(), tc.text) || spared != tc.spared {
				t.Errorf("asked %v, want %v; %v", w.asked, tc.want, err)
			}
		})
	}
}

// TestTries: what may pass is asked for again, with pauses that double, and what will not is
// not. Another NameNode is asked before.
func TestTries(t *testing.T) {
	t.Parallel()
	cut := func(n int, err error) io.Reader {
		return io.MultiReader(bytes.NewReader(newWorld().content[:n]), &failing{err})
	}
	for name, tc := range map[string]struct {
		fault execute.ImageFault
		body  func() io.Reader
		again bool
		text  string
	}{
		"refused":         {fault: execute.ImageRefused},
		"no such page":    {fault: execute.ImageNotServed},
		"redirected":      {fault: execute.ImageRedirected},
		"unverified":      {fault: execute.ImageUnverified},
		"gone":            {fault: execute.ImageGone, again: true},
		"failed":          {fault: execute.ImageFailed, again: true},
		"no answer":       {fault: execute.ImageNoAnswer, again: true},
		"cut":             {body: func() io.Reader { return cut(700_000, io.ErrUnexpectedEOF) }, again: true, text: "was cut after 700000 of 800000 bytes"},
		"cut at once":     {body: func() io.Reader { return cut(0, io.EOF) }, again: true, text: "was cut after 0 of 800000 bytes"},
		"a broken line":   {body: func() io.Reader { return cut(9, errors.New("reset")) }, again: true, text: "was cut after 9 of 800000 bytes: reset"},
		"a byte too much": {body: func() io.Reader { return cut(800_000, nil) }, text: "more than the 800000 bytes"},
		"another MD5":     {body: func() io.Reader { return strings.NewReader(strings.Repeat("x", 800_000)) }, again: true, text: "came with the MD5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, mends := range []bool{false, true} {
				w := newWorld(active, standby, standby)
				w.body = func(i, asked int) (io.Reader, error) {
					switch {
					case mends && asked > 4:
						return bytes.NewReader(w.content), nil
					case tc.body != nil:
						return tc.body(), nil
					}
					return nil, &execute.ImageError{NameNode: w.servers[i].NameNode, Fault: tc.fault, Text: "so it is"}
				}
				_, _, err := w.fetch(t, Options{Tries: 3})
				pauses := slices.DeleteFunc(w.slept, func(d time.Duration) bool { return d > 10*time.Second })
				want, rounds := []int{1, 2}, 1
				switch {
				case tc.again && mends:
					want, rounds = []int{1, 2, 1, 2, 1}, 3
				case tc.again:
					want, rounds = []int{1, 2, 1, 2, 1, 2}, 3
				}
				if !slices.Equal(w.asked, want) || w.surveys != rounds || (err == nil) != (tc.again && mends) {
					t.Errorf("asked %v in %d rounds, want %v; %v", w.asked, w.surveys, want, err)
				}
				if rounds == 3 && !slices.Contains(pauses, 5*time.Second) || rounds == 3 && !slices.Contains(pauses, 10*time.Second) {
					t.Errorf("pauses %v", pauses)
				}
				if err != nil && !strings.Contains(err.Error(), tc.text) {
					t.Error(err)
				}
			}
		})
	}
}

// failing gives an error, or bytes without end.
type failing struct{ err error }

func (f *failing) Read(b []byte) (int, error) {
	if f.err == nil {
		return len(b), nil
	}
	return 0, f.err
}

// TestPlaces: errors of the directory end everything at once, and what is there is not fetched.
func TestPlaces(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	w := newWorld(active, standby, standby)
	if got, _, err := w.fetch(t, Options{Tries: 3, Begin: func(*Fetched) (Target, error) { return nil, ErrPresent }}); err != nil || !got.Present || got.TxID != 42 {
		t.Errorf("%+v, %v", got, err)
	}
	w = newWorld(active, standby, standby)
	if _, _, err := w.fetch(t, Options{Tries: 3, Begin: func(*Fetched) (Target, error) { return nil, full }}); !errors.Is(err, full) || len(w.asked) != 1 {
		t.Errorf("%v after %v", err, w.asked)
	}
	w = newWorld(active, standby, standby)
	k := &kept{fail: full}
	if _, _, err := w.fetch(t, Options{Tries: 3, Begin: func(*Fetched) (Target, error) { return k, nil }}); !errors.Is(err, full) || len(w.asked) != 1 || !k.aborted {
		t.Errorf("%v after %v, %+v", err, w.asked, k.aborted)
	}
}

// TestWhenSaved: the time is that of a NameNode which has this image, and had it for long
// enough; of several the earliest.
func TestWhenSaved(t *testing.T) {
	t.Parallel()
	type said struct {
		txid, ms int64
		err      error
	}
	gone := &execute.ImageError{Fault: execute.ImageGone}
	forbidden := &execute.ImageError{Fault: execute.ImageRefused, Text: "forbidden"}
	for name, tc := range map[string]struct {
		survey  []int64 // newest images when all are asked
		said    []said  // later
		ms      int64
		by      string
		unknown string
		fails   bool
	}{
		"both have it":            {survey: []int64{42, 42}, said: []said{{42, 2000, nil}, {42, 1000, nil}}, ms: 1000, by: "nn2"},
		"the copy is later":       {survey: []int64{42, 42}, said: []said{{42, 500, nil}, {42, 1000, nil}}, ms: 500, by: "nn1"},
		"the other has an older":  {survey: []int64{41, 42}, said: []said{{42, 500, nil}, {42, 1000, nil}}, ms: 1000, by: "nn2"},
		"the other has a newer":   {survey: []int64{42, 42}, said: []said{{43, 500, nil}, {42, 1000, nil}}, ms: 1000, by: "nn2"},
		"the other does not tell": {survey: []int64{execute.NoImage, 42}, said: []said{{}, {42, 1000, nil}}, ms: 1000, by: "nn2"},
		"only the other tells":    {survey: []int64{42, execute.NoImage}, said: []said{{42, 500, nil}, {}}, ms: 500, by: "nn1"},
		"nobody tells":            {survey: []int64{execute.NoImage, execute.NoImage}, said: []said{{}, {}}, unknown: "no jmx"},
		"not for you":             {survey: []int64{42, 42}, said: []said{{0, 0, forbidden}, {0, 0, forbidden}}, unknown: "forbidden"},
		"replaced":                {survey: []int64{42, 42}, said: []said{{43, 500, nil}, {43, 1000, nil}}, fails: true},
		"replaced at this moment": {survey: []int64{42, 42}, said: []said{{0, 0, gone}, {0, 0, gone}}, fails: true},
		"replaced, and not told":  {survey: []int64{42, 42}, said: []said{{0, 0, forbidden}, {43, 1000, nil}}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(active, standby)
			for i, txid := range tc.survey {
				if w.servers[i].TxID = txid; txid == execute.NoImage {
					w.servers[i].JMX = errors.New("no jmx")
				}
			}
			w.head = func(_, _ int, i *execute.Image) { i.TxID, i.Name = 42, "fsimage_0000000000000000042" }
			began := w.now
			w.saved = func(i int) (int64, int64, error) {
				if w.Now().Sub(began) < execute.SavedDelay {
					t.Error("asked too early: the answer can be that of the image before")
				}
				return tc.said[i].txid, tc.said[i].ms, tc.said[i].err
			}
			got, _, err := w.fetch(t, Options{})
			if tc.fails {
				if err == nil || !strings.Contains(err.Error(), "a checkpoint replaced") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.SavedMs != tc.ms || got.SavedBy.ID != tc.by || (got.Unknown != nil) != (tc.unknown != "") {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.Unknown != nil && !strings.Contains(got.Unknown.Error(), tc.unknown) {
				t.Error(got.Unknown)
			}
		})
	}
}

// TestCheckpointMeanwhile: the image is newer than all said it would be. Its giver is asked, and
// not before it has had that image for long enough.
func TestCheckpointMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(active, standby)
	w.head = func(_, _ int, i *execute.Image) {
		i.TxID, i.Name = 50, "fsimage_0000000000000000050"
		_ = w.Sleep(context.Background(), time.Hour) // long after all were asked
	}
	var given time.Time
	w.saved = func(i int) (int64, int64, error) {
		if i != 1 || w.Now().Sub(given) < execute.SavedDelay {
			t.Errorf("NameNode %d was asked after %s", i, w.Now().Sub(given))
		}
		return 50, 7000, nil
	}
	given = w.now.Add(time.Hour)
	if got, _, err := w.fetch(t, Options{}); err != nil || got.TxID != 50 || got.SavedMs != 7000 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRate: a fetch keeps to its rate, and shows how far it is.
func TestRate(t *testing.T) {
	t.Parallel()
	w := newWorld(active, standby)
	w.content = w.content[:300_000]
	var last, calls int64
	began := time.Now()
	_, _, err := w.fetch(t, Options{BytesPerSecond: 600_000, Progress: func(_ string, done, total int64) {
		if calls++; done <= last || done > total || total != 300_000 {
			t.Errorf("%d after %d of %d", done, last, total)
		}
		last = done
	}})
	// The first piece of 150,000 comes at once.
	if took := time.Since(began); err != nil || took < 240*time.Millisecond || took > 5*time.Second || last != 300_000 || calls < 2 {
		t.Errorf("%v after %s, %d calls up to %d", err, took, calls, last)
	}
}

// TestInterrupted: a fetch ends when its context does, wherever it is.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(*world, context.CancelFunc){
		"while bytes come": func(w *world, cancel context.CancelFunc) {
			w.body = func(int, int) (io.Reader, error) { cancel(); return bytes.NewReader(w.content), nil }
		},
		"while the time is asked for": func(w *world, cancel context.CancelFunc) {
			w.saved = func(int) (int64, int64, error) { cancel(); return 0, 0, context.Canceled }
		},
		"between tries": func(w *world, cancel context.CancelFunc) {
			w.body = func(i, _ int) (io.Reader, error) {
				defer cancel()
				return nil, &execute.ImageError{NameNode: w.servers[i].NameNode, Fault: execute.ImageFailed}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(active, standby)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			at(w, cancel)
			k := &kept{}
			_, err := Newest(ctx, w, Options{Tries: 5, Clock: w, Begin: func(*Fetched) (Target, error) { return k, nil }})
			if !errors.Is(err, context.Canceled) || k.committed != nil || len(w.asked) > 1 {
				t.Errorf("%v, %+v", err, k.committed)
			}
		})
	}
}
