package rank

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// WeakComponents numbers the weakly connected components, which are connected if links are followed
// both ways. The largest is 0. Of two of the same size, the one with the smallest node comes first.
func WeakComponents(g *Graph) []int32 {
	return bySize(joined(g, func(uint32, uint32, int64) bool { return true }))
}

// joined returns, for each node, the first node that it is connected with by the links that count.
// counts receives the ends of a link and its index in the graph.
func joined(g *Graph, counts func(u, v uint32, link int64) bool) []int32 {
	parent := singletons(g.Len())
	eachChunk(g.ctx, len(parent), func(_, lo, hi int) {
		for u := uint32(lo); u < uint32(hi); u++ {
			for i := g.Off[u]; i < g.Off[u+1]; i++ {
				if counts(u, g.To[i], i) {
					join(parent, int32(u), int32(g.To[i]))
				}
			}
		}
	})
	eachChunk(g.ctx, len(parent), func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			atomic.StoreInt32(&parent[v], root(parent, int32(v)))
		}
	})
	return parent
}

// Sets are connected components that are built link by link, for callers that do not hold all links at
// once. They must be used by one goroutine only.
type Sets struct{ parent []int32 }

// NewSets returns n sets of one node each.
func NewSets(n int) *Sets { return &Sets{singletons(n)} }

// Join adds a link.
func (s *Sets) Join(u, v uint32) { join(s.parent, int32(u), int32(v)) }

// Numbers numbers the sets like [WeakComponents]. The sets must not be used afterwards.
func (s *Sets) Numbers() []int32 {
	for v := range s.parent {
		s.parent[v] = root(s.parent, int32(v))
	}
	return bySize(s.parent)
}

// join unites two sets. Several goroutines may call it in any order: in the end the root of a set is
// its first node.
func join(parent []int32, a, b int32) {
	for {
		a, b = root(parent, a), root(parent, b)
		if a < b {
			a, b = b, a
		}
		if a == b || atomic.CompareAndSwapInt32(&parent[a], a, b) {
			return
		}
	}
}

// root returns the first node of v's set as known so far, and shortens the path to it.
func root(parent []int32, v int32) int32 {
	for {
		up := atomic.LoadInt32(&parent[v])
		if up == v {
			return v
		}
		if above := atomic.LoadInt32(&parent[up]); above != up {
			atomic.CompareAndSwapInt32(&parent[v], up, above)
		}
		v = up
	}
}

// bySize renumbers groups in place by decreasing size, then by smallest node. The old numbers must be
// below the number of nodes.
func bySize(group []int32) []int32 {
	size := make([]int32, len(group))
	order := make([]int32, 0)
	for _, id := range group {
		if size[id] == 0 {
			order = append(order, id)
		}
		size[id]++
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(size[b], size[a]) })
	rank := size
	for i, id := range order {
		rank[id] = int32(i)
	}
	for v, id := range group {
		group[v] = rank[id]
	}
	return group
}
