package schema

import (
	"slices"
	"testing"
)

// A priority gives back the depth that it was made of.
func TestPriorityDepth(t *testing.T) {
	for depth := range uint8(255) {
		for i := range 4 {
			p := PagePriority(depth, i&1 != 0, i&2 != 0)
			got, page := PriorityDepth(p)
			if want := min(depth, 30); !page || got != want {
				t.Errorf("PriorityDepth(%d) = %d, %t; want %d, true", p, got, page, want)
			}
			if again := i&2 != 0; p >= PriorityRevisit != again {
				t.Errorf("PagePriority(%d, %t, %t) = %d", depth, i&1 != 0, again, p)
			}
		}
	}
	if _, page := PriorityDepth(PrioritySitemap); page {
		t.Error("a sitemap waits as a page does")
	}
}

// The order in which a host's URLs are asked.
func TestPagePriority(t *testing.T) {
	order := []uint8{
		PrioritySitemap, PagePriority(0, false, false), PagePriority(0, true, false), PagePriority(1, false, false),
		PagePriority(200, true, false), PagePriority(0, false, true), PagePriority(0, true, true),
		PagePriority(255, true, true),
	}
	if !slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) != len(order) {
		t.Errorf("priorities %v do not grow", order)
	}
}
