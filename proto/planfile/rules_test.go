package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRules changes one thing in a plan that is right. The writer must refuse it,
// and so must the reader, which is given the same lines by a writer without rules.
func TestRules(t *testing.T) {
	t.Parallel()
	run1 := hex32 + "1"
	for _, tc := range []struct {
		name   string
		change func(p *plan)
		want   string
	}{
		{"no roots", func(p *plan) { p.Header.Roots = nil }, "no roots"},
		{"root is /", func(p *plan) { p.Header.Roots[0].Path = "/" }, `has the component ""`},
		{"root with ..", func(p *plan) { p.Header.Roots[0].Path = "/a/../b" }, `has the component ".."`},
		{"roots unsorted", func(p *plan) { p.Header.Roots[0], p.Header.Roots[1] = p.Header.Roots[1], p.Header.Roots[0] }, "not sorted"},
		{"root without id", func(p *plan) { p.Header.Roots[0].InodeID = 0 }, "has no inode id"},
		{"unknown layout", func(p *plan) { p.Header.Roots[0].Layout = "flat" }, `layout "flat" is none of`},
		{"unknown mode", func(p *plan) { p.Header.Roots[0].Mode = "" }, `mode "" is none of`},
		{"no anchors", func(p *plan) { p.Header.Anchors = nil }, "no anchors"},
		{"no anchors, not executable", func(p *plan) { p.Header.Anchors, p.Header.Executable = nil, false }, ""},
		{"anchor without id", func(p *plan) { p.Header.Anchors[0].InodeID = 0 }, "has no inode id"},
		{"lock in a root", func(p *plan) { p.Header.LockDir.Path = "/tmp/lock" }, "hold one another"},
		{"lock above a root", func(p *plan) { p.Header.LockDir.Path = "/k8s-ha" }, "hold one another"},
		{"no quarantine", func(p *plan) { p.Header.Removal = RemovalQuarantine }, "quarantine"},
		{"unknown removal", func(p *plan) { p.Header.Removal = "delete" }, `removal "delete" is none of`},
		{"complete with a stopped root", func(p *plan) { p.Header.Complete = true }, "complete, but"},
		{"executable with preflight all", func(p *plan) { p.Header.Preflight = PreflightAll }, "executable, but preflight"},
		{"executable, only observed", func(p *plan) { p.Header.Roots[0].Mode, p.Header.Roots[6].Mode = ModeObserve, ModeObserve }, "executable, but every root"},
		{"expires before the image", func(p *plan) { p.Header.ExpiresMs = imageTime }, "expires_ms"},
		{"now is 0", func(p *plan) { p.Header.NowMs = 0 }, "now_ms 0"},
		{"now in the year 10000", func(p *plan) { p.Header.NowMs = maxTimeMs + 1 }, "now_ms"},
		{"live list of unknown format", func(p *plan) { p.Header.Live[0].Format = "csv" }, "format of a live source"},
		{"live list without ids is one, fewer than none is not", func(p *plan) { p.Header.Live[0].IDs = -1 }, "what it named"},
		{"live list with fewer clusters than none", func(p *plan) { p.Header.Live[0].Clusters = -1 }, "what it named"},
		{"pins with fewer paths than none", func(p *plan) { p.Header.Pins[0].Paths = -1 }, "what it named"},
		{"pins with ids", func(p *plan) { p.Header.Pins[0].IDs = 1 }, "no ids or clusters"},
		{"pins with clusters", func(p *plan) { p.Header.Pins[0].Clusters = 1 }, "no ids or clusters"},
		{"live list without age", func(p *plan) { p.Header.Live[0].MaxAgeMs = 0 }, "maximum age"},
		{"image is a path", func(p *plan) { p.Header.Source.Image = "/a/b" }, "more than a file name"},
		{"belt of 101 percent", func(p *plan) { p.Header.Belts.MaxPercentOfRoot = 101 }, "max_percent_of_root 101"},
		{"negative pause", func(p *plan) { p.Header.Pace.Batch = -1 }, "negative"},

		{"known twice", func(p *plan) { p.Known[1] = p.Known[0] }, "there twice"},
		{"known unsorted", func(p *plan) { p.Known[0], p.Known[1] = p.Known[1], p.Known[0] }, "sorted by the bytes"},
		{"known outside", func(p *plan) { p.Known[3].Path, p.Known[3].Root = "/x/y", "" }, "in no root"},
		{"known of another root", func(p *plan) { p.Known[3].Root = "/k8s-ha" }, "not in"},
		{"run where a job is", func(p *plan) { p.Known[0].Kind = KnownRun }, "no place"},
		{"known without id", func(p *plan) { p.Known[0].InodeID = 0 }, "no inode id"},

		{"guard twice", func(p *plan) { p.Guards[1] = p.Guards[0] }, "there twice"},
		{"guard of unknown kind", func(p *plan) { p.Guards[0].Kind = "x" }, "unknown kind"},
		{"guard without its root", func(p *plan) { p.Guards[0].Root = "" }, "is in root"},
		{"guard waived for ever", func(p *plan) { p.Guards[1].WaivedUntilMs = 0 }, "go together"},
		{"guard in an item", func(p *plan) { p.Guards[0].Path = p.Items[0].Item.Path + "/chk-3/_metadata" }, "a guard that names no item is the item"},
		{"guard deep in an item", func(p *plan) { p.Guards[0].Path = p.Items[0].Item.Path + "/a/b/c/d" }, "a guard that names no item is the item"},
		{"guard is an item", func(p *plan) { p.Guards[0].Path = p.Items[2].Item.Path }, "a guard that names no item is the item"},
		{"guard in the item that it names", func(p *plan) {
			p.Guards[0].Path, p.Guards[0].Item = p.Items[0].Item.Path+"/chk-3/_metadata", p.Items[0].Item.InodeID
		}, ""},
		{"guard names an item that it is not in", func(p *plan) { p.Guards[0].Item = p.Items[0].Item.InodeID }, "names item 16402, but is not in"},
		{"two guards, one not in the item", func(p *plan) {
			g := p.Guards[0]
			g.Path, g.Item = p.Items[0].Item.Path+"/chk-3/_metadata", p.Items[0].Item.InodeID
			p.Guards[0].Item = g.Item
			p.Guards = append([]Guard{g}, p.Guards...)
		}, "names item 16402, but is not in"},
		{"two guards, one does not name the item", func(p *plan) {
			g := p.Guards[0]
			g.Path, g.Item = p.Items[0].Item.Path+"/chk-3/_metadata", p.Items[0].Item.InodeID
			p.Guards = append([]Guard{g}, p.Guards...)
			p.Guards[1].Path = p.Items[0].Item.Path + "/chk-4/_metadata"
		}, "a guard that names no item is the item"},
		{"guard is the item that it names", func(p *plan) {
			p.Guards[0].Path, p.Guards[0].Item = p.Items[2].Item.Path, p.Items[2].Item.InodeID
		}, "but is not in"},
		{"guard names an item that is not there", func(p *plan) { p.Guards[0].Item = 99 }, "names item 99, which is not there"},
		{"guard in no root names an item", func(p *plan) { p.Guards[1].Item = 16402 }, "is in no item"},
		{"guard above nothing but beside", func(p *plan) { p.Guards[0].Path = p.Items[1].Item.Path + "1/_metadata" }, ""},

		{"item unsorted", func(p *plan) { p.Items[0], p.Items[1] = p.Items[1], p.Items[0] }, "sorted by the bytes"},
		{"item twice", func(p *plan) { p.Items[1] = p.Items[0] }, "there twice"},
		{"same inode twice", func(p *plan) { p.Items[1].Item.InodeID = 16402 }, "second item with inode id"},
		{"inode 0", func(p *plan) { p.Items[0].Item.InodeID = 0 }, "inode id 0"},
		{"own parent", func(p *plan) { p.Items[0].Item.ParentID = 16402 }, "parent id 16402"},
		{"item in an item", func(p *plan) {
			p.Items[1].Item.Path = p.Items[0].Item.Path + "/chk-7"
			p.Items[1].Item.Run = p.Items[0].Item.Run
		}, "is in the item"},
		{"item in an item, another between", func(p *plan) {
			i := p.Items[0].Item
			first, between, inside := item(KindUnit, string(i.Root), "b/c", 1, 9), item(KindUnit, string(i.Root), "b/c-d", 2, 9), item(KindCheckpoint, string(i.Root), "b/c/chk-1", 3, 9)
			for _, x := range []*Item{&first, &between, &inside} {
				x.Job, x.Run = "b", Name(component(string(x.Path[len(x.Root)+1:]), 1))
			}
			p.Items = []planItem{{first, nil}, {between, nil}, {inside, nil}}
			p.Quotas = nil
		}, "is in the item"},
		{"item is a root", func(p *plan) { p.Items[0].Item.Path = "/flink-checkpoints/dgraph" }, "/flink-checkpoints/dgraph"},
		{"item is its root", func(p *plan) { p.Items[0].Item.Path = "/flink-checkpoints" }, "is not in its root"},
		{"item holds a root", func(p *plan) {
			p.Header.Roots[1].Path = "/flink-checkpoints/orders/" + Path(hex32) + "0/x"
		}, "is the item"},
		{"item holds what is protected", func(p *plan) { p.Header.Protect[0].Path = p.Items[0].Item.Path + "/chk-3" }, "which stays"},
		{"item in what is protected", func(p *plan) { p.Header.Protect[0].Path = "/flink-checkpoints/orders" }, "which is protected"},
		{"item holds an anchor", func(p *plan) { p.Header.Anchors[0].Path = p.Items[0].Item.Path }, "which stays"},
		{"item in a stopped root", func(p *plan) {
			i := item(KindUnit, "/flink-savepoints", "savepoint-a1b2c3-0123456789ab", 5, 6)
			p.Items = []planItem{{i, nil}}
		}, "which was stopped"},
		{"item of the outer root", func(p *plan) { p.Header.Roots[1].Path = "/flink-checkpoints/orders" }, "not in"},
		{"trailing slash", func(p *plan) { p.Items[0].Item.Path += "/" }, `component ""`},
		{"double slash", func(p *plan) { p.Items[0].Item.Path = "/flink-checkpoints//x" }, `component ""`},
		{"relative", func(p *plan) { p.Items[0].Item.Path = "flink-checkpoints/x" }, "not absolute"},
		{"dot", func(p *plan) { p.Items[0].Item.Path = "/flink-checkpoints/./x" }, `component "."`},
		{"snapshot", func(p *plan) { p.Items[0].Item.Path = "/flink-checkpoints/.snapshot/x" }, `component ".snapshot"`},
		{"reserved", func(p *plan) { p.Items[0].Item.Path = "/.reserved/.inodes/7" }, "is reserved"},
		{"mtime 0", func(p *plan) { p.Items[0].Item.MTimeMs = 0 }, "mtime 0"},
		{"mtime after now", func(p *plan) { p.Items[0].Item.MTimeMs = now + 1 }, "mtime"},
		{"no owner", func(p *plan) { p.Items[0].Item.Owner = "" }, "no owner"},
		{"no rule", func(p *plan) { p.Items[0].Item.Rule = "" }, "no rule"},
		{"no fingerprint", func(p *plan) { p.Items[0].Item.Fingerprint = TreeHash{} }, "no fingerprint"},
		{"other job", func(p *plan) { p.Items[0].Item.Job = "payments" }, "not those of the path"},
		{"other run", func(p *plan) { p.Items[0].Item.Run = Name(run1) }, "not those of the path"},
		{"more children than entries", func(p *plan) { p.Items[0].Item.Children = 3 }, "have 5 children"},
		{"fewer dir lines", func(p *plan) { p.Items[0].Dirs = p.Items[0].Dirs[:1] }, "have 3 children"},
		{"more dir lines than directories", func(p *plan) { p.Items[0].Item.Totals.Directories, p.Items[0].Item.Totals.Files = 2, 9 }, "2 directories in its totals"},
		{"entries", func(p *plan) { p.Items[0].Item.Entries = 6 }, "6 entries"},
		{"no entries", func(p *plan) { p.Items[0].Item.Entries = 0 }, "0 entries"},
		{"negative length", func(p *plan) { p.Items[0].Item.Totals.Length = -1 }, "negative"},
		{"overflow", func(p *plan) { p.Items[0].Item.Totals.Length, p.Items[1].Item.Totals.Length = 1<<63-1, 1 }, "exceed 64 bits"},
		{"file with children", func(p *plan) { p.Items[2].Item.Children = 1 }, "neither a directory nor a single file"},
		{"unit is a file", func(p *plan) { p.Items[4].Item.Totals = Totals{Files: 1} }, "no directory"},
		{"evidence with text and number", func(p *plan) { p.Items[0].Item.Evidence[1].Number = 1 }, "both text and number"},

		{"dir twice", func(p *plan) { p.Items[0].Dirs[1].Path = "chk-3" }, "there twice"},
		{"dir id twice", func(p *plan) { p.Items[0].Dirs[1].InodeID = 16410 }, "there twice"},
		{"dir id of the item", func(p *plan) { p.Items[0].Dirs[1].InodeID = 16402 }, "there twice"},
		{"dir absolute", func(p *plan) { p.Items[0].Dirs[0].Path = "/chk-3" }, `component ""`},
		{"dir ..", func(p *plan) { p.Items[0].Dirs[0].Path = ".." }, `component ".."`},
		{"dir without its parent", func(p *plan) { p.Items[0].Dirs[1].Path = "shared/x" }, "without a line"},
		{"dir of a file", func(p *plan) { p.Items[2].Dirs = p.Items[0].Dirs }, "behind no item"},

		{"effects unsorted", func(p *plan) { p.Items[0].Item.QuotaEffects = append(p.Items[0].Item.QuotaEffects, Effect{InodeID: 1}) }, "sorted by inode id"},
		{"no quota line", func(p *plan) { p.Quotas = nil }, "no quota line for inode 16400"},
		{"quota line twice", func(p *plan) { q := p.Quotas[0]; q.Path += "x"; p.Quotas = append(p.Quotas, q) }, "second quota line"},
		{"quota of nothing", func(p *plan) { p.Quotas[0].InodeID = 1 }, "no item changes"},
		{"quota does not add up", func(p *plan) { p.Quotas[0].NSAfter-- }, "ns_used: 1000 before, 994 after, but items free 5"},
		{"quota type does not add up", func(p *plan) { p.Quotas[0].TypesAfter.SSD = 1 }, "SSD"},

		{"max_items", func(p *plan) { p.Header.Belts.MaxItems = 3 }, "more than max_items 3"},
		{"max_items, deferred not counted", func(p *plan) { p.Header.Belts.MaxItems = 4 }, ""},
		{"max_inodes_per_move", func(p *plan) { p.Header.Belts.MaxInodesPerMove = 4 }, "more than max_inodes_per_move 4"},
		{"max_inodes", func(p *plan) { p.Header.Belts.MaxInodes = 9 }, "more than max_inodes 9"},
		{"max_bytes", func(p *plan) { p.Header.Belts.MaxBytes = 4999 }, "more than max_bytes 4999"},
		{"max_bytes, just", func(p *plan) { p.Header.Belts.MaxBytes = 5000 }, ""},
		{"max_percent_of_root", func(p *plan) { p.Header.Roots[0].Inodes = 23 }, "more than max_percent_of_root 30"},
		{"max_percent_of_root, just", func(p *plan) { p.Header.Roots[0].Inodes = 24 }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := samplePlan()
			tc.change(p)
			b, _, err := p.tryWrite()
			checkRule(t, "writer", err, tc.want)
			again, _, err := p.replaying()
			checkRule(t, "writer that asks for guards again", err, strings.Replace(tc.want, "which is not there", "but is not in it", 1))
			if tc.want == "" && !bytes.Equal(again, b) {
				t.Error("guards that are asked for again make another plan")
			}
			_, _, err = Open(bytes.NewReader(p.lawless(t)))
			checkRule(t, "reader", err, tc.want)
		})
	}
}

