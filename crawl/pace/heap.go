package pace

// A heap holds references; the first in its order is at the root.
type heap []int32

// An order compares the references of a heap, and is notified of each one's position.
type order struct {
	before func(a, b int32) bool
	moved  func(ref int32, at int)
}

func (h *heap) push(ref int32, o *order) {
	*h = append(*h, ref)
	h.up(len(*h)-1, o)
}

// remove removes and returns the reference at a position.
func (h *heap) remove(at int, o *order) int32 {
	s := *h
	ref, last := s[at], len(s)-1
	moved := s[last]
	*h = s[:last]
	if at < last {
		s[at] = moved
		h.down(at, o)
		if s[at] == moved {
			h.up(at, o)
		}
	}
	return ref
}

// up moves a reference towards the root while it comes before its parent.
func (h *heap) up(at int, o *order) {
	s := *h
	ref := s[at]
	for at > 0 {
		parent := (at - 1) / 2
		if !o.before(ref, s[parent]) {
			break
		}
		s[at] = s[parent]
		o.moved(s[at], at)
		at = parent
	}
	s[at] = ref
	o.moved(ref, at)
}

// down moves a reference away from the root while a child comes before it.
func (h *heap) down(at int, o *order) {
	s := *h
	ref := s[at]
	for {
		child := 2*at + 1
		if child >= len(s) {
			break
		}
		if next := child + 1; next < len(s) && o.before(s[next], s[child]) {
			child = next
		}
		if !o.before(s[child], ref) {
			break
		}
		s[at] = s[child]
		o.moved(s[at], at)
		at = child
	}
	s[at] = ref
	o.moved(ref, at)
}
