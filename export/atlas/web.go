package atlas

import (
	"cmp"
	"math"
	"slices"

	"github.com/sumi-ripple/ripple/export/rank"
)

// A web is the input of the force simulation: undirected links in compressed sparse rows, and bodies
// with a mass.
type web struct {
	off  []int64
	to   []uint32
	pull []float64 // parallel to to
	mass []float64
}

func (w *web) len() int { return len(w.mass) }

// newWeb ignores directions and loops. The pull of a link is the logarithm of its weight, so that a
// link in every footer does not glue two hosts together. The mass of a node is its degree, so that hubs
// keep their distance.
func newWeb(n int, edges []Edge) *web {
	from, to := make([]uint32, 0, 2*len(edges)), make([]uint32, 0, 2*len(edges))
	weight := make([]uint32, 0, 2*len(edges))
	for _, e := range edges {
		if e.From != e.To {
			from, to = append(from, e.From, e.To), append(to, e.To, e.From)
			weight = append(weight, e.Weight, e.Weight)
		}
	}
	g := rank.Build(n, from, to, weight)
	w := &web{off: make([]int64, n+1), mass: make([]float64, n)}
	for u := range n {
		for i := g.Off[u]; i < g.Off[u+1]; i++ {
			w.add(u, g.To[i], 1+math.Log1p(float64(g.Weight[i])))
		}
		w.off[u+1] = int64(len(w.to))
		w.mass[u] = 1 + float64(w.off[u+1]-w.off[u])
	}
	return w
}

// add appends a link of u, or joins it with the last one.
func (w *web) add(u int, v uint32, pull float64) {
	if last := len(w.to) - 1; int64(last) >= w.off[u] && w.to[last] == v {
		w.pull[last] += pull
		return
	}
	w.to, w.pull = append(w.to, v), append(w.pull, pull)
}

// part returns the web of the given nodes, which have no links to others. local is scratch space as
// long as w.
func (w *web) part(nodes, local []uint32) *web {
	p := &web{off: make([]int64, 1, len(nodes)+1), mass: make([]float64, 0, len(nodes))}
	for i, v := range nodes {
		local[v] = uint32(i)
	}
	for _, v := range nodes {
		for i := w.off[v]; i < w.off[v+1]; i++ {
			p.to, p.pull = append(p.to, local[w.to[i]]), append(p.pull, w.pull[i])
		}
		p.off = append(p.off, int64(len(p.to)))
		p.mass = append(p.mass, w.mass[v])
	}
	return p
}

// brood is how many nodes with a common neighbour are joined.
const brood = 4

// coarsen joins each node with the neighbour of the strongest pull per mass, and remaining nodes with
// others that are attached to the same neighbour. It returns the smaller web, and by node the node
// there.
func (w *web) coarsen() (*web, []uint32) {
	c := joiner{w: w, of: make([]int32, w.len())}
	order := make([]uint32, w.len())
	for v := range order {
		order[v], c.of[v] = uint32(v), -1
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(w.off[a+1]-w.off[a], w.off[b+1]-w.off[b]) })
	for _, v := range order {
		if u, ok := c.mate(v, true); c.of[v] < 0 && ok {
			c.of[v], c.of[u] = c.count, c.count
			c.count++
		}
	}
	broods := map[uint32]*[2]int32{} // by the neighbour they are attached to: node, members
	for _, v := range order {
		if c.of[v] < 0 {
			c.adopt(v, broods)
		}
	}
	return c.shrink()
}

// A joiner decides which nodes are joined.
type joiner struct {
	w     *web
	of    []int32 // -1: undecided
	count int32
}

// mate returns the neighbour with the strongest pull per mass, among those still single or among all.
func (c *joiner) mate(v uint32, single bool) (best uint32, ok bool) {
	strongest := 0.0
	for i := c.w.off[v]; i < c.w.off[v+1]; i++ {
		u := c.w.to[i]
		if pull := c.w.pull[i] / c.w.mass[u]; pull > strongest && (!single || c.of[u] < 0) {
			best, strongest, ok = u, pull, true
		}
	}
	return best, ok
}

// adopt puts a node without a mate into a brood.
func (c *joiner) adopt(v uint32, broods map[uint32]*[2]int32) {
	mother, ok := c.mate(v, false)
	if b := broods[mother]; ok && b != nil && b[1] < brood {
		c.of[v] = b[0]
		b[1]++
		return
	}
	c.of[v] = c.count
	if ok {
		broods[mother] = &[2]int32{c.count, 1}
	}
	c.count++
}

// shrink builds the smaller web.
func (c *joiner) shrink() (*web, []uint32) {
	small := &web{off: make([]int64, c.count+1), mass: make([]float64, c.count)}
	seat := make([]int, c.count) // one past the last link to a node; not above begin: none yet
	of, first, members := c.members()
	for u := range c.count {
		begin := len(small.to)
		for _, v := range members[first[u]:first[u+1]] {
			small.mass[u] += c.w.mass[v]
			for i := c.w.off[v]; i < c.w.off[v+1]; i++ {
				switch to := of[c.w.to[i]]; {
				case to == uint32(u):
				case seat[to] > begin:
					small.pull[seat[to]-1] += c.w.pull[i]
				default:
					small.to, small.pull = append(small.to, to), append(small.pull, c.w.pull[i])
					seat[to] = len(small.to)
				}
			}
		}
		small.off[u+1] = int64(len(small.to))
	}
	return small, of
}

// members lists the nodes that become u: members[first[u]:first[u+1]].
func (c *joiner) members() (of []uint32, first []int64, members []uint32) {
	of, nodes := make([]uint32, len(c.of)), make([]uint32, len(c.of))
	for v := range of {
		of[v], nodes[v] = uint32(c.of[v]), uint32(v)
	}
	g := rank.Build(len(of), of, nodes, nil)
	return of, g.Off, g.To
}
