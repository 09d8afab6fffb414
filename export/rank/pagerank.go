package rank

import (
	"math"
	"runtime"
	"slices"
)

// Damping and Tolerance are suitable for most callers.
const (
	Damping   = 0.85
	Tolerance = 1e-13
)

// steps limits the iterations of PageRank.
const steps = 1000

// PageRank returns, for each node, the share of its time that a random walker spends there. With
// probability damping the walker follows a link, chosen by weight; otherwise, and always at a node
// without links, it jumps to any node. The shares add up to 1. The iteration ends when a step
// changes less than tol in total, or after 1,000 steps.
func PageRank(g *Graph, damping, tol float64) []float64 {
	return newWalk(g, nil, damping).run(tol)
}

// Personalised is [PageRank] for a walker whose jumps end at each node with the given probability. It
// measures the proximity to the nodes that are jumped to. jumps is indexed by node and adds up to 1;
// nil means PageRank. It is not modified.
func Personalised(g *Graph, jumps []float64, damping, tol float64) []float64 {
	return newWalk(g, jumps, damping).run(tol)
}

// A walk solves the equations of PageRank iteratively. The visits of the walker to a node are expressed
// as a multiple of its jumps. This makes the equations linear; the number of jumps follows in the end.
//
// Only givers take part in the iteration: nodes whose links have weight. The values of the others
// follow from the last step. What a giver passes along a link of weight 1 is computed once per step, so
// each node only gathers. From givers in its own chunk it takes the current value, which for those
// before it is that of this step; from all others it takes the value after the last step (Gauss and
// Seidel). Because most links lead to near nodes, this saves half of the steps, and the result is the
// same on any number of cores. When the steps show a trend, it is extrapolated at once, which saves
// half of the rest.
type walk struct {
	out     *Graph
	givers  []uint32 // by number of the giver: its node
	number  []uint32 // by node: number of the giver plus 1; 0: no giver; nil: the givers are the first nodes
	in      *Graph   // by giver: indices in flow of the givers that link to it
	damping float64
	jumpTo  []float64 // by node: probability that a jump ends there; nil: the same for all
	jump    float64   // that probability if it is the same for all
	split   []float64 // by giver: damping / weight of all out-links
	rank    []float64 // by giver
	flow    []float64 // by giver: rank * split after the last step; followed by the current values
	held    []float64 // by chunk of givers: sum of their rank
	change  []float64 // by chunk of givers: change in this step
	trend   trend
}

func newWalk(g *Graph, jumps []float64, damping float64) *walk {
	w := &walk{out: g, damping: damping, jumpTo: jumps, jump: 1 / float64(g.Len())}
	w.find()
	w.in = w.turned()
	n := len(w.givers)
	w.split, w.rank, w.flow = make([]float64, n), make([]float64, n), make([]float64, 2*n)
	w.held, w.change = make([]float64, chunks(n)), make([]float64, chunks(n))
	eachChunk(g.ctx, n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			w.split[i] = damping / outWeight(g, w.givers[i])
			w.rank[i] = w.jumps(w.givers[i])
			w.flow[n+i] = w.rank[i] * w.split[i]
		}
	})
	w.settle()
	return w
}

// jumps returns the probability that a jump ends at u.
func (w *walk) jumps(u uint32) float64 {
	if w.jumpTo == nil {
		return w.jump
	}
	return w.jumpTo[u]
}

// find numbers the givers. Those of one group get consecutive numbers.
func (w *walk) find() {
	var keys []uint64
	for u := range uint32(w.out.Len()) {
		if outWeight(w.out, u) > 0 {
			keys = append(keys, uint64(w.out.groupOf(u))<<32|uint64(u))
		}
	}
	slices.Sort(keys)
	w.givers = make([]uint32, len(keys))
	first := true
	for i, key := range keys {
		w.givers[i] = uint32(key)
		first = first && w.givers[i] == uint32(i)
	}
	if first {
		return
	}
	w.number = make([]uint32, w.out.Len())
	for i, u := range w.givers {
		w.number[u] = uint32(i + 1)
	}
}

// giver returns the number of a node, if it is a giver.
func (w *walk) giver(u uint32) (number uint32, ok bool) {
	if w.number == nil {
		return u, u < uint32(len(w.givers))
	}
	number = w.number[u]
	return number - 1, number != 0
}

// turned returns the links between givers by target, as indices in flow.
func (w *walk) turned() *Graph {
	r := &Graph{Off: make([]int64, len(w.givers)+1)}
	w.eachRow(func(_ int, row []uint32, _ int64) {
		for _, to := range row {
			if giver, ok := w.giver(to); ok {
				r.Off[giver+1]++
			}
		}
	})
	for i := range w.givers {
		r.Off[i+1] += r.Off[i]
	}
	r.To = make([]uint32, r.Off[len(w.givers)])
	if w.out.Weight != nil {
		r.Weight = make([]uint32, len(r.To))
	}
	next := slices.Clone(r.Off)
	w.eachRow(func(from int, row []uint32, begin int64) {
		for i, to := range row {
			giver, ok := w.giver(to)
			if !ok {
				continue
			}
			at := next[giver]
			next[giver]++
			if r.To[at] = uint32(from); from/chunk == int(giver)/chunk {
				r.To[at] += uint32(len(w.givers))
			}
			if r.Weight != nil {
				r.Weight[at] = w.out.Weight[begin+int64(i)]
			}
		}
	})
	return r
}

