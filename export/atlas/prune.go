package atlas

import (
	"cmp"
	"slices"
)

// Larger pictures are slow in a browser. They are pruned, and are marked as such.
const (
	mostNodes = 100_000
	mostEdges = 100_000
)

// Pruned returns the map with at most 100,000 nodes, the most trusted, and at most 100,000 links for
// each of its views: first the heaviest of each node, so that no node is disconnected while there is
// room, then the heaviest of all. Links are sorted by decreasing weight. LeftOut counts what is
// missing. A second call changes nothing.
func (m Map) Pruned() Map { return m.pruned(mostNodes, mostEdges) }

// Foremost returns the map pruned further, to at most n nodes.
func (m Map) Foremost(n int) Map { return m.pruned(n, mostEdges) }

func (m Map) pruned(nodes, edges int) Map {
	before := Cut{Nodes: len(m.Nodes), Edges: len(m.Edges)}
	if len(m.Nodes) > nodes {
		kept := m.Leading(nodes)
		slices.Sort(kept)
		m = m.only(kept)
	}
	if m.Other == nil {
		m.Edges = heaviest(len(m.Nodes), m.Edges, edges)
	} else {
		m.Edges = ofBoth(len(m.Nodes), m.Edges, edges)
	}
	m.LeftOut.Nodes += before.Nodes - len(m.Nodes)
	m.LeftOut.Edges += before.Edges - len(m.Edges)
	return m
}

// Leading returns the indices of the n most trusted nodes in decreasing order of trust.
func (m Map) Leading(n int) []int {
	order := make([]int, len(m.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Nodes[b].Trust, m.Nodes[a].Trust) })
	return order[:min(n, len(order))]
}

// only returns the map restricted to the given nodes and the links between them.
func (m Map) only(kept []int) Map {
	place := make([]int, len(m.Nodes)) // index in the new list, from 1
	nodes := make([]Node, len(kept))
	for i, v := range kept {
		place[v] = i + 1
		nodes[i] = m.Nodes[v]
	}
	var edges []Edge
	for _, e := range m.Edges {
		if from, to := place[e.From], place[e.To]; from > 0 && to > 0 {
			edges = append(edges, Edge{uint32(from - 1), uint32(to - 1), e.Weight, e.Other})
		}
	}
	m.Nodes, m.Edges, m.Points = nodes, edges, chosen(m.Points, kept)
	if m.Other != nil {
		m.Other = &Other{chosen(m.Other.Points, kept), chosen(m.Other.Scores, kept)}
	}
	if m.Outside != nil {
		m.Outside = m.Outside.only(place)
	}
	return m
}

// only returns the layer with links to the nodes that have a place, from 1.
func (o *Outside) only(place []int) *Outside {
	kept := &Outside{Release: o.Release, All: o.All}
	for _, h := range o.Hosts {
		var to []uint32
		for _, v := range h.To {
			if place[v] > 0 {
				to = append(to, uint32(place[v]-1))
			}
		}
		if h.To = to; len(to) > 0 {
			kept.Hosts = append(kept.Hosts, h)
		}
	}
	return kept
}

// chosen returns the elements at some indices of a list; nil if list is nil.
func chosen[T any](list []T, places []int) (kept []T) {
	for _, v := range places {
		if list != nil {
			kept = append(kept, list[v])
		}
	}
	return kept
}

// ofBoth returns the heaviest links of both views.
func ofBoth(n int, edges []Edge, most int) []Edge {
	kept := heaviest(n, edges, most)
	other := slices.Clone(edges)
	for i := range other {
		other[i].turn()
	}
	other = heaviest(n, other, most)
	for i := range other {
		other[i].turn()
	}
	kept = append(kept, other...)
	slices.SortFunc(kept, byWeight)
	return slices.Compact(kept)
}

// turn swaps the weights of a link, as seen in the other view.
func (e *Edge) turn() { e.Weight, e.Other = e.Other, e.Weight }

// heaviest returns at most most of the edges among n nodes, sorted.
func heaviest(n int, edges []Edge, most int) []Edge {
	order := slices.Clone(edges)
	slices.SortFunc(order, byWeight)
	if len(order) <= most {
		return order
	}
	tied := make([]bool, n)
	var first, rest []Edge
	for _, e := range order {
		if tied[e.From] && tied[e.To] {
			rest = append(rest, e)
			continue
		}
		tied[e.From], tied[e.To] = true, true
		first = append(first, e)
	}
	order = append(first, rest...)[:most]
	slices.SortFunc(order, byWeight)
	return order
}

// byWeight sorts links by decreasing weight, equal ones by their nodes.
func byWeight(a, b Edge) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Other, a.Other), cmp.Compare(a.From, b.From),
		cmp.Compare(a.To, b.To))
}
