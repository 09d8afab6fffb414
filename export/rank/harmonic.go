package rank

import "math/bits"

// Harmonic is exact up to these limits on nodes and on nodes times links. The latter is about its CPU
// time in nanoseconds.
const (
	exactNodes = 50_000
	exactWork  = 1 << 30
)

// Harmonic returns the harmonic centrality of each node: the sum of 1/d over all other nodes from which
// it can be reached, where d is the number of links on the shortest path. Up to 50,000 nodes, and up to
// 2^30 for nodes times links, it is counted (rounding below 1e-9) and exact is true. Above, HyperBall
// estimates it with an error of about a tenth, and exact is false. Weights are ignored.
func Harmonic(g *Graph) (scores []float64, exact bool) {
	if g.Len() > exactNodes || g.Len()*len(g.To) > exactWork {
		return hyperBall(g, ballSeed, registers(g.Len())), false
	}
	return countDistances(g), true
}

// unit is the harmonic share of a direct link in fixed point: integer sums do not depend on the order,
// and 50,000 of these fit into 64 bits.
const unit = 1 << 47

// countDistances searches breadth-first from every node, 64 at a time: a word per node records which of
// the 64 searches have reached it.
func countDistances(g *Graph) []float64 {
	n := g.Len()
	jobs := (n + 63) / 64
	seekers := toolsFor[seeker](jobs)
	share(g.ctx, seekers, jobs, func(s *seeker, job int) {
		if s.seen == nil {
			*s = newSeeker(g)
		}
		s.search(job*64, min(job*64+64, n))
	})
	scores := make([]float64, n)
	for v := range scores {
		total := uint64(0)
		for _, s := range seekers {
			if s.score != nil {
				total += s.score[v]
			}
		}
		scores[v] = float64(total) / unit
	}
	return scores
}

// A seeker runs 64 searches at once. It must be used by one goroutine only.
type seeker struct {
	g          *Graph
	seen       []uint64 // by node: searches that have reached it
	now, next  []uint64 // by node: searches that reached it in this step, the next
	front, new []uint32 // nodes with a word in now, next
	score      []uint64
}

func newSeeker(g *Graph) seeker {
	n := g.Len()
	return seeker{g: g, seen: make([]uint64, n), now: make([]uint64, n), next: make([]uint64, n), score: make([]uint64, n)}
}

// search runs the searches from the nodes lo to hi-1.
func (s *seeker) search(lo, hi int) {
	clear(s.seen)
	for v := lo; v < hi; v++ {
		s.seen[v] = 1 << (v - lo)
		s.now[v] = s.seen[v]
		s.front = append(s.front, uint32(v))
	}
	for d := uint64(1); len(s.front) > 0; d++ {
		s.spread()
		s.award(unit / d)
	}
}

// spread follows the links of the front.
func (s *seeker) spread() {
	for _, u := range s.front {
		word := s.now[u]
		s.now[u] = 0
		for _, v := range s.g.Out(u) {
			fresh := word &^ s.seen[v]
			if fresh == 0 {
				continue
			}
			if s.next[v] == 0 {
				s.new = append(s.new, v)
			}
			s.next[v] |= fresh
		}
	}
	s.front = s.front[:0]
}

// award adds to each node of the new front its share for every search that arrived.
func (s *seeker) award(share uint64) {
	for _, v := range s.new {
		s.seen[v] |= s.next[v]
		s.score[v] += share * uint64(bits.OnesCount64(s.next[v]))
	}
	s.now, s.next = s.next, s.now
	s.front, s.new = s.new, s.front
}
