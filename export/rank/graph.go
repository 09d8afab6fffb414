// Package rank measures a graph of links: which nodes matter, which are connected, and which form
// communities.
//
// A graph is plain arrays: nodes are the numbers 0 to n-1, links are grouped by source (compressed
// sparse rows). The package knows neither stores, hosts nor pages; the caller keeps the names.
//
// Every result depends only on the graph and the seed, bit by bit, on any number of cores: sums are
// computed per node or per chunk of fixed size, never in the order in which goroutines end. Functions
// use all cores, keep no state and may be called concurrently on one graph, which they only read.
//
// A graph takes 4 bytes per link and, when it is measured, as much again for the reverse graph, and
// once more during PageRank. In addition, every measure takes 50 to 80 bytes per node, and Communities
// 6 to 12 bytes per link between its smallest groups, which in a terrain contain most links.
//
// A node id that is not below the number of nodes is a mistake of the caller and panics like an index
// out of range.
package rank

import (
	"context"
	"math"
	"sync"
)

// A Graph holds directed links in compressed sparse rows, as built by [Build]. The links of node u are
// To[Off[u]:Off[u+1]], ascending. A link given twice is stored twice and counts twice where weights
// count.
type Graph struct {
	Off    []int64  // one more than the number of nodes
	To     []uint32 // targets of the links
	Weight []uint32 // parallel to To; nil: every link has weight 1

	ctx      context.Context          // set by [Graph.Until]; nil: none
	group    func(node uint32) uint32 // set by [Graph.Together]; nil: none
	turn     sync.Once
	reversed *Graph // built once, by turn
}

// Until makes the functions that measure the graph stop soon after ctx is done. Their results are then
// meaningless, so the caller must check ctx.
func (g *Graph) Until(ctx context.Context) { g.ctx = ctx }

// Together makes PageRank store data of the nodes in a group next to each other. This is several times
// as fast if most links stay within a group and the nodes are not sorted by group.
func (g *Graph) Together(group func(node uint32) uint32) { g.group = group }

// groupOf returns the group of a node, or 0 if there are no groups.
func (g *Graph) groupOf(u uint32) uint32 {
	if g.group == nil {
		return 0
	}
	return g.group(u)
}

// ended reports whether the work was cancelled.
func (g *Graph) ended() bool { return g.ctx != nil && g.ctx.Err() != nil }

// in returns the reverse graph, which belongs to g.
func (g *Graph) in() *Graph {
	g.turn.Do(func() {
		g.reversed = g.Reverse()
		g.reversed.ctx = g.ctx
	})
	return g.reversed
}

// Build groups the links from[i] -> to[i] among n nodes by counting, in time and memory linear in n and
// the links. If weight is nil, each link has weight 1. The slices are read, not kept.
func Build(n int, from, to, weight []uint32) *Graph {
	if n < 0 || n > math.MaxInt32 || len(from) != len(to) || weight != nil && len(weight) != len(from) {
		panic("rank: columns of unequal length, or too many nodes")
	}
	return group(n, to, from, weight).Reverse()
}

// group sorts links by key, keeping their order.
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

// offsets returns where each node's row begins once the keys are sorted.
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

// Reverse returns a new graph with every link reversed.
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
