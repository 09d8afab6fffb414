package survey

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

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

// walks follows the links that carry depth.
type walks struct {
	core   *core
	stands *stands
	sights *sights
	hosts  *hosts
	graph  *graph // of what the run has visited; nil: not built yet

	hostsRead bool
	closed    *bitset // pages that are not visited because of their class; nil: their hosts decide

	older []uint8 // by id: smallest depth over everything recorded; nil: not needed or not derived yet
}

// originDepths derives the depths of all pages from every origin by breadth-first
// search over the links that carry depth. Pages that an unfinished run has not
// reached yet have the depths that follow from what earlier runs recorded.
func (ws *walks) originDepths() (*Depths, error) {
	g, err := ws.readGraph(false)
	if err != nil {
		return nil, err
	}
	found, err := ws.searchAll(g, ws.core.inRun)
	if err != nil || !ws.core.hasOlder() {
		return ws.pack(found), err
	}
	if g, err = ws.readGraph(true); err != nil {
		return nil, err
	}
	older, err := ws.searchAll(g, func(schema.ID) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, l := range older {
		l.pages = slices.DeleteFunc(l.pages, func(r reached) bool {
			gone, failed := ws.gone(r.id)
			err = cmp.Or(err, failed)
			return gone || ws.core.inRun(r.id)
		})
		found = append(found, l)
	}
	return ws.pack(found), err
}

// gone reports whether a page is gone, and so has no depth.
func (ws *walks) gone(id schema.ID) (gone bool, err error) {
	if !ws.core.outside(id) || ws.core.visitedSince(id) {
		return false, nil
	}
	err = ws.core.view(func(tx *kv.Tx) error {
		u, err := tx.URLs.At(id)
		if err != nil {
			return err
		}
		left, err := ws.sights.waits(tx, id)
		if err == nil {
			gone, err = ws.sights.gone(id, left, u.FirstRun)
		}
		return err
	})
	return gone, err
}

// depth returns the smallest depth and hops of a page.
func (ws *walks) depth(id schema.ID) (depth, hops uint8, err error) {
	depth, hops = ws.core.nearest(id)
	if depth != kv.NoDepth || !ws.core.hasOlder() {
		return depth, hops, nil
	}
	if ws.older == nil {
		if ws.older, err = ws.olderDepths(); err != nil {
			return 0, 0, err
		}
	}
	return ws.older[id], hops, nil
}

func (ws *walks) searchAll(g *graph, in func(schema.ID) bool) ([]level, error) {
	own, err := ws.ownPages(in)
	if err != nil {
		return nil, err
	}
	var found []level
	s := newOriginSearch(g, own, ws.core.cfg.Crawler.MaxDepth+1)
	s.found = func(l level) { found = append(found, l) }
	for first := 0; first < len(ws.core.scope.Origins()); first += wordSize {
		clear(s.seen)
		s.run(first)
	}
	return found, nil
}

// pack arranges levels by page. Those of a page keep their order by word.
func (ws *walks) pack(found []level) *Depths {
	d := &Depths{start: make([]uint32, ws.core.urls()+2)}
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
