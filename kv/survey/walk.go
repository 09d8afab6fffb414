package survey

import (
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// wordSize is the number of origins whose depths are found in one walk.
const wordSize = 64

// A level is what a walk of one word has reached at one depth.
type level struct {
	word  uint16
	depth uint8
	pages []reached
}

type reached struct {
	id      schema.ID
	origins uint64
}

// A walk is a breadth-first search from up to 64 origins at a time, one bit each.
//
// A link leads one deeper. A redirect leads nowhere deeper, but a page outside an
// origin is never nearer to it than 1; a page of an origin is at depth 0 from it,
// so redirects matter between equals only from depth 1 on.
type walk struct {
	graph   *graph
	own     *members
	origins func(schema.HostID) []int
	limit   int // the greatest depth
	seen    []uint64
	now     []schema.ID // reached at the present depth, each once
	next    []schema.ID // reached at the next one
	fresh   []uint64    // by id: the origins that reached it at the present depth
	coming  []uint64    // at the next one
	found   func(level)
	parent  []schema.ID // of the first link that led to a page; nil: not wanted
}

func newWalk(g *graph, own *members, limit int) *walk {
	n := len(g.start)
	return &walk{
		graph: g, own: own, limit: limit,
		origins: func(h schema.HostID) []int { return own.origins[h] },
		seen:    make([]uint64, n), fresh: make([]uint64, n), coming: make([]uint64, n),
		found: func(level) {},
	}
}

// run searches from the origins first to first + 63.
func (w *walk) run(first int) {
	w.begin(first)
	for depth := 0; len(w.now) > 0; depth++ {
		pages := w.spread(depth)
		w.found(level{uint16(first / wordSize), uint8(depth), pages})
		if depth == w.limit {
			w.drop()
			return
		}
		w.now, w.next = w.next, w.now[:0]
		w.fresh, w.coming = w.coming, w.fresh
		w.settle()
	}
}

// begin reaches the origins' own pages.
func (w *walk) begin(first int) {
	w.now, w.next = w.now[:0], w.next[:0]
	for _, id := range w.own.pages {
		word := uint64(0)
		for _, o := range w.origins(w.own.hostOf(id)) {
			if o >= first && o < first+wordSize {
				word |= 1 << (o - first)
			}
		}
		if word != 0 {
			w.fresh[id], w.seen[id] = word, word
			w.now = append(w.now, id)
		}
	}
}

// settle drops from the new present depth what was reached before it.
func (w *walk) settle() {
	slices.Sort(w.now)
	w.now = slices.DeleteFunc(w.now, func(id schema.ID) bool {
		w.fresh[id] &^= w.seen[id]
		w.seen[id] |= w.fresh[id]
		return w.fresh[id] == 0
	})
}

// spread follows the links of the pages at the present depth, and returns these
// pages with those that redirects add to them.
func (w *walk) spread(depth int) []reached {
	if depth > 0 {
		w.closeRedirects()
	}
	pages := make([]reached, len(w.now))
	for i, id := range w.now {
		word := w.fresh[id]
		w.fresh[id] = 0
		pages[i] = reached{id, word}
		from, to := w.graph.links(id)
		for at := from; at < to; at++ {
			if target := w.graph.to[at]; word&^w.seen[target] != 0 && (depth == 0 || !w.graph.redirect.has(int(at))) {
				w.come(id, target, word&^w.seen[target])
			}
		}
	}
	return pages
}

func (w *walk) come(from, target schema.ID, word uint64) {
	if w.coming[target] == 0 {
		w.next = append(w.next, target)
		w.adopt(from, target)
	}
	w.coming[target] |= word
}

func (w *walk) adopt(from, target schema.ID) {
	if w.parent != nil {
		w.parent[target] = from
	}
}

// closeRedirects reaches at the present depth what redirects lead to from there.
func (w *walk) closeRedirects() {
	work := slices.Clone(w.now)
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		from, to := w.graph.links(id)
		for at := from; at < to; at++ {
			target := w.graph.to[at]
			word := w.fresh[id] &^ w.seen[target]
			if !w.graph.redirect.has(int(at)) || word == 0 {
				continue
			}
			if w.fresh[target] == 0 {
				w.now = append(w.now, target)
				w.adopt(id, target)
			}
			w.fresh[target] |= word
			w.seen[target] |= word
			work = append(work, target)
		}
	}
}

// drop forgets what lies beyond the limit.
func (w *walk) drop() {
	for _, id := range w.next {
		w.coming[id] = 0
	}
	w.next = w.next[:0]
}
