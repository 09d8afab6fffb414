package schema

import (
	"slices"
	"testing"
)

// ranks returns all possible ranks of a page at a depth.
func ranks(depth uint8) (all []Rank) {
	for i := range 16 {
		r := Rank{Depth: depth, OfOrigin: i&1 != 0, Own: i&2 != 0, Revisit: i&4 != 0, BySitemap: i&8 != 0}
		if !r.OfOrigin || depth == 0 { // pages of origins are at depth 0
			all = append(all, r)
		}
	}
	return all
}

// A priority can be converted back.
func TestPriorityGivesBack(t *testing.T) {
	for depth := range uint8(255) {
		for _, r := range ranks(depth) {
			p := r.Priority()
			got, page := PriorityDepth(p)
			if want := min(depth, priorityDeepest); !page || got != want || PriorityOwn(p) != r.Own {
				t.Errorf("%+v: priority %d says depth %d, %t, own %t", r, p, got, page, PriorityOwn(p))
			}
			if r.Revisit && p < PriorityRevisit {
				t.Errorf("%+v: priority %d is that of no revisit", r, p)
			}
		}
	}
	if _, page := PriorityDepth(PriorityOthersSitemap); page {
		t.Error("a sitemap of others is a page")
	}
	if _, page := PriorityDepth(PrioritySitemap); page {
		t.Error("a sitemap waits as a page does")
	}
}

// The orders in which the URLs of a host are requested.
func TestRankPriority(t *testing.T) {
	const listed = true
	for name, order := range map[string][]uint8{
		"host of an origin": {
			PrioritySitemap,
			Rank{OfOrigin: true, Own: true}.Priority(), Rank{OfOrigin: true, Own: true, BySitemap: listed}.Priority(),
			Rank{OfOrigin: true, Own: true, Revisit: true}.Priority(),
			Rank{OfOrigin: true, Own: true, Revisit: true, BySitemap: listed}.Priority(),
			Rank{OfOrigin: true}.Priority(), Rank{OfOrigin: true, BySitemap: listed}.Priority(),
			Rank{OfOrigin: true, Revisit: true}.Priority(), Rank{OfOrigin: true, Revisit: true, BySitemap: listed}.Priority(),
		},
		"other host": {
			PrioritySitemap, Rank{Depth: 1, Own: true}.Priority(), Rank{Depth: 1}.Priority(),
			Rank{Depth: 1, BySitemap: listed}.Priority(), Rank{Depth: 2, Own: true}.Priority(), Rank{Depth: 200}.Priority(),
			Rank{Depth: 1, Own: true, Revisit: true}.Priority(), Rank{Depth: 1, Revisit: true}.Priority(),
			Rank{Depth: 255, BySitemap: listed, Revisit: true}.Priority(),
		},
	} {
		if !slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) != len(order) {
			t.Errorf("%s: priorities %v do not grow", name, order)
		}
	}
}
