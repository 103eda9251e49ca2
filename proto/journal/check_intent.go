package journal

import (
	"hash/maphash"
	"slices"

	"fsweep/proto/planfile"
)

// purposes has what each command may do.
var purposes = map[Command][]Purpose{
	CommandRun:      {PurposeMkdirs, PurposeLock, PurposeUnlock, PurposeMove, PurposeUndo},
	CommandUndo:     {PurposeMkdirs, PurposeLock, PurposeUnlock, PurposeUndo},
	CommandRehearse: {PurposeMkdirs, PurposeMove, PurposeUndo},
	CommandUnlock:   {PurposeMkdirs, PurposeUnlock},
}

// own is the purpose that items of a command have.
func (c Command) own() Purpose {
	if c == CommandUndo {
		return PurposeUndo
	}
	return PurposeMove
}

// moves tells intents that move an item from the others.
func (p Purpose) moves() bool { return p == PurposeMove || p == PurposeUndo }

func (i *Intent) check(k *checker) error {
	if k.open != nil {
		return invalidf("intent %d is still open", k.open.Seq)
	}
	if !slices.Contains(purposes[k.h.Command], i.Purpose) {
		return invalidf("purpose %q is none of %s", i.Purpose, k.h.Command)
	}
	if err := invalid("path", i.Path.Clean()); err != nil {
		return err
	}
	k.open = &openIntent{Intent: *i, off: k.off, process: k.process, item: none}
	if i.Purpose == PurposeMkdirs {
		return i.checkMkdirs()
	}
	for _, check := range []func(*checker) error{i.checkRename, i.checkItem, i.checkCall} {
		if err := check(k); err != nil {
			return err
		}
	}
	if i.Purpose.moves() {
		return k.begin()
	}
	return nil
}

func (i *Intent) checkMkdirs() error {
	bare := Intent{Stamp: i.Stamp, Purpose: i.Purpose, Path: i.Path, Permission: i.Permission, Context: i.Context}
	switch {
	case *i != bare:
		return invalidf("mkdirs has a path and a permission, nothing else")
	case i.Permission <= 0 || i.Permission > maxPermission:
		return invalidf("permission %d", i.Permission)
	}
	return nil
}

func (i *Intent) checkRename(*checker) error {
	if err := invalid("target", i.Target.Clean()); err != nil {
		return err
	}
	switch {
	case i.InodeID == 0 || i.ParentID == 0 || i.InodeID == i.ParentID:
		return invalidf("inode %d in directory %d", i.InodeID, i.ParentID)
	case i.Target == i.Path || i.Target.Below(i.Path):
		return invalidf("%q cannot become %q", i.Path, i.Target)
	case i.Permission != 0:
		return invalidf("a permission goes with mkdirs")
	case i.TrashRoot == "":
		return nil
	case i.Purpose != PurposeMove:
		return invalidf("a trash root goes with a move")
	case !i.Target.Below(i.TrashRoot):
		return invalidf("target %q is not in the trash %q", i.Target, i.TrashRoot)
	}
	return invalid("trash_root", i.TrashRoot.Clean())
}

func (i *Intent) checkItem(k *checker) error {
	if !i.Purpose.moves() {
		if i.Kind != "" || i.Undoes != 0 || i.Inodes != 0 || i.Length != 0 || i.Space != 0 {
			return invalidf("a lock is no item")
		}
		return nil
	}
	switch {
	case i.Inodes <= 0 || i.Length < 0 || i.Space < 0:
		return invalidf("an item of %d inodes, %d bytes, %d on disk", i.Inodes, i.Length, i.Space)
	case i.Undoes < 0 || i.Undoes > 0 && i.Purpose != PurposeUndo:
		return invalidf("undoes %d", i.Undoes)
	}
	return itemKind(k, i.Kind)
}

// itemKind demands a kind of an item of a plan; a rehearsal has none.
func itemKind(k *checker, kind planfile.Kind) error {
	if k.h.Command == CommandRehearse {
		return oneOf("kind", kind, "")
	}
	return oneOf("kind", kind, planfile.KindUnit, planfile.KindCheckpoint, planfile.KindFile, planfile.KindChild)
}

func (i *Intent) checkCall(k *checker) error {
	l := i.Call
	if l == nil {
		return invalidf("a rename without its call")
	}
	_, used := k.calls[l.CallID]
	switch {
	case l.NameNode.Address == "":
		return invalidf("a call to no NameNode")
	case l.ClientID != k.client:
		return invalidf("client id %s is not that of this process, %s", l.ClientID, k.client)
	case l.CallID < 0 || l.CallID > maxCallID:
		return invalidf("call_id %d", l.CallID)
	case used:
		return invalidf("call_id %d was used before: a NameNode would answer success and do nothing", l.CallID)
	}
	k.calls[l.CallID] = struct{}{}
	call := *l
	k.open.Call = &call
	return nil
}

func (k *checker) home(p planfile.Path) uint64 { return maphash.String(k.seed, string(p)) }

// begin finds the item that an intent is about, and demands that it may be moved.
func (k *checker) begin() error {
	o := k.open
	if s, ok := k.strays[o.InodeID]; ok && s.seq == o.Undoes {
		o.stray = true
		return k.backTo(s.home)
	}
	if o.Purpose == k.h.Command.own() {
		at, err := k.due(o.InodeID)
		if err != nil {
			return err
		}
		if k.h.Command == CommandUndo && (k.h.UndoOf != nil) != (o.Undoes > 0) {
			return invalidf("undoes %d: a number goes with a journal that is undone", o.Undoes)
		}
		o.item, o.before = at, k.items.at(at).mark
		return nil
	}
	at, ok := k.items.index[o.InodeID]
	if !ok || k.items.at(at).outcome != OutcomeDone || k.items.at(at).seq != o.Undoes {
		return invalidf("intent %d did not move inode %d, or it was moved back", o.Undoes, o.InodeID)
	}
	r := k.items.at(at)
	if r.inodes != o.Inodes || r.length != o.Length || r.space != o.Space {
		return invalidf("inode %d was another size when it was moved", o.InodeID)
	}
	o.item, o.before = at, r.mark
	return k.backTo(r.home)
}

func (k *checker) backTo(home uint64) error {
	if k.home(k.open.Target) != home {
		return invalidf("%q is not where inode %d came from", k.open.Target, k.open.InodeID)
	}
	return nil
}

// due gives an item of which nothing is known yet, or nothing that the present process
// found out.
func (k *checker) due(id uint64) (int32, error) {
	at := k.items.get(id)
	switch r := k.items.at(at); {
	case r.outcome == OutcomeNone:
	case r.outcome != OutcomeSkipped && r.outcome != OutcomeFailed:
		return 0, invalidf("inode %d is %s already", id, r.outcome)
	case r.process == k.process:
		return 0, invalidf("this process said already that inode %d is %s", id, r.outcome)
	}
	return at, nil
}
