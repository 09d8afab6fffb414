package rank

import "math/rand/v2"

// A refiner divides every group into parts that are well connected: it begins
// with single nodes and only ever joins a node to a part, never moves one away.
type refiner struct {
	w        *network
	of       []int32   // node to group
	part     []int32   // node to part, named after its first node
	group    []float64 // strength per group
	strength []float64 // per part
	cut      []float64 // per part: weight of the links to the rest of its group
	single   []bool    // per part
	near     *near
	row      row
}

// refine returns the part of each node, numbered in the order of their first
// nodes, with their count. Parts never reach beyond a group of of.
func refine(w *network, of []int32, random *rand.Rand) ([]int32, int) {
	n := w.len()
	r := &refiner{w: w, of: of, part: singletons(n), group: make([]float64, n),
		strength: append([]float64(nil), w.strength...), cut: make([]float64, n), single: make([]bool, n), near: newNear(n)}
	for v := range n {
		if v%chunk == 0 && w.ended() {
			break
		}
		r.single[v] = true
		r.group[of[v]] += w.strength[v]
		neighbours, weight := w.row(uint32(v), &r.row)
		for i, u := range neighbours {
			if of[u] == of[v] {
				r.cut[v] += float64(weight[i])
			}
		}
	}
	for i, v := range shuffled(n, random) {
		if i%chunk == 0 && w.ended() {
			break
		}
		if r.single[v] && r.well(int32(v)) {
			r.join(uint32(v))
		}
	}
	return number(r.part, n)
}

// well reports whether a part has at least the links to the rest of its group
// that chance would give it.
func (r *refiner) well(part int32) bool {
	all := r.group[r.of[part]]
	return r.cut[part] >= r.strength[part]*(all-r.strength[part])/max(r.w.total, 1)
}

// join puts a node that is still alone into the neighbouring part that gains most.
func (r *refiner) join(v uint32) {
	neighbours, weight := r.w.row(v, &r.row)
	for i, u := range neighbours {
		if r.of[u] == r.of[v] {
			r.near.add(r.part[u], weight[i])
		}
	}
	defer r.near.clear()
	best, gain := int32(v), 0.0
	for _, part := range r.near.touched {
		g := r.near.weight[part] - r.w.strength[v]*r.strength[part]/max(r.w.total, 1)
		if part != int32(v) && g > gain && r.well(part) {
			best, gain = part, g
		}
	}
	if best == int32(v) {
		return
	}
	r.part[v] = best
	r.single[best] = false
	r.strength[best] += r.strength[v]
	r.cut[best] += r.cut[v] - 2*r.near.weight[best]
	r.strength[v], r.cut[v] = 0, 0
}

// number renames parts, all below limit, to 0, 1, ... in the order of their first
// nodes, in place, and counts them.
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
