package planfile

// Replay gives guards once more: path and item of each, in the order in which they were
// written, when items are written; ok is false at the end. What it gives has to be valid only
// until it is called again.
type Replay func() (path []byte, item uint64, ok bool, err error)

// Replay lets a Writer ask for the guards again, before the first of them, instead of keeping
// 30 bytes and more of each in memory to hold items against them. What is checked is the same.
func (w *Writer) Replay(next Replay) { w.check.replay = &replay{next: next} }

// replay holds guards and items, which both come by path, against each other.
type replay struct {
	next  Replay
	begun bool
	path  []byte // of the next guard; nil: there is none
	item  uint64
	n     int64       // guards that were given
	open  []openGuard // items that the next guard can lie in
}

// openGuard is an item that guards can lie in.
type openGuard struct {
	path Path
	id   uint64
}

func (r *replay) advance() error {
	path, item, ok, err := r.next()
	if r.begun = true; err != nil {
		return err
	}
	if r.path, r.item = nil, item; ok {
		r.path = path
		r.n++
	}
	return nil
}

// before takes all guards that stand before a path.
func (r *replay) before(p Path) error {
	if !r.begun {
		if err := r.advance(); err != nil {
			return err
		}
	}
	for r.path != nil && string(r.path) < string(p) {
		if err := r.guard(); err != nil {
			return err
		}
	}
	return nil
}

// guard holds the next guard against the items around it, which are one at most.
func (r *replay) guard() error {
	var in uint64
	for i := range r.open {
		if o := r.open[i].path; len(r.path) > len(o) && r.path[len(o)] == '/' && string(r.path[:len(o)]) == string(o) {
			in = r.open[i].id
		}
	}
	switch {
	case in != r.item && r.item == 0:
		return invalidf("a guard that names no item is the item %d or in it: %q", in, r.path)
	case in != r.item:
		return invalidf("a guard names item %d, but is not in it: %q", r.item, r.path)
	}
	return r.advance()
}

// add takes an item.
func (r *replay) add(i *Item) error {
	if err := r.before(i.Path); err != nil {
		return err
	}
	if string(r.path) == string(i.Path) && r.item != 0 {
		return invalidf("a guard names item %d, but is not in it: %q", r.item, r.path)
	}
	if string(r.path) == string(i.Path) {
		return invalidf("a guard that names no item is the item %q", i.Path)
	}
	for len(r.open) > 0 {
		last := r.open[len(r.open)-1].path
		if len(i.Path) > len(last) && i.Path[:len(last)] == last {
			break
		}
		r.open = r.open[:len(r.open)-1]
	}
	r.open = append(r.open, openGuard{i.Path, i.InodeID})
	return nil
}

// end takes the guards behind the last item. There were n of them in all.
func (r *replay) end(n int64) error {
	if err := r.before("\xff"); err != nil { // paths begin with a slash
		return err
	}
	if r.n != n {
		return invalidf("%d guards were written, and %d were given again", n, r.n)
	}
	return nil
}
