package planfile

import "strings"

func (k *checker) addItem(i *Item) error {
	if err := k.enter(stageItem, typeItem); err != nil {
		return err
	}
	if err := k.next(i.Path); err != nil {
		return err
	}
	root, err := k.in(i.Path, i.Root)
	if err != nil {
		return err
	}
	if root < 0 {
		return invalidf("path %q is in no root", i.Path)
	}
	if err := k.itemRules(i, &k.h.Roots[root]); err != nil {
		return err
	}
	if !k.ids.add(i.InodeID) {
		return invalidf("a second item with inode id %d", i.InodeID)
	}
	sums := &k.count.Planned
	if i.Deferred != "" {
		sums = &k.count.Deferred
	} else if !k.planned[root].add(i) {
		return invalidf("sums exceed 64 bits")
	}
	if !sums.add(i) {
		return invalidf("sums exceed 64 bits")
	}
	k.count.Items++
	k.openItem(i)
	return nil
}

func (k *checker) itemRules(i *Item, r *Root) error {
	if err := k.itemSelf(i, r); err != nil {
		return err
	}
	if err := k.itemSize(i, r); err != nil {
		return err
	}
	if err := itemPlace(i, r); err != nil {
		return err
	}
	if err := k.itemAlone(i.Path); err != nil {
		return err
	}
	if k.replay != nil {
		if err := k.replay.add(i); err != nil {
			return err
		}
	} else if err := k.claimsOf(i); err != nil {
		return err
	}
	return k.itemEffects(i)
}

// itemSelf checks what an item says of itself alone.
func (k *checker) itemSelf(i *Item, r *Root) error {
	switch {
	case len(r.Stopped) > 0:
		return invalidf("an item in root %q, which was stopped", r.Path)
	case i.InodeID == 0 || i.ParentID == 0 || i.InodeID == i.ParentID:
		return invalidf("inode id %d, parent id %d", i.InodeID, i.ParentID)
	case i.InodeID == r.InodeID:
		return invalidf("inode id %d is that of the root", i.InodeID)
	case i.MTimeMs <= 0 || i.MTimeMs > k.h.NowMs:
		return invalidf("mtime %d: what has no known age is never an item", i.MTimeMs)
	case i.Owner == "" || i.Group == "":
		return invalidf("no owner or group")
	case i.Rule == "":
		return invalidf("no rule")
	case i.Fingerprint == TreeHash{}:
		return invalidf("no fingerprint")
	}
	for f := range i.Evidence {
		if e := &i.Evidence[f]; e.Name == "" || e.Text != "" && e.Number != 0 {
			return invalidf("evidence %q has no name, or both text and number", e.Name)
		}
	}
	return nil
}

func (k *checker) itemSize(i *Item, r *Root) error {
	t := i.Totals
	for _, v := range []int64{i.Children, t.Files, t.Directories, t.Symlinks, t.Length, t.Space, i.Freed.Now, i.Freed.AfterTrash, i.Freed.HeldBySnapshots} {
		if v < 0 {
			return invalidf("a negative count or size")
		}
	}
	var inodes int64
	switch {
	case !add(&inodes, t.Files) || !add(&inodes, t.Directories) || !add(&inodes, t.Symlinks):
		return invalidf("sums exceed 64 bits")
	case i.Entries < 1 || i.Entries > inodes:
		return invalidf("%d entries, but %d files, directories and symlinks", i.Entries, inodes)
	case !i.IsDirectory() && (i.Entries != 1 || i.Children != 0 || t.Symlinks != 0):
		return invalidf("neither a directory nor a single file")
	case i.Deferred != "" || r.Mode != ModeExecute:
	case k.h.Belts.MaxInodesPerMove > 0 && i.Entries > k.h.Belts.MaxInodesPerMove:
		return invalidf("%d entries, more than max_inodes_per_move %d", i.Entries, k.h.Belts.MaxInodesPerMove)
	}
	return nil
}

