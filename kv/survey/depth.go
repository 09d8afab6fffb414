package survey

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// wordSize is the number of origins whose depths are found in one walk.
const wordSize = 64

// Depths are the depths of all pages from every origin.
type Depths struct {
	start   []uint32 // by id; the entries of a page are those from start[id] to start[id+1]
	entries []depthEntry
}

// A depthEntry says that a page has a depth from some of 64 origins.
type depthEntry struct {
	origins uint64
	word    uint16
	depth   uint8
}

// Of iterates over the origins from which a page can be reached, by their number
// in the terrain, with the depths.
func (d *Depths) Of(id schema.ID) iter.Seq2[int, uint8] {
	return func(yield func(int, uint8) bool) {
		entries := d.entries[d.start[id]:d.start[id+1]]
		for len(entries) > 0 {
			n := 1
			for n < len(entries) && entries[n].word == entries[0].word {
				n++
			}
			if !yieldWord(entries[:n], yield) {
				return
			}
			entries = entries[n:]
		}
	}
}

// yieldWord yields the origins of one word in order.
func yieldWord(entries []depthEntry, yield func(int, uint8) bool) bool {
	all := uint64(0)
	for _, e := range entries {
		all |= e.origins
	}
	for ; all != 0; all &= all - 1 {
		bit := all & -all
		for _, e := range entries {
			if e.origins&bit == 0 {
				continue
			}
			if !yield(int(e.word)*wordSize+bits.TrailingZeros64(bit), e.depth) {
				return false
			}
		}
	}
	return true
}

// Smallest returns the smallest depth of a page; [kv.NoDepth]: none.
func (d *Depths) Smallest(id schema.ID) uint8 {
	smallest := uint8(kv.NoDepth)
	for _, e := range d.entries[d.start[id]:d.start[id+1]] {
		smallest = min(smallest, e.depth)
	}
	return smallest
}

// OriginDepths derives the depths of all pages from every origin by breadth-first
// search over the links that carry depth. Pages that an unfinished run has not
// reached yet have the depths that follow from what earlier runs recorded.
func (s *Survey) OriginDepths() (*Depths, error) {
	g, err := s.readGraph(false)
	if err != nil {
		return nil, err
	}
	found, err := s.walkAll(g, s.inRun)
	if err != nil || !s.hasOlder() {
		return s.pack(found), err
	}
	if g, err = s.readGraph(true); err != nil {
		return nil, err
	}
	older, err := s.walkAll(g, func(schema.ID) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, l := range older {
		l.pages = slices.DeleteFunc(l.pages, func(r reached) bool { return s.inRun(r.id) })
		found = append(found, l)
	}
	return s.pack(found), nil
}

// hasOlder reports whether pages may be known that an unfinished run has not
// reached yet.
func (s *Survey) hasOlder() bool { return len(s.runs) > 1 && s.run.Status != schema.RunCompleted }

// depth returns the smallest depth and hops of a page.
func (s *Survey) depth(id schema.ID) (depth, hops uint8, err error) {
	depth, hops = s.store.Depth(id)
	if depth != kv.NoDepth || !s.hasOlder() {
		return depth, hops, nil
	}
	if s.older == nil {
		all, err := s.OriginDepths()
		if err != nil {
			return 0, 0, err
		}
		s.older = make([]uint8, s.store.URLs()+1)
		for id := range s.older {
			s.older[id] = all.Smallest(schema.ID(id)) + 1
		}
	}
	return s.older[id] - 1, hops, nil
}

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

func (s *Survey) walkAll(g *graph, in func(schema.ID) bool) ([]level, error) {
	own, err := s.ownPages(in)
	if err != nil {
		return nil, err
	}
	var found []level
	w := newWalk(g, own, s.cfg.Crawler.MaxDepth+1)
	w.found = func(l level) { found = append(found, l) }
	for first := 0; first < len(s.terrain.Origins()); first += wordSize {
		clear(w.seen)
		w.run(first)
	}
	return found, nil
}

// pack arranges levels by page. Those of a page keep their order by word.
func (s *Survey) pack(found []level) *Depths {
	d := &Depths{start: make([]uint32, s.store.URLs()+2)}
	slices.SortStableFunc(found, func(a, b level) int { return int(a.word) - int(b.word) })
	for _, l := range found {
		for _, r := range l.pages {
			d.start[r.id+1]++
		}
	}
	for i := 1; i < len(d.start); i++ {
		d.start[i] += d.start[i-1]
	}
	d.entries = make([]depthEntry, d.start[len(d.start)-1])
	at := slices.Clone(d.start)
	for _, l := range found {
		for _, r := range l.pages {
			d.entries[at[r.id]] = depthEntry{r.origins, l.word, l.depth}
			at[r.id]++
		}
	}
	return d
}

// A walk is a breadth-first search from up to 64 origins at a time, one bit each.
//
// A link leads one deeper. A redirect leads nowhere deeper, but a page outside an
// origin is never nearer to it than 1; a page of an origin is at depth 0 from it,
// so redirects matter between equals only from depth 1 on (SPEC 5).
type walk struct {
	*graph
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
	slices.SortFunc(w.now, byID)
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
		from, to := w.links(id)
		for at := from; at < to; at++ {
			if target := w.to[at]; word&^w.seen[target] != 0 && (depth == 0 || !w.redirect.has(int(at))) {
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
		from, to := w.links(id)
		for at := from; at < to; at++ {
			target := w.to[at]
			word := w.fresh[id] &^ w.seen[target]
			if !w.redirect.has(int(at)) || word == 0 {
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
