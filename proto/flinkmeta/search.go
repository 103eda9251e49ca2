package flinkmeta

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxNeedleBytes bounds what all forms of all needles have together; a byte
// takes at most 24 bytes of memory.
const maxNeedleBytes = 1 << 26

var errTooManyNeedles = errors.New("needles of more than 64 MiB")

// Search finds many needles at once in a stream of bytes, wherever they are and
// whatever the bytes mean. It decides where [Decode] fails, and checks it where
// it succeeds: every absolute reference is in the file as plain bytes.
//
// A needle is a path or a part of one in UTF-8. It is also found in the other
// forms that Java gives it: in modified UTF-8, as part of a java.net.URI, whose
// escapes differ from those of other URIs, and with everything escaped that is
// not ASCII (java.net.URI.toASCIIString).
//
// The time for a stream depends on its length and the number of hits, not on the
// number of needles (Aho and Corasick). A Search is never changed after NewSearch
// and may be used by many goroutines at once.
type Search struct {
	root     [256]int32 // node after a byte at the start
	nodes    []searchNode
	patterns []pattern
}

// searchNode is a node of the tree of all patterns. Nodes stand in the order in
// which a walk through the tree meets them first, so the first child of a node,
// if it has any, is the next one. Node 0 is the root.
type searchNode struct {
	sibling int32 // the next child of the same parent; 0: none
	fail    int32 // the longest proper suffix that is a node too
	hit     int32 // the longest suffix, itself included, that ends a pattern; 0: none
	pattern int32 // the pattern that ends here
	label   byte  // the byte that leads here
	parent  bool  // it has children
}

// pattern is a form of one or more needles.
type pattern struct {
	text    []byte
	needles []int
}

// NewSearch prepares the search for needles. Needles may be equal, or parts of
// each other; one without bytes, or more than 64 MiB of them, is an error. The
// needles are not kept.
func NewSearch(needles [][]byte) (*Search, error) {
	s := &Search{}
	size := 0
	for i, needle := range needles {
		if len(needle) == 0 {
			return nil, fmt.Errorf("needle %d is empty: it would be found everywhere", i)
		}
		if len(needle) > maxNeedleBytes {
			return nil, errTooManyNeedles
		}
		for _, form := range forms(needle) {
			if size += len(form); size > maxNeedleBytes {
				return nil, errTooManyNeedles
			}
			s.patterns = append(s.patterns, pattern{text: form, needles: []int{i}})
		}
	}
	slices.SortStableFunc(s.patterns, func(a, b pattern) int { return bytes.Compare(a.text, b.text) })
	s.patterns = mergeEqual(s.patterns)
	s.grow()
	s.link()
	return s, nil
}

// mergeEqual makes one of sorted patterns with the same text.
func mergeEqual(sorted []pattern) []pattern {
	out := sorted[:0]
	for _, p := range sorted {
		if n := len(out); n > 0 && bytes.Equal(out[n-1].text, p.text) {
			out[n-1].needles = append(out[n-1].needles, p.needles...)
			continue
		}
		out = append(out, p)
	}
	return out
}

// grow makes the tree. As the patterns are sorted, only the newest child of a
// node can be the one that the next pattern shares.
func (s *Search) grow() {
	s.nodes = make([]searchNode, 1)
	var path []int32 // the nodes of the pattern before, by depth
	var before []byte
	for i, p := range s.patterns {
		shared := 0
		for shared < len(before) && before[shared] == p.text[shared] {
			shared++
		}
		for depth := shared; depth < len(p.text); depth++ {
			node := int32(len(s.nodes))
			s.nodes = append(s.nodes, searchNode{label: p.text[depth]})
			if depth < len(path) && depth == shared {
				s.nodes[path[depth]].sibling = node
			}
			if depth == 0 {
				s.root[p.text[0]] = node
			} else {
				s.nodes[path[depth-1]].parent = true
			}
			path = append(path[:depth], node)
		}
		s.nodes[path[len(p.text)-1]].pattern = int32(i)
		s.nodes[path[len(p.text)-1]].hit = path[len(p.text)-1]
		before, path = p.text, path[:len(p.text)]
	}
}

// link finds the suffixes, level by level: those of a level need all before.
func (s *Search) link() {
	queue := make([]int32, 0, len(s.nodes))
	for _, n := range s.root {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	for i := 0; i < len(queue); i++ {
		parent := queue[i]
		if !s.nodes[parent].parent {
			continue
		}
		for child := parent + 1; child != 0; child = s.nodes[child].sibling {
			n := &s.nodes[child]
			n.fail = s.step(s.nodes[parent].fail, n.label)
			if n.hit == 0 {
				n.hit = s.nodes[n.fail].hit
			}
			queue = append(queue, child)
		}
	}
}

// step gives the node after one more byte.
func (s *Search) step(node int32, b byte) int32 {
	for node != 0 {
		n := &s.nodes[node]
		if n.parent {
			for child := node + 1; child != 0; {
				c := &s.nodes[child]
				if c.label == b {
					return child
				}
				child = c.sibling
			}
		}
		node = n.fail
	}
	return s.root[b]
}

// Read searches r to its end and calls fn with the index of the needle and the
// offset of its first byte, for every place where one of its forms stands, in
// the order in which they end. Of needles that end at one place the longer come
// first. An error of fn is returned unchanged, one of r wrapped.
func (s *Search) Read(r io.Reader, fn func(needle int, offset int64) error) error {
	buf := make([]byte, startBuffer)
	var base int64
	var node int32
	for empty := 0; empty < maxEmptyReads; empty++ {
		n, err := r.Read(buf)
		if n < 0 || n > len(buf) {
			return fmt.Errorf("read at offset %d: the reader claims %d bytes", base, n)
		}
		if n > 0 {
			empty = -1
		}
		for i, b := range buf[:n] {
			if node == 0 {
				node = s.root[b]
			} else {
				node = s.step(node, b)
			}
			if hit := s.nodes[node].hit; hit != 0 {
				if err := s.report(hit, base+int64(i)+1, fn); err != nil {
					return err
				}
			}
		}
		base += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read at offset %d: %w", base, err)
		}
	}
	return fmt.Errorf("read at offset %d: %w", base, io.ErrNoProgress)
}

// report calls fn for all patterns that end at an offset.
func (s *Search) report(hit int32, end int64, fn func(int, int64) error) error {
	for hit != 0 {
		n := &s.nodes[hit]
		p := &s.patterns[n.pattern]
		for _, needle := range p.needles {
			if err := fn(needle, end-int64(len(p.text))); err != nil {
				return err
			}
		}
		hit = s.nodes[n.fail].hit
	}
	return nil
}
