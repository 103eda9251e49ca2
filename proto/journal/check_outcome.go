package journal

import (
	"slices"

	"fsweep/proto/planfile"
)

// closes demands that a line is about the open intent.
func (k *checker) closes(intent int64) error {
	switch {
	case k.open == nil:
		return invalidf("no intent is open")
	case k.open.Seq != intent:
		return invalidf("intent %d is open, not %d", k.open.Seq, intent)
	}
	return nil
}

// saw demands that the present process made the open intent, and knows what became of
// it from the call itself.
func (k *checker) saw(intent int64) error {
	if err := k.closes(intent); err != nil {
		return err
	}
	if k.open.unknown || k.open.process != k.process {
		return invalidf("what became of intent %d can only be settled", intent)
	}
	return nil
}

func (d *Done) check(k *checker) error {
	if err := k.saw(d.Intent); err != nil {
		return err
	}
	if err := k.arrived(d.Path, d.Chain); err != nil {
		return err
	}
	k.happened()
	return nil
}

// arrived checks where something was found.
func (k *checker) arrived(p planfile.Path, chain []uint64) error {
	if p != "" {
		if err := invalid("path", p.Clean()); err != nil {
			return err
		}
	}
	mkdirs := k.open.Purpose == PurposeMkdirs
	switch {
	case slices.Contains(chain, 0) || slices.Contains(chain, k.open.InodeID):
		return invalidf("the chain of directories has inode 0 or %d", k.open.InodeID)
	case mkdirs && len(chain) > 1:
		return invalidf("mkdirs has no chain but what it made")
	case !mkdirs && len(chain) == 0:
		return invalidf("no chain of directories proves the arrival")
	}
	return nil
}

// happened closes the intent as carried out.
func (k *checker) happened() {
	o := k.open
	switch {
	case o.stray:
		delete(k.strays, o.InodeID)
	case o.item == none:
	case o.Purpose == k.h.Command.own():
		r := k.items.at(o.item)
		k.items.set(r, mark{OutcomeNone, k.process})
		r.seq, r.off, r.arrival, r.home = o.Seq, o.off, k.off, k.home(o.Path)
		r.inodes, r.length, r.space = o.Inodes, o.Length, o.Space
		k.items.set(r, mark{OutcomeDone, k.process})
	default:
		k.items.set(k.items.at(o.item), mark{OutcomeUndone, k.process})
	}
	k.open = nil
}

// refused closes the intent as not carried out. What is to be said of the item is said,
// unless it is moved back: then it still is where it was.
func (k *checker) refused(o Outcome) {
	if at := k.open.item; at != none {
		m := mark{o, k.process}
		if o == OutcomeNone || k.open.Purpose != k.h.Command.own() {
			m = k.open.before
		}
		k.items.set(k.items.at(at), m)
	}
	k.open = nil
}

// lost closes the intent of an item of which nothing can be said any more.
func (k *checker) lost() {
	if k.open.item != none {
		k.items.set(k.items.at(k.open.item), mark{OutcomeUnknown, k.process})
	}
	k.open = nil
}

func (s *Skipped) check(k *checker) error {
	if s.Rule == "" {
		return invalidf("no rule")
	}
	if s.InodeID == 0 {
		return invalidf("no inode id")
	}
	return k.without(OutcomeSkipped, s.Intent, s.Kind, s.Path, s.InodeID)
}

func (f *Failed) check(k *checker) error {
	if err := message(f.Class, f.Message); err != nil {
		return err
	}
	return k.without(OutcomeFailed, f.Intent, f.Kind, f.Path, f.InodeID)
}

func message(class string, text planfile.Name) error {
	switch {
	case class == "":
		return invalidf("no class")
	case len(text) > maxMessage:
		return invalidf("a message of %d bytes, at most %d are allowed", len(text), maxMessage)
	}
	return nil
}

// without notes that something was not done.
func (k *checker) without(o Outcome, intent int64, kind planfile.Kind, p planfile.Path, id uint64) error {
	if k.open != nil || intent != 0 {
		if err := k.saw(intent); err != nil {
			return err
		}
		if k.open.Kind != kind || k.open.Path != p || k.open.InodeID != id {
			return invalidf("it is not about what intent %d is about", intent)
		}
		if o == OutcomeSkipped && !k.open.Purpose.moves() {
			return invalidf("only items are skipped")
		}
		k.refused(o)
		return nil
	}
	if err := invalid("path", p.Clean()); err != nil {
		return err
	}
	if id == 0 { // a directory that could not be made, before there was an intent
		return oneOf("kind", kind, "")
	}
	if err := itemKind(k, kind); err != nil {
		return err
	}
	at, err := k.due(id)
	if err != nil {
		return err
	}
	k.items.set(k.items.at(at), mark{o, k.process})
	return nil
}

func (u *Unknown) check(k *checker) error {
	if err := k.closes(u.Intent); err != nil {
		return err
	}
	k.open.unknown = true
	if k.open.item != none {
		k.items.set(k.items.at(k.open.item), mark{OutcomeUnknown, k.process})
	}
	return message(u.Class, u.Message)
}

func (s *Settled) check(k *checker) error {
	if err := k.closes(s.Intent); err != nil {
		return err
	}
	if err := oneOf("how", s.How, Arrived, NotHappened, OtherInode, Gone); err != nil {
		return err
	}
	renamed := s.How == Arrived || s.How == OtherInode
	switch {
	case (s.How == OtherInode) != (s.InodeID != 0) || s.InodeID == k.open.InodeID && s.InodeID != 0:
		return invalidf("another inode id goes with %s", OtherInode)
	case !renamed && (s.Path != "" || len(s.Chain) > 0):
		return invalidf("%s, but found", s.How)
	case k.open.Purpose == PurposeMkdirs && s.How != Arrived && s.How != NotHappened:
		return invalidf("%s goes with a rename", s.How)
	case slices.Contains(s.Chain, s.InodeID):
		return invalidf("the chain of directories has inode %d", s.InodeID)
	}
	if renamed {
		if err := k.arrived(s.Path, s.Chain); err != nil {
			return err
		}
	}
	switch o := k.open; s.How {
	case Arrived:
		k.happened()
	case NotHappened:
		k.refused(OutcomeNone)
	case OtherInode:
		k.strays[s.InodeID] = stray{o.Seq, k.home(o.Path)}
		if o.Purpose != k.h.Command.own() { // it was not there any more to be moved back
			k.lost()
		} else {
			k.refused(OutcomeFailed)
		}
	case Gone:
		k.lost()
	}
	return nil
}
