package webgraph

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// Foremost keeps the first in-links of many: those to the most origins, then the best ranked by harmonic centrality, by
// PageRank, and by name. Its memory is bounded by a multiple of Limit.
type Foremost struct {
	Limit int
	kept  []schema.Inlink
}

// Add adds an in-link.
func (f *Foremost) Add(l *schema.Inlink) {
	if f.kept = append(f.kept, *l); len(f.kept)/2 > f.Limit && len(f.kept) > 1<<12 {
		f.kept = f.All()
	}
}

// All returns at most Limit in-links, the first ones first.
func (f *Foremost) All() []schema.Inlink {
	last := func(rank uint32) uint32 { return rank - 1 } // 0, none, is the largest
	slices.SortFunc(f.kept, func(a, b schema.Inlink) int {
		return cmp.Or(cmp.Compare(len(b.Origins), len(a.Origins)), cmp.Compare(last(a.HarmonicRank), last(b.HarmonicRank)),
			cmp.Compare(last(a.PageRank), last(b.PageRank)), cmp.Compare(a.Host, b.Host))
	})
	return f.kept[:min(len(f.kept), f.Limit)]
}
