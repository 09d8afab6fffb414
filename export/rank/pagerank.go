package rank

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

// A walk is one power iteration. What flows along a link of weight 1 from each
// node is worked out once per step, so that a node only gathers. That is read at random, and
// in a terrain most nodes have no links and give nothing: so it is kept by giver.
type walk struct {
	out     *Graph
	in      *Graph   // by node: the givers that link to it
	givers  []uint32 // per chunk: the number of its first giver
	damping float64
	jump    []float64 // nil: anywhere, alike
	split   []float64 // damping / weight of all out-links; 0: dangling
	rank    []float64
	flow    []float64 // by giver: rank * split, of the last step
	next    []float64 // the same, of this step
	idle    []float64 // per chunk: rank at dangling nodes
	change  []float64 // per chunk: how much this step changed
}

func newWalk(g *Graph, jump []float64, damping float64) *walk {
	n := g.Len()
	w := &walk{out: g, in: g.turned(true), givers: make([]uint32, chunks(n)), damping: damping, jump: jump,
		split: make([]float64, n), rank: make([]float64, n), idle: make([]float64, chunks(n)),
		change: make([]float64, chunks(n))}
	givers := w.number()
	w.flow, w.next = make([]float64, givers), make([]float64, givers)
	eachChunk(g.ctx, n, func(part, lo, hi int) {
		giver := w.givers[part]
		for u := lo; u < hi; u++ {
			if out := outWeight(g, u); out > 0 {
				w.split[u] = damping / out
			}
			w.rank[u] = w.jumpTo(u)
			giver = w.settle(part, u, giver)
		}
	})
	w.flow, w.next = w.next, w.flow
	return w
}

// number notes with which giver each chunk begins, and returns how many there are.
func (w *walk) number() (giver uint32) {
	for u := range w.rank {
		if u%chunk == 0 {
			w.givers[u/chunk] = giver
		}
		if w.out.hasLinks(u) {
			giver++
		}
	}
	return giver
}

// outWeight returns the weight of all links that leave u.
func outWeight(g *Graph, u int) float64 {
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
func (w *walk) jumpTo(u int) float64 {
	if w.jump == nil {
		return 1 / float64(len(w.rank))
	}
	return w.jump[u]
}

// settle prepares what u gives to others in the next step, as the giver of that number if it
// is one, and returns the number of the next.
func (w *walk) settle(part, u int, giver uint32) uint32 {
	if w.split[u] == 0 {
		w.idle[part] += w.rank[u]
	}
	if !w.out.hasLinks(u) {
		return giver
	}
	w.next[giver] = w.rank[u] * w.split[u]
	return giver + 1
}

// run walks until a step changes less than tol.
func (w *walk) run(tol float64) []float64 {
	for range steps {
		w.step()
		if sum(w.change) < tol || w.out.ended() {
			break
		}
	}
	return w.rank
}

// step lets every node gather what flows to it.
func (w *walk) step() {
	jumping := 1 - w.damping + w.damping*sum(w.idle)
	clear(w.idle)
	clear(w.change)
	eachChunk(w.out.ctx, len(w.rank), func(part, lo, hi int) {
		giver := w.givers[part]
		for v := lo; v < hi; v++ {
			gathered := jumping*w.jumpTo(v) + w.gather(v)
			w.change[part] += max(gathered-w.rank[v], w.rank[v]-gathered)
			w.rank[v] = gathered
			giver = w.settle(part, v, giver)
		}
	})
	w.flow, w.next = w.next, w.flow
}

// gather adds up what flows along the links to v.
func (w *walk) gather(v int) float64 {
	total := 0.0
	lo, hi := w.in.Off[v], w.in.Off[v+1]
	if w.in.Weight == nil {
		for _, u := range w.in.To[lo:hi] {
			total += w.flow[u]
		}
		return total
	}
	for i := lo; i < hi; i++ {
		total += w.flow[w.in.To[i]] * float64(w.in.Weight[i])
	}
	return total
}
