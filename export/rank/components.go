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

// StrongComponents numbers the sets of nodes that reach each other along links,
// in the order of [WeakComponents]. It is Tarjan's algorithm without recursion,
// so a chain of a million nodes is no danger.
func StrongComponents(g *Graph) []int32 {
	n := g.Len()
	t := &tarjan{g: g, index: make([]int32, n), low: make([]int32, n), of: make([]int32, n)}
	for v := range t.of {
		t.of[v] = open
	}
	for v := range n {
		if t.index[v] == 0 {
			t.visit(uint32(v))
		}
	}
	return bySize(t.of)
}

// open marks a node whose component is not closed yet.
const open = -1

type tarjan struct {
	g          *Graph
	count      int32
	closed     int32
	index, low []int32 // from 1, in the order of discovery; 0: not seen
	of         []int32
	stack      []uint32 // nodes of components that are not closed
	path       []place
}

// A place is a node on the current path with the next of its links.
type place struct {
	node uint32
	link int64
}

// visit walks everything that can be reached from v.
func (t *tarjan) visit(v uint32) {
	t.enter(v)
	for len(t.path) > 0 {
		top := &t.path[len(t.path)-1]
		if top.link == t.g.Off[top.node+1] {
			t.leave(top.node)
			continue
		}
		to := t.g.To[top.link]
		top.link++
		switch {
		case t.index[to] == 0:
			t.enter(to)
		case t.of[to] == open:
			t.low[top.node] = min(t.low[top.node], t.index[to])
		}
	}
}

func (t *tarjan) enter(v uint32) {
	t.count++
	t.index[v], t.low[v] = t.count, t.count
	t.stack = append(t.stack, v)
	t.path = append(t.path, place{v, t.g.Off[v]})
}

// leave closes v's component if v was its first node.
func (t *tarjan) leave(v uint32) {
	t.path = t.path[:len(t.path)-1]
	if len(t.path) > 0 {
		up := t.path[len(t.path)-1].node
		t.low[up] = min(t.low[up], t.low[v])
	}
	if t.low[v] != t.index[v] {
		return
	}
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.of[last] = t.closed
		if last == v {
			break
		}
	}
	t.closed++
}
