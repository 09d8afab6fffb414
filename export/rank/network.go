package rank

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
)

// A network is an undirected weighted graph: every link is in the rows of both ends, and there are no
// loops. Sums of weights are whole numbers, exact up to 2^53. The weight of a pair of nodes is limited
// to 2^32-1, which is more than any terrain has.
//
// The network of a graph stores no rows. It builds them on request, because they would take six times
// the memory of the graph. The rows of other networks are packed.
type network struct {
	ctx      context.Context // of the graph
	graph    *Graph          // nil: the rows are those in packed
	packed   [][]byte        // packed rows, packedRows per element
	end      []int64         // by node: end of its row in packed
	strength []float64       // weight of all links of a node, plus twice that of links inside it
	total    float64         // sum of strength
}

func (w *network) len() int { return len(w.strength) }

// ended reports whether the work was cancelled.
func (w *network) ended() bool { return w.ctx != nil && w.ctx.Err() != nil }

// undirect returns g without directions, with the links of a pair joined.
func undirect(g *Graph) *network {
	w := &network{ctx: g.ctx, graph: g, strength: make([]float64, g.Len())}
	g.in() // computed once, before concurrent use
	eachChunkWith(g.ctx, toolsFor[row](chunks(g.Len())), g.Len(), func(r *row, _, lo, hi int) {
		for u := lo; u < hi; u++ {
			_, weight := w.row(uint32(u), r)
			for _, one := range weight {
				w.strength[u] += float64(one)
			}
		}
	})
	w.total = sum(w.strength)
	return w
}

// A row is a buffer for the links of a node.
type row struct {
	to     []uint32
	weight []uint32
}

// row returns the neighbours of u and the weights of the links to them. The slices are valid until r is
// used again.
func (w *network) row(u uint32, r *row) (to, weight []uint32) {
	if w.graph != nil {
		r.merge(w.graph, w.graph.in(), u)
	} else {
		r.unpack(w.packedRow(u))
	}
	return r.to, r.weight
}

// merge reads the neighbours of u, ascending.
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

// add appends a link of u, or joins it with the last one.
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

// shrink returns a network in which each of count parts is one node. The result must not be used if the
// work was cancelled.
func (w *network) shrink(parts []int32, count int) *network {
	jobs := (count + packedRows - 1) / packedRows
	small := &network{
		ctx: w.ctx, packed: make([][]byte, jobs), end: make([]int64, count), strength: make([]float64, count),
	}
	first, members := membersOf(parts, count)
	share(w.ctx, toolsFor[folding](jobs), jobs, func(f *folding, job int) {
		f.rows = f.rows[:0]
		for part := job * packedRows; part < min((job+1)*packedRows, count); part++ {
			own := members[first[part]:first[part+1]]
			f.add(w, parts, int32(part), own)
			small.end[part] = int64(len(f.rows))
			for _, v := range own {
				small.strength[part] += w.strength[v]
			}
		}
		small.packed[job] = slices.Clone(f.rows)
	})
	small.total = sum(small.strength)
	return small
}

// A folding sums the links from parts of a network to others.
type folding struct {
	rows []byte // packed
	near near
	row  row
}

// add appends the row of a part.
func (f *folding) add(w *network, parts []int32, part int32, members []uint32) {
	f.near.clear()
	for _, v := range members {
		neighbours, weight := w.row(v, &f.row)
		for i, u := range neighbours {
			if parts[u] != part {
				f.near.add(parts[u], weight[i])
			}
		}
	}
	for i, other := range f.near.touched {
		f.rows = binary.AppendUvarint(f.rows, uint64(other))
		f.rows = binary.AppendUvarint(f.rows, uint64(min(f.near.weight[i], math.MaxUint32)))
	}
}

// packedRows is the number of rows stored together.
const packedRows = 1 << 8

// packedRow returns the row of a node: each neighbour and the weight, as varints.
func (w *network) packedRow(u uint32) []byte {
	begin := int64(0)
	if u%packedRows > 0 {
		begin = w.end[u-1]
	}
	return w.packed[u/packedRows][begin:w.end[u]]
}

// unpack reads the neighbours in a packed row.
func (r *row) unpack(packed []byte) {
	r.to, r.weight = r.to[:0], r.weight[:0]
	for len(packed) > 0 {
		to, n := binary.Uvarint(packed)
		weight, m := binary.Uvarint(packed[n:])
		r.to, r.weight = append(r.to, uint32(to)), append(r.weight, uint32(weight))
		packed = packed[n+m:]
	}
}

// shuffled returns the numbers below n in random order. The order is that of [rand.Rand.Perm], in half
// the memory.
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
	for v := len(parts) - 1; v >= 0; v-- { // moves first from the ends of the parts to their beginnings
		part := parts[v]
		first[part]--
		members[first[part]] = uint32(v)
	}
	return first, members
}