func checkRule(t *testing.T, who string, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", who, err)
		}
		return
	}
	var at *LineError
	if !errors.Is(err, ErrInvalid) || !errors.As(err, &at) || at.Line < 1 || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", who, err, want)
	}
}

// lawless writes a plan as it is.
func (p *plan) lawless(t *testing.T) []byte {
	t.Helper()
	var out []byte
	var f Footer
	add := func(c *coder, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.Line()...)
	}
	c := &coder{}
	add(c, encode(c, typeHeader, &p.Header, (*Header).fields))
	for _, v := range p.Known {
		f.Known++
		add(c, encode(c, typeKnown, &v, (*Known).fields))
	}
	for _, v := range p.Guards {
		f.Guards++
		add(c, encode(c, typeGuard, &v, (*Guard).fields))
	}
	for _, v := range p.Items {
		f.Items++
		sums := &f.Planned
		if v.Item.Deferred != "" {
			sums = &f.Deferred
		}
		sums.add(&v.Item)
		add(c, encode(c, typeItem, &v.Item, (*Item).fields))
		for _, d := range v.Dirs {
			f.Directories++
			add(c, encode(c, typeDir, &d, (*Directory).fields))
		}
	}
	for _, v := range p.Quotas {
		f.Quotas++
		add(c, encode(c, typeQuota, &v, (*Quota).fields))
	}
	add(c, encode(c, typeFooter, &f, (*Footer).fields))
	return out
}

