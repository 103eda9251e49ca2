package planfile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// genName makes names of any bytes that can stand in a path.
func genName(t *rapid.T) string {
	b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("ab\"\\\n\x00\xe2\x80\xa8 "))), 1, 12).Draw(t, "name")
	s := strings.ReplaceAll(string(b), "/", "_")
	if s == "." || s == ".." {
		return "dots"
	}
	return s
}

var genNames = rapid.Custom(genName)

func genText(t *rapid.T, label string) string {
	return rapid.StringN(1, 20, -1).Draw(t, label)
}

// genPlan makes plans that keep every rule.
func genPlan(t *rapid.T) *plan {
	p := &plan{Header: sampleHeader()}
	h := &p.Header
	h.Tool, h.Version, h.Nameservice = genText(t, "tool"), genText(t, "version"), genText(t, "nameservice")
	h.Warnings = rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "warnings")
	if len(h.Warnings) == 0 {
		h.Warnings = nil
	}
	h.HoldPaths = []Place{{Path: Path("/hold/" + genNames.Draw(t, "hold")), InodeID: rapid.Uint64().Draw(t, "hold id")}}
	h.Belts = Belts{}
	root := Path("/x/" + genNames.Draw(t, "root"))
	h.Protect, h.Anchors = nil, []Place{{"/x", 16386}}
	h.Roots = []Root{{Path: root, InodeID: 1 << 63, Layout: LayoutChildren, Mode: ModeExecute, Inodes: rapid.Int64Min(0).Draw(t, "inodes")}}
	names := rapid.SliceOfNDistinct(genNames, 0, 12, rapid.ID[string]).Draw(t, "names")
	slices.Sort(names)
	cut := rapid.IntRange(0, len(names)).Draw(t, "which are items")
	for i, name := range names {
		path := root + "/" + Path(name)
		if i < cut {
			p.Known = append(p.Known, Known{KnownEntry, path, uint64(i + 1), root})
			p.Guards = append(p.Guards, Guard{
				Kind: GuardMetadata, Path: path + "/_metadata", InodeID: rapid.Uint64Min(1).Draw(t, "guard"), Length: rapid.Int64Min(0).Draw(t, "length"),
				MTimeMs: rapid.Int64().Draw(t, "mtime"), Owner: Name(genName(t)), Root: root,
			})
			continue
		}
		p.Items = append(p.Items, genItem(t, root, name, uint64(1000+i)))
		for _, inside := range []Path{"/_metadata", "/d/completedCheckpoint1"}[:rapid.IntRange(0, 2).Draw(t, "guards in the item")] {
			p.Guards = append(p.Guards, Guard{Kind: GuardMetadata, Path: path + inside, InodeID: uint64(i + 1), Owner: "o", Root: root, Item: uint64(1000 + i)})
		}
	}
	slices.SortFunc(p.Guards, func(a, b Guard) int { return strings.Compare(string(a.Path), string(b.Path)) })
	genQuotas(t, p)
	return p
}

func genItem(t *rapid.T, root Path, name string, id uint64) planItem {
	dirs := rapid.SliceOfNDistinct(genNames, 0, 5, rapid.ID[string]).Draw(t, "dirs")
	slices.Sort(dirs)
	files := int64(rapid.IntRange(0, 9).Draw(t, "files"))
	i := Item{
		Kind: KindChild, Path: root + "/" + Path(name), InodeID: id, ParentID: 1 << 63, Owner: Name(genName(t)), Group: Name(genName(t)),
		MTimeMs: rapid.Int64Range(1, now).Draw(t, "mtime"), Root: root,
		Children: int64(len(dirs)) + files, Entries: 1 + int64(len(dirs)) + files,
		Totals:      Totals{Files: files, Directories: 1 + int64(len(dirs)), Length: rapid.Int64Range(0, 1<<50).Draw(t, "length"), Space: rapid.Int64Range(0, 1<<50).Draw(t, "space")},
		Fingerprint: TreeHash(rapid.SliceOfN(rapid.ByteMin(1), 32, 32).Draw(t, "fingerprint")), Rule: genText(t, "rule"),
		NeedsReferenceProof: rapid.Bool().Draw(t, "proof"), Conditional: rapid.Bool().Draw(t, "conditional"),
		Deferred: rapid.SampledFrom([]string{"", "max_items"}).Draw(t, "deferred"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "facts") {
		f := Fact{Name: genText(t, "fact"), Number: rapid.Int64().Draw(t, "number")}
		if rapid.Bool().Draw(t, "text") {
			f.Number, f.Text = 0, genText(t, "text")
		}
		i.Evidence = append(i.Evidence, f)
	}
	if rapid.Bool().Draw(t, "quota") {
		i.QuotaEffects = []Effect{{InodeID: 7, Inodes: rapid.Int64Range(-100, 100).Draw(t, "ns"), Space: 5, Types: TypeSpace{NVDIMM: rapid.Int64Range(-9, 9).Draw(t, "type")}}}
	}
	out := planItem{Item: i}
	for j, d := range dirs {
		out.Dirs = append(out.Dirs, Directory{Name(d), uint64(j + 1), rapid.Int64().Draw(t, "dir mtime"), 0})
	}
	return out
}

func genQuotas(t *rapid.T, p *plan) {
	touched := false
	var sum Effect
	for _, i := range p.Items {
		for _, e := range i.Item.QuotaEffects {
			touched = true
			if i.Item.Deferred == "" {
				sum.add(&e)
			}
		}
	}
	if touched {
		p.Quotas = []Quota{{
			Path: "/", InodeID: 7, NSQuota: ptr(rapid.Int64Min(0).Draw(t, "ns quota")), NSBefore: 1 << 40, NSAfter: 1<<40 - sum.Inodes,
			DSBefore: 1 << 50, DSAfter: 1<<50 - sum.Space, TypesAfter: TypeSpace{NVDIMM: -sum.Types.NVDIMM},
		}}
	}
}

// TestRoundTrip: what is written is read, whatever the names; the same plan gives
// the same bytes; every line is UTF-8.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Custom(genPlan).Draw(t, "plan")
		b, digest, err := p.tryWrite()
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b) {
			t.Fatal("not UTF-8")
		}
		got, d, err := readPlan(b)
		if err != nil || d != digest {
			t.Fatal(d, err)
		}
		if diff := cmp.Diff(p, got, cmpopts.IgnoreUnexported(Item{})); diff != "" {
			t.Fatalf("-written +read:\n%s", diff)
		}
		if again, _, err := got.tryWrite(); err != nil || !bytes.Equal(again, b) {
			t.Fatal("written again, the bytes differ", err)
		}
	})
}
