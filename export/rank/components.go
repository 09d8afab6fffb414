package rank

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// WeakComponents numbers the sets of nodes that hang together when links are
// followed both ways. The largest is 0; of two as large, the one with the
// smallest node comes first.
func WeakComponents(g *Graph) []int32 {
	return bySize(joined(g, func(uint32, uint32, int64) bool { return true }))
}

// joined returns the first of the nodes that each hangs together with by the links that count,
// which are told by their ends and their place in the graph.
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

// Sets are the nodes that hang together by the links that they were given, for those who do not
// hold all links at once. They belong to one goroutine.
type Sets struct{ parent []int32 }

// NewSets has each of n nodes alone.
func NewSets(n int) *Sets { return &Sets{singletons(n)} }

// Join takes a link.
func (s *Sets) Join(u, v uint32) { join(s.parent, int32(u), int32(v)) }

// Numbers numbers the sets as [WeakComponents] does. It ends them.
func (s *Sets) Numbers() []int32 {
	for v := range s.parent {
		s.parent[v] = root(s.parent, int32(v))
	}
	return bySize(s.parent)
}

// join makes two sets one. Whatever the order in which several goroutines do so, the root of
// a set is its first node in the end.
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

// root returns the first node of v's set that is known, and shortens the way to it.
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

// bySize renumbers groups in place, the largest first, then by smallest node.
// The numbers that come in are below the number of nodes.
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