func encode[T any](c *coder, kind string, v *T, fields func(*T, *coder)) error {
	c.Write(kind)
	fields(v, c)
	return c.End()
}

// TestPlaces: every kind at every depth of every layout.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const savepoint = "savepoint-a1b2c3-0123456789ab"
	right := map[string]bool{}
	for _, s := range []string{
		"job-run unit job/run", "job-run checkpoint job/run/chk-12", "job-run checkpoint job/run/chk-0",
		"job-run file job/run/chk-12/_metadata.inprogress.1", "job-run file job/run/chk-12/._metadata.inprogress.1", "run file job/chk-12/._metadata.inprogress",
		"job-run file job/run/shared/x", "job-run file job/run/taskowned/x", "job-run file job/run/shared/x/y",
		"run unit run", "run unit job", "run checkpoint job/chk-12", "run file job/shared/x", "run file job/shared/x/y",
		"savepoints unit " + savepoint, "savepoints unit job/" + savepoint,
		"run unit job-result-store", "ha-storage unit run", "ha-storage unit job",
		"children child run", "children child job", "children child chk-12", "children child shared", "children child " + savepoint,
		"children child job-result-store", "children child savepoint-A1b2c3-0123456789ab", "children child savepoint-a1b2c3-0123456789",
	} {
		right[s] = true
	}
	rels := []string{
		"run", "job", "job/run", "job/run/x", "job/run/chk-12", "job/run/chk-0", "job/run/chk-012", "job/run/chk-", "job/run/chk-1x", "job/chk-12", "chk-12",
		"job/run/chk-12/_metadata.inprogress.1", "job/run/chk-12/._metadata.inprogress.1", "job/run/chk-12/..metadata.inprogress", "job/run/chk-12/_metadata",
		"job/run/chk-12/x/_metadata.inprogress", "job/chk-12/._metadata.inprogress", "chk-12/_metadata.inprogress", "job/run/shared", "job/run/shared/x", "job/run/taskowned/x", "job/run/shared/x/y", "job/shared", "job/shared/x", "job/shared/x/y", "shared", "job/run/chk-12/x",
		savepoint, "job/" + savepoint, "job/run/" + savepoint, "savepoint-A1b2c3-0123456789ab", "savepoint-a1b2c3-0123456789", "shared/" + savepoint, "job-result-store",
	}
	for _, layout := range []Layout{LayoutJobRun, LayoutRun, LayoutSavepoints, LayoutHAStorage, LayoutChildren} {
		for _, kind := range []Kind{KindUnit, KindCheckpoint, KindFile, KindChild, "tree"} {
			for _, rel := range rels {
				i := item(kind, "/r", rel, 5, 4)
				if kind == KindFile {
					i.Totals = Totals{Files: 1}
				}
				nameItem(&i, layout, rel)
				name := fmt.Sprintf("%s %s %s", layout, kind, rel)
				if err := itemPlace(&i, &Root{Path: "/r", Layout: layout}); (err == nil) != right[name] {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

func nameItem(i *Item, layout Layout, rel string) {
	first, second := Name(component(rel, 0)), Name(component(rel, 1))
	switch layout {
	case LayoutJobRun:
		i.Job, i.Run = first, second
	case LayoutSavepoints:
		if i.Run = first; second != "" {
			i.Job, i.Run = first, second
		}
	case LayoutRun, LayoutHAStorage:
		i.Run = first
	}
}

// TestSplit: what may be a part of a run.
func TestSplit(t *testing.T) {
	t.Parallel()
	root := &Root{Path: "/r", Layout: LayoutJobRun}
	for _, tc := range []struct {
		kind      Kind
		rel       string
		directory bool
		parent    uint64
		ok        bool
	}{
		{KindFile, "j/r/shared", true, 7, true},
		{KindFile, "j/r/taskowned", true, 7, true},
		{KindFile, "j/r/shared", true, 8, false},
		{KindFile, "j/r/shared/a", true, 8, true},
		{KindFile, "j/r/shared/a", false, 8, true},
		{KindCheckpoint, "j/r/chk-3", true, 7, true},
		{KindCheckpoint, "j/r/chk-3", true, 8, false},
		{KindUnit, "j/r", true, 6, false},
		{KindFile, "j/r/chk-3/._metadata.inprogress.1", false, 8, false},
		{KindFile, "j/r/dstl", true, 7, false},
		{KindFile, "j/r/chk-3", true, 7, false},
	} {
		i := item(tc.kind, "/r", tc.rel, 5, tc.parent)
		i.Job, i.Run, i.SplitOf = "j", "r", 7
		if !tc.directory {
			i.Totals = Totals{Files: 1}
		}
		if err := itemPlace(&i, root); (err == nil) != tc.ok {
			t.Errorf("%s %s, parent %d: %v", tc.kind, tc.rel, tc.parent, err)
		}
	}
}