// itemAlone: nothing that must stay is above, at or below an item.
func (k *checker) itemAlone(item Path) error {
	for j := range k.h.Roots {
		if r := k.h.Roots[j].Path; r == item || r.Below(item) {
			return invalidf("root %q is the item %q or in it", r, item)
		}
	}
	for j := range k.h.Protect {
		if item.Below(k.h.Protect[j].Path) {
			return invalidf("item %q is in %q, which is protected", item, k.h.Protect[j].Path)
		}
	}
	for _, places := range [...][]Place{k.h.Protect, k.h.HoldPaths, k.h.Anchors} {
		for j := range places {
			if p := places[j].Path; p == item || p.Below(item) {
				return invalidf("%q, which stays, is the item %q or in it", p, item)
			}
		}
	}
	if k.guarded.has(k.hash(string(item))) {
		return invalidf("a guard that names no item is the item %q or in it", item)
	}
	// Paths that start with the bytes of another follow it at once, with only such
	// paths between.
	for len(k.enclosed) > 0 && !strings.HasPrefix(string(item), string(k.enclosed[len(k.enclosed)-1])) {
		k.enclosed = k.enclosed[:len(k.enclosed)-1]
	}
	for _, p := range k.enclosed {
		if item.Below(p) {
			return invalidf("item %q is in the item %q", item, p)
		}
	}
	k.enclosed = append(k.enclosed, item)
	return nil
}

func (k *checker) itemEffects(i *Item) error {
	for j := range i.QuotaEffects {
		e := &i.QuotaEffects[j]
		if e.InodeID == 0 || j > 0 && e.InodeID <= i.QuotaEffects[j-1].InodeID {
			return invalidf("quota effects are sorted by inode id, each once")
		}
		sum := k.effects[e.InodeID]
		if sum == nil {
			sum = &effectSum{}
			k.effects[e.InodeID] = sum
		}
		if i.Deferred == "" {
			sum.planned.add(e)
		}
	}
	return nil
}

func (k *checker) openItem(i *Item) {
	o := &k.item
	o.dirIDs.reset()
	o.directories.reset()
	*o = openItem{
		open: true, path: i.Path, directory: i.IsDirectory(), id: i.InodeID, entries: i.Entries, children: i.Children, totals: i.Totals,
		dirIDs: o.dirIDs, directories: o.directories,
	}
}

func (k *checker) directory(d *Directory) error {
	o := &k.item
	if err := k.enter(stageItem, typeDir); err != nil {
		return err
	}
	s := string(d.Path)
	switch {
	case !o.open || !o.directory:
		return invalidf("a dir line behind no item that is a directory")
	case s <= string(o.last):
		return invalidf("directory %q is there twice, or lines are not sorted by the bytes of their paths", s)
	case d.InodeID == 0 || d.InodeID == o.id || !o.dirIDs.add(d.InodeID):
		return invalidf("inode id %d is 0 or there twice", d.InodeID)
	case !add(&o.children, d.Children):
		return invalidf("%d children", d.Children)
	}
	if err := cleanNames(s, s); err != nil {
		return err
	}
	if at := strings.LastIndexByte(s, '/'); at >= 0 && !o.directories.has(k.hash(s[:at])) {
		return invalidf("directory %q without a line for the one that holds it", s)
	}
	o.directories.add(k.hash(s))
	o.last = d.Path
	o.dirs++
	k.count.Directories++
	return nil
}

// closeItem checks the item as a whole, with its directories.
func (k *checker) closeItem() error {
	o := &k.item
	if !o.open || !o.directory {
		o.open = false
		return nil
	}
	o.open = false
	others := o.entries - 1 - o.dirs // files and symlinks
	switch {
	case o.children != o.entries-1:
		return invalidf("the directories of item %q have %d children, but it has %d entries with itself", o.path, o.children, o.entries)
	case o.dirs+1 > o.totals.Directories:
		return invalidf("item %q has %d directories in its totals, but %d dir lines", o.path, o.totals.Directories, o.dirs)
	case others < 0 || others > o.totals.Files+o.totals.Symlinks:
		return invalidf("item %q has %d entries that are no directories, but %d files and symlinks", o.path, others, o.totals.Files+o.totals.Symlinks)
	}
	return nil
}
