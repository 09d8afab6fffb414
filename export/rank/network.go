package rank

import (
	"context"
	"math"
	"math/rand/v2"
)

// A network is an undirected weighted graph: every link is in the rows of both
// its ends, none leads to its own node. Sums of weights are whole numbers and exact up to
// 2^53; of one pair of nodes no more than 2^32-1 counts, which is more than any terrain has.
//
// The first one of a graph holds no rows: it puts them together when they are asked for,
// as they would take six times the memory of the graph.
type network struct {
	ctx      context.Context // of the graph
	graph    *Graph          // nil: the rows are those below
	off      []int64
	to       []uint32
	weight   []uint32
	strength []float64 // weight of all links at a node and, twice, of those inside it
	total    float64   // sum of strength
}

func (w *network) len() int { return len(w.strength) }

// ended reports whether nobody waits for results any more.
func (w *network) ended() bool { return w.ctx != nil && w.ctx.Err() != nil }

// undirect leaves the directions out of g and joins links of one pair.
func undirect(g *Graph) *network {
	w := &network{ctx: g.ctx, graph: g, strength: make([]float64, g.Len())}
	var r row
	for u := range w.strength {
		if u%chunk == 0 && g.ended() {
			break
		}
		_, weight := w.row(uint32(u), &r)
		for _, one := range weight {
			w.strength[u] += float64(one)
		}
		w.total += w.strength[u]
	}
	return w
}

// A row has room for the links of a node.
type row struct {
	to     []uint32
	weight []uint32
}

// row returns the neighbours of u, with the weights of the links to them. The slices are
// parts of the network, or of r until that is used again.
func (w *network) row(u uint32, r *row) (to, weight []uint32) {
	if w.graph == nil {
		return w.to[w.off[u]:w.off[u+1]], w.weight[w.off[u]:w.off[u+1]]
	}
	r.merge(w.graph, w.graph.in(), u)
	return r.to, r.weight
}

// merge takes the neighbours of u, ascending.
func (r *row) merge(out, in *Graph, u uint32) {
	r.to, r.weight = r.to[:0], r.weight[:0]
	i, iEnd, j, jEnd := out.Off[u], out.Off[u+1], in.Off[u], in.Off[u+1]
	for i < iEnd || j < jEnd {
		if j == jEnd || i < iEnd && out.To[i] <= in.To[j] {
			r.add(u, out.To[i], out.weight(i))
			i++
		} else {
			r.add(u, in.To[j], in.weight(j))
			j++
		}
	}
}

// add puts a link behind the others of u, or joins it with the last one.
func (r *row) add(u, v, weight uint32) {
	last := len(r.to) - 1
	switch {
	case v == u || weight == 0:
	case last >= 0 && r.to[last] == v:
		r.weight[last] += min(weight, math.MaxUint32-r.weight[last])
	default:
		r.to = append(r.to, v)
		r.weight = append(r.weight, weight)
	}
}

// shrink makes each of count parts one node. It goes through the links twice: once to
// count those that are left, so that there is room for no more. When nobody waits any more
// the result must not be used.
func (w *network) shrink(parts []int32, count int) *network {
	small := &network{ctx: w.ctx, off: make([]int64, count+1), strength: make([]float64, count)}
	first, members := membersOf(parts, count)
	f := &folding{w: w, parts: parts, near: newNear(count)}
	for part := range count {
		if part%chunk == 0 && w.ended() {
			break
		}
		f.add(int32(part), members[first[part]:first[part+1]])
		small.off[part+1] = small.off[part] + int64(len(f.near.touched))
		f.near.clear()
	}
	small.to = make([]uint32, 0, small.off[count])
	small.weight = make([]uint32, 0, small.off[count])
	for part := range count {
		if part%chunk == 0 && w.ended() {
			break
		}
		own := members[first[part]:first[part+1]]
		f.add(int32(part), own)
		for _, other := range f.near.touched {
			small.to = append(small.to, uint32(other))
			small.weight = append(small.weight, uint32(min(f.near.weight[other], math.MaxUint32)))
		}
		f.near.clear()
		for _, v := range own {
			small.strength[part] += w.strength[v]
		}
		small.total += small.strength[part]
	}
	return small
}

// A folding adds up the links from parts of a network to others.
type folding struct {
	w     *network
	parts []int32
	near  *near // of the part that was added last
	row   row
}

func (f *folding) add(part int32, members []uint32) {
	for _, v := range members {
		neighbours, weight := f.w.row(v, &f.row)
		for i, u := range neighbours {
			if f.parts[u] != part {
				f.near.add(f.parts[u], weight[i])
			}
		}
	}
}

// shuffled returns the numbers below n in the order that random gives, which is that of
// [rand.Rand.Perm] in half the memory.
func shuffled(n int, random *rand.Rand) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// membersOf lists the nodes by part: those of p are members[first[p]:first[p+1]].
func membersOf(parts []int32, count int) (first, members []uint32) {
	first, members = make([]uint32, count+1), make([]uint32, len(parts))
	for _, part := range parts {
		first[part]++
	}
	for part := range count {
		first[part+1] += first[part]
	}
	for v := len(parts) - 1; v >= 0; v-- { // from their ends to their beginnings
		part := parts[v]
		first[part]--
		members[first[part]] = uint32(v)
	}
	return first, members
}

// near adds up weights, none of which is 0, by group and forgets them in the time that it took.
type near struct {
	weight  []float64
	touched []int32 // in the order of the first touch
}

func newNear(n int) *near { return &near{weight: make([]float64, n)} }

func (n *near) add(id int32, weight uint32) {
	if n.weight[id] == 0 {
		n.touched = append(n.touched, id)
	}
	n.weight[id] += float64(weight)
}

func (n *near) clear() {
	for _, id := range n.touched {
		n.weight[id] = 0
	}
	n.touched = n.touched[:0]
}
