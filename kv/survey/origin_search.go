package survey

import (
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// wordSize is the number of origins whose depths are found in one search.
const wordSize = 64

// A level is what a search of one word has reached at one depth.
type level struct {
	word  uint16
	depth uint8
	pages []reached
}

type reached struct {
	id      schema.ID
	origins uint64
}

// An originSearch is a breadth-first search from up to 64 origins at a time, one bit each.
//
// A link adds one to the depth. A redirect adds nothing, but a page outside an origin is never
// nearer to it than 1. A page of an origin is at depth 0 from it, so redirects within a depth
// matter from depth 1 on.
type originSearch struct {
	graph   *graph
	own     *members
	origins func(schema.HostID) []int
	limit   int // the greatest depth
	seen    []uint64
	now     []schema.ID // pages reached at the present depth, each once
	next    []schema.ID // pages reached at the next depth
	fresh   []uint64    // by id: origins that reached the page at the present depth
	coming  []uint64    // at the next one
	found   func(level)
}

func newOriginSearch(g *graph, own *members, limit int) *originSearch {
	n := len(g.start)
	return &originSearch{
		graph: g, own: own, limit: limit,
		origins: func(h schema.HostID) []int { return own.origins[h] },
		seen:    make([]uint64, n), fresh: make([]uint64, n), coming: make([]uint64, n),
		found: func(level) {},
	}
}

// run searches from the origins first to first + 63.
func (s *originSearch) run(first int) {
	s.begin(first)
	for depth := 0; len(s.now) > 0; depth++ {
		pages := s.spread(depth)
		s.found(level{uint16(first / wordSize), uint8(depth), pages})
		if depth == s.limit {
			s.drop()
			return
		}
		s.now, s.next = s.next, s.now[:0]
		s.fresh, s.coming = s.coming, s.fresh
		s.settle()
	}
}

// begin reaches the origins' own pages.
func (s *originSearch) begin(first int) {
	s.now, s.next = s.now[:0], s.next[:0]
	for _, id := range s.own.pages {
		word := uint64(0)
		for _, o := range s.origins(s.own.hostOf(id)) {
			if o >= first && o < first+wordSize {
				word |= 1 << (o - first)
			}
		}
		if word != 0 {
			s.fresh[id], s.seen[id] = word, word
			s.now = append(s.now, id)
		}
	}
}

// settle removes from the new present depth the pages that were reached before.
func (s *originSearch) settle() {
	slices.Sort(s.now)
	s.now = slices.DeleteFunc(s.now, func(id schema.ID) bool {
		s.fresh[id] &^= s.seen[id]
		s.seen[id] |= s.fresh[id]
		return s.fresh[id] == 0
	})
}

// spread follows the links of the pages at the present depth. It returns these pages, including
// those that redirects add.
func (s *originSearch) spread(depth int) []reached {
	if depth > 0 {
		s.closeRedirects()
	}
	pages := make([]reached, len(s.now))
	for i, id := range s.now {
		word := s.fresh[id]
		s.fresh[id] = 0
		pages[i] = reached{id, word}
		from, to := s.graph.links(id)
		for at := from; at < to; at++ {
			if target := s.graph.at(at); word&^s.seen[target] != 0 && (depth == 0 || !s.graph.redirect.has(int(at))) {
				s.come(target, word&^s.seen[target])
			}
		}
	}
	return pages
}

func (s *originSearch) come(target schema.ID, word uint64) {
	if s.coming[target] == 0 {
		s.next = append(s.next, target)
	}
	s.coming[target] |= word
}

// closeRedirects adds to the present depth the pages that redirects lead to from there.
func (s *originSearch) closeRedirects() {
	work := slices.Clone(s.now)
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		from, to := s.graph.links(id)
		for at := from; at < to; at++ {
			target := s.graph.at(at)
			word := s.fresh[id] &^ s.seen[target]
			if !s.graph.redirect.has(int(at)) || word == 0 {
				continue
			}
			if s.fresh[target] == 0 {
				s.now = append(s.now, target)
			}
			s.fresh[target] |= word
			s.seen[target] |= word
			work = append(work, target)
		}
	}
}

// drop removes the pages beyond the limit.
func (s *originSearch) drop() {
	for _, id := range s.next {
		s.coming[id] = 0
	}
	s.next = s.next[:0]
}
