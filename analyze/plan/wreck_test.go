package plan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
	"fsweep/proto/planfile"
)

// TestWrecks: of images that contradict themselves a plan is made that keeps every
// rule, or none with an error about the image; the same whatever the number of workers.
func TestWrecks(t *testing.T) {
	t.Parallel()
	seed, plans, refused, left := uint64(0), 0, 0, 0
	randomWorlds(t, 300, func(t *testing.T, w *world, again func() *world) {
		seed++
		var first []byte
		for workers := 1; workers <= 2; workers++ {
			w := again()
			w.wreck(rand.New(rand.NewPCG(seed, 3)))
			r, _ := w.request(t, workers)
			var out bytes.Buffer
			res, err := Write(t.Context(), &out, r)
			if err != nil {
				if refused++; !errors.Is(err, ErrImage) || errors.Is(err, planfile.ErrInvalid) && out.Len() > 0 {
					t.Error(err)
				}
				out.Reset()
			} else if plans++; len(res.Header.Warnings) > 0 {
				left++
			}
			if first == nil {
				first = out.Bytes()
			} else if !bytes.Equal(first, out.Bytes()) {
				t.Error("other bytes with two workers")
			}
		}
	})
	t.Log(plans, "plans", refused, "refused", left, "with warnings")
	if !testing.Short() && (plans < 100 || refused < 10 || left < 10) {
		t.Error("too few")
	}
}

// wreck changes an image in ways that no NameNode would.
func (w *world) wreck(r *rand.Rand) {
	nodes := w.it.Nodes()
	some := func() *imagetest.Node { return nodes[1+r.IntN(len(nodes)-1)] }
	var late []func(m *imagetest.Image)
	for range 1 + r.IntN(4) {
		n, other := some(), some()
		switch r.IntN(8) {
		case 0:
			n.Name = []string{"..", "", "a/b", ".snapshot", "."}[r.IntN(5)]
		case 1: // two of one name
			if n.Parent != nil && len(n.Parent.Children) > 1 {
				n.Name = n.Parent.Children[r.IntN(len(n.Parent.Children))].Name
			}
		case 2: // no such owner
			if n.Kind == imagetest.File {
				n.Edit = func(m *pb.INodeSection_INode) { m.File.Permission = proto.Uint64(0) }
			}
		case 3: // a second parent
			late = append(late, func(m *imagetest.Image) {
				m.Section(imagetest.INodeDir).Add(&pb.INodeDirectorySection_DirEntry{Parent: &n.ID, Children: []uint64{other.ID}})
			})
		case 4: // no record
			late = append(late, func(m *imagetest.Image) {
				m.Section(imagetest.INodeDir).Add(&pb.INodeDirectorySection_DirEntry{Parent: &n.ID, Children: []uint64{99999}})
			})
		case 5: // a second record
			n.Edit = func(m *pb.INodeSection_INode) { m.Id = &other.ID }
		case 6: // in nobody's children
			if n.Parent != nil && n.Parent != w.it.Root {
				w.it.Detach(n)
			}
		case 7:
			n.MTimeMs = []int64{0, -5, 1 << 62}[r.IntN(3)]
		}
	}
	w.image = w.it.Image()
	for _, f := range late {
		f(w.image)
	}
}
