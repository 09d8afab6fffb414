package rank

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync/atomic"
)

const (
	ballSeed   = 0x5157_7269_7070_6c65
	ballBytes  = 128 << 20 // memory limit for the counters of one step
	ballSteps  = 256       // longer paths are not followed: their share is below 1/256
	fewestRegs = 16
	mostRegs   = 256
)

// hyperBall estimates harmonic centrality (Boldi and Vigna, "In-core computation of geometric
// centralities with HyperBall"): each node has a HyperLogLog counter of the nodes that reach it within
// t links. A step merges it with the counters of its predecessors; the growth is the number of nodes at
// distance t. The error of a counter is about 1.04 / sqrt(regs). If all nodes end up with nearly the
// same set, the error is common to all of them, and their order is still correct.
func hyperBall(g *Graph, seed uint64, regs int) []float64 {
	b := newBalls(g, seed, regs)
	for t := 1; t <= ballSteps && b.step(float64(t)) && !b.in.ended(); t++ {
		b.now, b.next = b.next, b.now
		b.grew, b.grows = b.grows, b.grew
	}
	return b.score
}

// registers returns the number of registers of each of n counters: the largest power of two from 16 to
// 256 that fits into ballBytes.
func registers(n int) int {
	regs := mostRegs
	for regs > fewestRegs && n*regs > ballBytes {
		regs /= 2
	}
	return regs
}

// balls are the counters of all nodes: a byte per register, eight in a word.
type balls struct {
	in          *Graph
	words       int // per counter
	now, next   []uint64
	grew, grows []bool // by node: its counter changed in the last, this step
	size, score []float64
}

func newBalls(g *Graph, seed uint64, regs int) *balls {
	n := g.Len()
	b := &balls{in: g.in(), words: regs / 8, now: make([]uint64, n*regs/8), next: make([]uint64, n*regs/8),
		grew: make([]bool, n), grows: make([]bool, n), size: make([]float64, n), score: make([]float64, n)}
	eachChunk(g.ctx, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			hash := mix(uint64(v) + seed)
			reg := hash & uint64(regs-1)
			zeros := bits.TrailingZeros64(hash>>bits.Len(uint(regs-1))|1<<56) + 1
			b.counter(b.now, v)[reg/8] = uint64(zeros) << (reg % 8 * 8)
			b.size[v] = estimate(b.counter(b.now, v))
			b.grew[v] = true
		}
	})
	return b
}

// mix scatters the bits of x (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (b *balls) counter(all []uint64, v int) []uint64 {
	return all[v*b.words : (v+1)*b.words]
}

// step merges every counter with those of its predecessors and reports whether any changed.
func (b *balls) step(t float64) bool {
	var changed atomic.Bool
	eachChunk(b.in.ctx, len(b.size), func(_, lo, hi int) {
		var grown grown
		for first := lo; first < hi; first += batch {
			grown.gather(b, first, min(first+batch, hi))
			from := 0
			for v := first; v < min(first+batch, hi); v++ {
				to := grown.end[v-first]
				if b.grow(v, grown.nodes[from:to], t) {
					changed.Store(true)
				}
				from = to
			}
		}
	})
	return changed.Load()
}

// batch is how many counters are computed after the counters that they need were requested from memory,
// so that all wait for memory together.
const batch = 8

// grown are the predecessors of a batch of nodes that grew in the last step.
type grown struct {
	nodes   []uint32
	end     [batch]int // by node of the batch: end of its predecessors
	fetched uint64     // keeps the compiler from removing the loads
}

// gather finds these predecessors for the nodes lo to hi-1, and loads their counters into the cache.
func (g *grown) gather(b *balls, lo, hi int) {
	const line = 8 // words
	g.nodes = g.nodes[:0]
	for v := lo; v < hi; v++ {
		for _, u := range b.in.Out(uint32(v)) {
			if b.grew[u] {
				g.nodes = append(g.nodes, u)
			}
		}
		g.end[v-lo] = len(g.nodes)
	}
	for _, u := range g.nodes {
		for i := int(u) * b.words; i < (int(u)+1)*b.words; i += line {
			g.fetched ^= b.now[i]
		}
	}
}

// grow computes the counter of v in this step from those of the predecessors that grew. It reuses the
// counter of two steps ago, which equals the last one unless v grew then.
func (b *balls) grow(v int, from []uint32, t float64) bool {
	ball := b.counter(b.next, v)
	if b.grew[v] {
		copy(ball, b.counter(b.now, v))
	}
	b.grows[v] = false
	for _, u := range from {
		if unite(ball, b.counter(b.now, int(u))) {
			b.grows[v] = true
		}
	}
	if !b.grows[v] {
		return false
	}
	if size := estimate(ball); size > b.size[v] {
		b.score[v] += (size - b.size[v]) / t
		b.size[v] = size
	}
	return true
}

// unite raises each register of ball to that of other and reports whether any was lower. Registers are
// below 128, so the top bit of a byte shows which is larger.
func unite(ball, other []uint64) bool {
	const top = 0x8080808080808080
	changed := uint64(0)
	for i, theirs := range other {
		mine := ball[i]
		lower := ^((mine | top) - theirs) & top // bytes where mine < theirs
		mask := lower<<1 - lower>>7
		ball[i] = mine&^mask | theirs&mask
		changed |= lower
	}
	return changed != 0
}

// estimate returns how many distinct nodes a counter has seen (HyperLogLog, with linear counting while
// registers are empty).
func estimate(ball []uint64) float64 {
	harmonic, empty := 0.0, 0
	var bytes [8]byte
	for _, word := range ball {
		binary.LittleEndian.PutUint64(bytes[:], word)
		for _, reg := range bytes {
			harmonic += math.Float64frombits(uint64(1023-int(reg)) << 52) // 2^-reg
			if reg == 0 {
				empty++
			}
		}
	}
	m := float64(len(ball) * 8)
	size := alpha(len(ball)*8) * m * m / harmonic
	if size <= 2.5*m && empty > 0 {
		return m * math.Log(m/float64(empty))
	}
	return size
}

// alpha corrects the bias of a counter of m registers.
func alpha(m int) float64 {
	switch m {
	case 16:
		return 0.673
	case 32:
		return 0.697
	case 64:
		return 0.709
	}
	return 0.7213 / (1 + 1.079/float64(m))
}
