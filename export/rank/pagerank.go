package rank

import (
	"math"
	"slices"
)

// Damping and Tolerance are what [Personalised] uses and most callers of
// [PageRank] want.
const (
	Damping   = 0.85
	Tolerance = 1e-9
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

// Personalised is [PageRank] with [Damping] and [Tolerance] for a walker who
// jumps to the sources only: nearness to them. A source given twice counts once;
// without sources it is PageRank.
func Personalised(g *Graph, sources []uint32) []float64 {
	return newWalk(g, jumps(g.Len(), sources), Damping).run(Tolerance)
}

// jumps spreads 1 evenly over the sources.
func jumps(n int, sources []uint32) []float64 {
	if len(sources) == 0 {
		return nil
	}
	jump, different := make([]float64, n), 0
	for _, s := range sources {
		if jump[s] == 0 {
			jump[s] = 1
			different++
		}
	}
	for i := range jump {
		jump[i] /= float64(different)
	}
	return jump
}

// A walk is one power iteration. Only givers take part in it: nodes whose links weigh
// something. What a giver gives along a link of weight 1 is worked out once per step, so that
// each only gathers; what the others have follows from the last step.
type walk struct {
	out     *Graph
	givers  []uint32 // nodes, by the number of the giver
	number  []uint32 // by node: that number and 1; 0: no giver
	in      *Graph   // by giver: the givers that link to it
	damping float64
	jump    []float64 // by node; nil: anywhere, alike
	split   []float64 // by giver: damping / weight of all out-links
	leak    []float32 // by giver: the share of that weight that leads to others than givers
	rank    []float64 // by giver
	flow    []float64 // by giver: rank * split, of the last step
	next    []float64 // the same, of this step; of the one before once that is over
	jumping float64   // the share of jumps in the last step
	held    []float64 // per chunk of givers: their rank
	change  []float64 // per chunk of givers: how much this step changed
	leaking []float64 // per chunk of givers: the part of that which the next step brings to others
}

func newWalk(g *Graph, jump []float64, damping float64) *walk {
	w := &walk{out: g, damping: damping, jump: jump}
	w.find()
	n := len(w.givers)
	w.leak, w.leaking = make([]float32, n), make([]float64, chunks(n))
	w.in = w.turned()
	w.split, w.rank, w.flow, w.next = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	w.held, w.change = make([]float64, chunks(n)), make([]float64, chunks(n))
	eachChunk(g.ctx, n, func(part, lo, hi int) {
		for i := lo; i < hi; i++ {
			weight := outWeight(g, w.givers[i])
			w.split[i] = damping / weight
			w.leak[i] /= float32(weight)
			w.rank[i] = w.jumpTo(w.givers[i])
			w.flow[i] = w.rank[i] * w.split[i]
			w.held[part] += w.rank[i]
		}
	})
	return w
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
	w.givers, w.number = make([]uint32, len(keys)), make([]uint32, w.out.Len())
	for i, key := range keys {
		w.givers[i] = uint32(key)
		w.number[uint32(key)] = uint32(i + 1)
	}
}

// turned returns the links between givers, by where they lead, and adds up the weight of others.
func (w *walk) turned() *Graph {
	r := &Graph{Off: make([]int64, len(w.givers)+1)}
	w.eachLink(func(from int, to uint32, link int64) {
		if to := w.number[to]; to != 0 {
			r.Off[to]++
		} else {
			w.leak[from] += float32(w.out.weight(link))
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
	w.eachLink(func(from int, to uint32, link int64) {
		to = w.number[to]
		if to == 0 {
			return
		}
		at := next[to-1]
		next[to-1]++
		r.To[at] = uint32(from)
		if r.Weight != nil {
			r.Weight[at] = w.out.Weight[link]
		}
	})
	return r
}

// eachLink calls f for the links of all givers, with where they stand in the graph, until
// nobody waits for it.
func (w *walk) eachLink(f func(giver int, to uint32, link int64)) {
	for i, u := range w.givers {
		if i%chunk == 0 && w.out.ended() {
			return
		}
		for at := w.out.Off[u]; at < w.out.Off[u+1]; at++ {
			f(i, w.out.To[at], at)
		}
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

// jumpTo returns the probability that a jump ends at u.
func (w *walk) jumpTo(u uint32) float64 {
	if w.jump == nil {
		return 1 / float64(w.out.Len())
	}
	return w.jump[u]
}

// run walks until a step changes less than tol: what it changes of givers, and at most can
// of the others, who have what the step before has changed.
func (w *walk) run(tol float64) []float64 {
	before := math.Inf(1)
	for range steps {
		held := sum(w.held)
		w.step(held)
		now := sum(w.change)
		if now+w.damping*before < tol || w.out.ended() {
			break
		}
		before = sum(w.leaking) + math.Abs(sum(w.held)-held)
	}
	return w.all()
}

// step lets every giver, which together have so much, gather what flows to it.
func (w *walk) step(held float64) {
	w.jumping = 1 - w.damping*held
	clear(w.held)
	clear(w.change)
	clear(w.leaking)
	eachChunk(w.out.ctx, len(w.givers), func(part, lo, hi int) {
		for i := lo; i < hi; i++ {
			gathered := w.jumping*w.jumpTo(w.givers[i]) + w.gather(i)
			change := max(gathered-w.rank[i], w.rank[i]-gathered)
			w.change[part] += change
			w.leaking[part] += change * float64(w.leak[i])
			w.held[part] += gathered
			w.rank[i], w.next[i] = gathered, gathered*w.split[i]
		}
	})
	w.flow, w.next = w.next, w.flow
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

// all returns what every node has after the last step.
func (w *walk) all() []float64 {
	rank := make([]float64, w.out.Len())
	if w.out.ended() {
		return rank
	}
	for u := range uint32(len(rank)) {
		rank[u] = w.jumping * w.jumpTo(u)
	}
	w.eachLink(func(giver int, to uint32, link int64) {
		rank[to] += w.next[giver] * float64(w.out.weight(link))
	})
	for i, u := range w.givers {
		rank[u] = w.rank[i]
	}
	return rank
}
