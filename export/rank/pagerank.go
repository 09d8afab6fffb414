package rank

import (
	"math"
	"runtime"
	"slices"
)

// Damping and Tolerance are what most callers want.
const (
	Damping   = 0.85
	Tolerance = 1e-13
)

// steps bounds the iterations of PageRank whatever the damping and tolerance.
const steps = 1000

// PageRank returns the share of its time that a walker spends at each node who
// follows a link with probability damping, chosen by weight, and otherwise jumps
// to any node; from a node without links it always jumps. The shares add up to 1.
// It ends when a step changes less than tol in all, or after 1,000 steps.
func PageRank(g *Graph, damping, tol float64) []float64 {
	return newWalk(g, nil, damping).run(tol)
}

// Personalised is [PageRank] for a walker whose jumps end at each node with a probability of its
// own: nearness to the nodes that he jumps to. The jumps are by node and add up to 1; without
// any, nil, it is PageRank. They are not changed.
func Personalised(g *Graph, jumps []float64, damping, tol float64) []float64 {
	return newWalk(g, jumps, damping).run(tol)
}

// A walk solves the equations of PageRank in steps. How often the walker comes by at a node is
// told as a multiple of how often he jumps: so the equations are linear, and how often he jumps
// follows in the end.
//
// Only givers take part in it: nodes whose links weigh something. What the others have follows
// from the last step. What a giver gives along a link of weight 1 is worked out once per step,
// so that each only gathers: from givers of its own chunk what they have by now, which for those
// before it is that of this step, from all others what they had after the last one (Gauss and
// Seidel). As most links lead near, that takes half of the steps, and it is the same on any
// number of cores. When the steps have found their trend, it is followed to its end at once,
// which saves half of the rest.
type walk struct {
	out     *Graph
	givers  []uint32 // nodes, by the number of the giver
	number  []uint32 // by node: that number and 1; 0: no giver; nil: the givers are the first nodes
	in      *Graph   // by giver: the places in flow of the givers that link to it
	damping float64
	jumpTo  []float64 // by node: the probability that a jump ends there; nil: the same of all
	jump    float64   // that of each where it is the same
	split   []float64 // by giver: damping / weight of all out-links
	rank    []float64 // by giver
	flow    []float64 // by giver: rank * split after the last step; and behind all, the same by now
	held    []float64 // per chunk of givers: their rank
	change  []float64 // per chunk of givers: how much this step changed
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

// find numbers the givers, those of one group one after the other.
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

// turned returns the links between givers by where they lead, as places in flow.
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

// eachRow calls f for the links of every giver, with where they begin in the graph, until
// nobody waits for it.
func (w *walk) eachRow(f func(giver int, row []uint32, begin int64)) {
	for i, u := range w.givers {
		if i%chunk == 0 && w.out.ended() {
			return
		}
		f(i, w.out.Out(u), w.out.Off[u])
	}
}

// outWeight returns the weight of all links that leave u.
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

// run walks until a step changes less than tol.
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

// jumping is how often the walker jumps.
func (w *walk) jumping() float64 { return 1 / (1 + w.damping*sum(w.held)) }

// most is what a step has changed at most of the shares of all nodes, given what it has changed
// of givers: their shares by as much, those of the others by no more than damping leaves of it,
// and all of them once more, because the walker jumps more often or less.
func (w *walk) most(change float64) float64 { return (2 + w.damping) * w.jumping() * change }

// step lets every giver gather what flows to it.
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

// gather adds up what flows along the links to a giver.
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

// settle ends a step: what flows by now is what has flowed.
func (w *walk) settle() {
	n := len(w.givers)
	eachChunk(w.out.ctx, n, func(_, lo, hi int) { copy(w.flow[lo:hi], w.flow[n+lo:]) })
}

// follow goes on as a step did, so many times as far.
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

// all returns what every node has after the last step.
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

// fill fills in what the nodes from lo to before hi have, but for givers.
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

// A trend tells how fast steps change less and less.
type trend struct {
	change, ratio float64 // of the last step
	steps         int     // since it was followed, or at first
	patience      int     // how many of them there must be before it is followed again
}

// of takes the change of a step and returns its ratio to that before, ok if this is a trend to
// follow: it is about that of the step before, for some time. Where following it brought the
// next step no nearer, as it swings to and fro, there must be twice as many steps.
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
