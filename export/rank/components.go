package rank

import (
	"cmp"
	"slices"
)

// WeakComponents numbers the sets of nodes that hang together when links are
// followed both ways. The largest is 0; of two as large, the one with the
// smallest node comes first.
func WeakComponents(g *Graph) []int32 {
	parent := make([]int32, g.Len())
	for v := range parent {
		parent[v] = int32(v)
	}
	for u := range parent {
		if u%chunk == 0 && g.ended() {
			break
		}
		for _, v := range g.Out(uint32(u)) {
			a, b := root(parent, int32(u)), root(parent, int32(v))
			parent[max(a, b)] = min(a, b)
		}
	}
	for v := range parent {
		parent[v] = root(parent, int32(v))
	}
	return bySize(parent)
}

// root returns the first node of v's set and shortens the way to it.
func root(parent []int32, v int32) int32 {
	for parent[v] != v {
		parent[v] = parent[parent[v]]
		v = parent[v]
	}
	return v
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
