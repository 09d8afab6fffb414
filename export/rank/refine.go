package rank

import (
	"math/rand/v2"
	"slices"
)

// A refiner divides every group into well-connected parts. It starts with single nodes and only joins
// nodes to parts; it never moves one away.
type refiner struct {
	w        *network
	of       []int32   // by node: group
	part     []int32   // by node: part, named after its first node
	group    []float64 // by group: strength
	strength []float64 // by part
	cut      []float64 // by part: weight of the links to the rest of its group
	single   []bool    // by part
	ahead    *outlook
}

// refine returns the part of each node, numbered in the order of their first nodes, and the number of
// parts. A part is within one group of of.
func refine(w *network, of []int32, random *rand.Rand) ([]int32, int) {
	r := newRefiner(w, of)
	r.join(shuffled(w.len(), random))
	return number(r.part, w.len())
}

func newRefiner(w *network, of []int32) *refiner {
	n := w.len()
	r := &refiner{w: w, of: of, part: singletons(n), group: make([]float64, n),
		strength: append([]float64(nil), w.strength...), cut: make([]float64, n), single: make([]bool, n)}
	r.ahead = newOutlook(w.ctx, ahead(n), r.look)
	r.begin()
	return r
}

// join lets each node that is still alone join a part, in the given order.
func (r *refiner) join(order []uint32) {
	for len(order) > 0 {
		next := order[:min(len(order), r.ahead.most)]
		order = order[len(next):]
		r.ahead.over(next)
		if r.w.ended() {
			break
		}
		for i, v := range next {
			if r.single[v] && r.well(int32(v)) {
				r.settle(v, i)
			}
		}
	}
}

// begin sums the strength of the groups and each node's links to its own group.
func (r *refiner) begin() {
	for v, strength := range r.strength {
		r.single[v] = true
		r.group[r.of[v]] += strength
	}
	n := len(r.of)
	eachChunkWith(r.w.ctx, toolsFor[row](chunks(n)), n, func(room *row, _, lo, hi int) {
		for v := lo; v < hi; v++ {
			neighbours, weight := r.w.row(uint32(v), room)
			for i, u := range neighbours {
				if r.of[u] == r.of[v] {
					r.cut[v] += float64(weight[i])
				}
			}
		}
	})
}

// look collects the neighbours of a node in its group by part.
func (r *refiner) look(v uint32, e *eye) {
	e.near.clear()
	if !r.single[v] {
		return
	}
	neighbours, weight := r.w.row(v, &e.row)
	for i, u := range neighbours {
		if r.of[u] == r.of[v] {
			e.near.add(r.part[u], weight[i])
		}
	}
}

// well reports whether a part has at least as many links to the rest of its group as expected by
// chance.
func (r *refiner) well(part int32) bool {
	all := r.group[r.of[part]]
	return r.cut[part] >= r.strength[part]*(all-r.strength[part])/max(r.w.total, 1)
}

// settle moves a node that is still alone, the i-th node inspected ahead, into the neighbouring part
// with the largest gain.
func (r *refiner) settle(v uint32, i int) {
	s := r.ahead.at(i)
	if slices.ContainsFunc(s.groups, r.gone) {
		s = r.ahead.again(v)
	}
	best, gain, link := int32(v), 0.0, 0.0
	for i, part := range s.groups {
		g := s.weight[i] - r.w.strength[v]*r.strength[part]/max(r.w.total, 1)
		if part != int32(v) && g > gain && r.well(part) {
			best, gain, link = part, g, s.weight[i]
		}
	}
	if best == int32(v) {
		return
	}
	r.part[v] = best
	r.single[best] = false
	r.strength[best] += r.strength[v]
	r.cut[best] += r.cut[v] - 2*link
	r.strength[v], r.cut[v] = 0, 0
}

// gone reports whether the only node of a part has joined another one.
func (r *refiner) gone(part int32) bool { return r.part[part] != part }

// open marks parts without a number.
const open = -1

// number renumbers parts, all below limit, to 0, 1, ... in the order of their first nodes, in place,
// and returns their count.
func number(part []int32, limit int) ([]int32, int) {
	count := int32(0)
	name := make([]int32, limit)
	for i := range name {
		name[i] = open
	}
	for v, p := range part {
		if name[p] == open {
			name[p] = count
			count++
		}
		part[v] = name[p]
	}
	return part, int(count)
}