// eachRow calls f for the links of every giver, with their first index in the graph. It stops if the
// work was cancelled.
func (w *walk) eachRow(f func(giver int, row []uint32, begin int64)) {
	for i, u := range w.givers {
		if i%chunk == 0 && w.out.ended() {
			return
		}
		f(i, w.out.Out(u), w.out.Off[u])
	}
}

// outWeight returns the weight of all outgoing links of u.
func outWeight(g *Graph, u uint32) float64 {
	if g.Weight == nil {
		return float64(g.Off[u+1] - g.Off[u])
	}
	total := uint64(0)
	for _, weight := range g.Weight[g.Off[u]:g.Off[u+1]] {
		total += uint64(weight)
	}
	return float64(total)
}

// run iterates until a step changes less than tol.
func (w *walk) run(tol float64) []float64 {
	for range steps {
		w.step()
		change := sum(w.change)
		if w.most(change) < tol || w.out.ended() {
			break
		}
		if ratio, ok := w.trend.of(change); ok {
			w.follow(ratio / (1 - ratio))
		}
		w.settle()
	}
	w.settle()
	return w.all()
}

// jumping returns the share of jumps.
func (w *walk) jumping() float64 { return 1 / (1 + w.damping*sum(w.held)) }

// most returns an upper bound on the change of all shares in a step, given the change of the givers:
// the givers' shares change by that, those of the others by at most damping times that, and all of them
// once more because the share of jumps changes.
func (w *walk) most(change float64) float64 { return (2 + w.damping) * w.jumping() * change }

// step lets every giver gather its inflow.
func (w *walk) step() {
	n := len(w.givers)
	eachChunk(w.out.ctx, n, func(part, lo, hi int) {
		held, change := 0.0, 0.0
		for i := lo; i < hi; i++ {
			gathered := w.jumps(w.givers[i]) + w.gather(i)
			held += gathered
			change += max(gathered-w.rank[i], w.rank[i]-gathered)
			w.rank[i], w.flow[n+i] = gathered, gathered*w.split[i]
		}
		w.held[part], w.change[part] = held, change
	})
}

// gather sums the inflow of a giver.
func (w *walk) gather(giver int) float64 {
	total := 0.0
	lo, hi := w.in.Off[giver], w.in.Off[giver+1]
	if w.in.Weight == nil {
		for _, from := range w.in.To[lo:hi] {
			total += w.flow[from]
		}
		return total
	}
	for i := lo; i < hi; i++ {
		total += w.flow[w.in.To[i]] * float64(w.in.Weight[i])
	}
	return total
}

// settle ends a step: the current flow becomes that of the last step.
func (w *walk) settle() {
	n := len(w.givers)
	eachChunk(w.out.ctx, n, func(_, lo, hi int) { copy(w.flow[lo:hi], w.flow[n+lo:]) })
}

// follow extrapolates the last step by a factor.
func (w *walk) follow(times float64) {
	n := len(w.givers)
	eachChunk(w.out.ctx, n, func(part, lo, hi int) {
		w.held[part] = 0
		for i := lo; i < hi; i++ {
			w.flow[n+i] = max(0, w.flow[n+i]+times*(w.flow[n+i]-w.flow[i]))
			w.rank[i] = w.flow[n+i] / w.split[i]
			w.held[part] += w.rank[i]
		}
	})
}

// all returns the shares of all nodes after the last step.
func (w *walk) all() []float64 {
	rank := make([]float64, w.out.Len())
	if w.out.ended() {
		return rank
	}
	jumping := w.jumping()
	cores := runtime.GOMAXPROCS(0)
	share(w.out.ctx, make([]struct{}, cores), cores, func(_ *struct{}, part int) {
		lo, hi := len(rank)*part/cores, len(rank)*(part+1)/cores
		w.fill(rank, uint32(lo), uint32(hi), jumping)
	})
	for i, u := range w.givers {
		rank[u] = jumping * w.rank[i]
	}
	return rank
}

// fill computes the shares of the nodes from lo to hi-1 that are not givers.
func (w *walk) fill(rank []float64, lo, hi uint32, jumping float64) {
	for u := lo; u < hi; u++ {
		rank[u] = jumping * w.jumps(u)
	}
	w.eachRow(func(giver int, row []uint32, begin int64) {
		flow := jumping * w.flow[giver]
		for i, to := range row {
			if _, gives := w.giver(to); to >= lo && to < hi && !gives {
				rank[to] += flow * float64(w.out.weight(begin+int64(i)))
			}
		}
	})
}

// A trend observes how the changes of steps decrease.
type trend struct {
	change, ratio float64 // of the last step
	steps         int     // since the last extrapolation, or the start
	patience      int     // number of steps before the next extrapolation
}

// of takes the change of a step and returns its ratio to the previous one. ok means that there is a
// trend to extrapolate: the ratio has been nearly constant for some time. If an extrapolation did not
// bring the next step nearer, because the changes oscillate, twice as many steps are required before
// the next one.
func (t *trend) of(change float64) (ratio float64, ok bool) {
	ratio = change / t.change
	if t.patience == 0 {
		t.patience = 4
	}
	if t.steps == 0 && ratio > t.ratio && t.ratio > 0 {
		t.patience *= 2
	}
	steady := ratio < 1 && math.Abs(ratio-t.ratio) < 0.01
	t.change, t.ratio, t.steps = change, ratio, t.steps+1
	if ok = steady && t.steps > t.patience; ok {
		t.steps = 0
	}
	return ratio, ok
}
