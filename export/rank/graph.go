// Package rank measures a graph of links: which nodes matter, which hang
// together, which form a neighbourhood.
//
// A graph is plain arrays: nodes are the numbers 0 to n-1, links are grouped by
// the node that they leave (compressed sparse rows). Nothing here knows a store,
// a host or a page; the caller keeps the names.
//
// Every result depends on the graph and the seed alone, bit by bit, whatever the
// number of cores: sums are taken per node or per chunk of fixed size, never in
// the order in which goroutines happen to end. Functions use all cores, keep no
// state and may be called at the same time on one graph, which they only read.
//
// A graph takes 4 bytes for every link and, when it is measured, as much again to be turned
// round, and as much once more while PageRank is worked out. Besides that every measure takes
// 50 to 80 bytes for every node, and Communities 6 to 12 for every link between its smallest
// groups, which in a terrain swallow most links.
//
// A node id that is not below the number of nodes is a mistake of the caller and
// panics as an index out of range does.
package rank

import (
	"context"
	"math"
	"sync"
)

// A Graph holds directed links in compressed sparse rows, as [Build] makes them.
// The links of node u are To[Off[u]:Off[u+1]], ascending; a link that was given
// twice is there twice and counts twice wherever weights count.
type Graph struct {
	Off    []int64  // one more than there are nodes
	To     []uint32 // the node that a link leads to
	Weight []uint32 // beside To; nil: every link weighs 1

	ctx      context.Context          // of [Graph.Until]; nil: none
	group    func(node uint32) uint32 // of [Graph.Together]; nil: none
	turn     sync.Once
	reversed *Graph // made once, by turn
}

// Until has the functions that measure the graph end soon after ctx is done. What they
// return then means nothing: who ends it asks ctx.
func (g *Graph) Until(ctx context.Context) { g.ctx = ctx }

// Together has PageRank keep what it knows of the nodes of a group in one place, which is
// several times as fast where most links lead to a node of the same group, and nodes are not
// in the order of groups.
func (g *Graph) Together(group func(node uint32) uint32) { g.group = group }

// groupOf returns the group of a node; 0: there are none.
func (g *Graph) groupOf(u uint32) uint32 {
	if g.group == nil {
		return 0
	}
	return g.group(u)
}

// ended reports whether nobody waits for results any more.
func (g *Graph) ended() bool { return g.ctx != nil && g.ctx.Err() != nil }

// in returns the graph with every link turned round, which belongs to it.
func (g *Graph) in() *Graph {
	g.turn.Do(func() {
		g.reversed = g.Reverse()
		g.reversed.ctx = g.ctx
	})
	return g.reversed
}

// A Builder makes a graph of links that come by the node that they leave, then by target:
// nothing but the graph is held.
type Builder struct {
	g    *Graph
	last uint32
}

// NewBuilder begins a graph of n nodes, and of about so many links.
func NewBuilder(n, links int, weighted bool) *Builder {
	b := &Builder{g: &Graph{Off: make([]int64, n+1), To: make([]uint32, 0, links)}}
	if weighted {
		b.g.Weight = make([]uint32, 0, links)
	}
	return b
}

// Add adds a link. The weight is of no account where the graph has none.
func (b *Builder) Add(from, to, weight uint32) {
	if from < b.last {
		panic("rank: links in disorder")
	}
	b.last = from
	b.g.Off[from+1]++
	b.g.To = append(b.g.To, to)
	if b.g.Weight != nil {
		b.g.Weight = append(b.g.Weight, weight)
	}
}

// Graph returns the graph, once, and with no more room than it needs.
func (b *Builder) Graph() *Graph {
	b.g.To, b.g.Weight = fitted(b.g.To), fitted(b.g.Weight)
	for i := range b.g.Len() {
		b.g.Off[i+1] += b.g.Off[i]
	}
	return b.g
}

// fitted is a slice without the room that is left behind it, if that is much.
func fitted(s []uint32) []uint32 {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return append(make([]uint32, 0, len(s)), s...)
}

// Build groups the links from[i] -> to[i] among n nodes by counting, in time and
// memory linear in n and the links. A nil weight gives each link the weight 1.
// The slices are read, not kept.
func Build(n int, from, to, weight []uint32) *Graph {
	if n < 0 || n > math.MaxInt32 || len(from) != len(to) || weight != nil && len(weight) != len(from) {
		panic("rank: columns of unequal length, or too many nodes")
	}
	return group(n, to, from, weight).Reverse()
}

// group sorts links by key, in their order.
func group(n int, key, to, weight []uint32) *Graph {
	g := &Graph{Off: offsets(n, key), To: make([]uint32, len(to))}
	if weight != nil {
		g.Weight = make([]uint32, len(to))
	}
	next := append([]int64(nil), g.Off[:n]...)
	for i, u := range key {
		at := next[u]
		next[u]++
		g.To[at] = to[i]
		if weight != nil {
			g.Weight[at] = weight[i]
		}
	}
	return g
}

// offsets returns where each node's row begins once keys are sorted.
func offsets(n int, keys []uint32) []int64 {
	off := make([]int64, n+1)
	for _, k := range keys {
		off[k+1]++
	}
	for i := range n {
		off[i+1] += off[i]
	}
	return off
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return max(len(g.Off)-1, 0) }

// Out returns the targets of u's links. The slice is a part of the graph.
func (g *Graph) Out(u uint32) []uint32 { return g.To[g.Off[u]:g.Off[u+1]] }

// Reverse returns a new graph with every link turned round.
func (g *Graph) Reverse() *Graph {
	r := &Graph{Off: offsets(g.Len(), g.To), To: make([]uint32, len(g.To))}
	if g.Weight != nil {
		r.Weight = make([]uint32, len(g.To))
	}
	next := append([]int64(nil), r.Off[:g.Len()]...)
	for u := range g.Len() {
		if u%chunk == 0 && g.ended() {
			break
		}
		for i := g.Off[u]; i < g.Off[u+1]; i++ {
			at := next[g.To[i]]
			next[g.To[i]]++
			r.To[at] = uint32(u)
			if g.Weight != nil {
				r.Weight[at] = g.Weight[i]
			}
		}
	}
	return r
}

// weight returns the weight of the link at position i of To.
func (g *Graph) weight(i int64) uint32 {
	if g.Weight == nil {
		return 1
	}
	return g.Weight[i]
}

// OutDegree returns how many links leave each node.
func OutDegree(g *Graph) []uint32 {
	degree := make([]uint32, g.Len())
	for u := range degree {
		degree[u] = uint32(g.Off[u+1] - g.Off[u])
	}
	return degree
}

// InDegree returns how many links lead to each node.
func InDegree(g *Graph) []uint32 {
	degree := make([]uint32, g.Len())
	for _, v := range g.To {
		degree[v]++
	}
	return degree
}
