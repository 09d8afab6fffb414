package rank

import "math/rand/v2"

// turns limits how often a node is inspected in one level, on average. Every move raises the
// modularity, so only rounding could make it endless.
const turns = 200

// A mover moves single nodes between groups. It modifies the division that it receives.
type mover struct {
	w        *network
	of       []int32
	strength []float64 // by group
	size     []int32   // by group
	free     []int32   // groups without nodes
	queue    []uint32  // a ring buffer
	head     int
	waiting  int
	state    []uint8 // by node
	ahead    *outlook
}

// The flags of a node's state.
const (
	queued  = 1 << iota
	changed // a neighbour has moved since it was inspected ahead
)

func newMover(w *network, of []int32, random *rand.Rand) *mover {
	n := w.len()
	m := &mover{w: w, of: of, strength: make([]float64, n), size: make([]int32, n), state: make([]uint8, n), waiting: n}
	m.queue, m.ahead = shuffled(n, random), newOutlook(w.ctx, ahead(n), m.look)
	for v, id := range of {
		m.state[v] = queued
		m.strength[id] += w.strength[v]
		m.size[id]++
	}
	for id := n - 1; id >= 0; id-- {
		if m.size[id] == 0 {
			m.free = append(m.free, int32(id))
		}
	}
	return m
}

// move inspects each node once, and again when a neighbour has left its group. It returns the number of
// groups.
func (m *mover) move() int {
	for left := int64(turns) * int64(len(m.queue)); m.waiting > 0 && left > 0; {
		next := m.queue[m.head:]
		next = next[:min(int64(len(next)), int64(m.waiting), int64(m.ahead.most), left)]
		left -= int64(len(next))
		m.ahead.over(next)
		if m.w.ended() {
			break
		}
		for i := range next {
			m.settle(i)
		}
	}
	return len(m.queue) - len(m.free)
}

// settle moves the first node of the queue, which is the i-th node inspected ahead.
func (m *mover) settle(i int) {
	v := m.pop()
	s := m.ahead.at(i)
	if m.state[v]&changed != 0 {
		s = m.ahead.again(v)
	}
	to := m.best(v, s)
	if to == m.of[v] {
		return
	}
	m.transfer(v, to)
	for _, u := range s.to {
		switch {
		case m.state[u]&queued != 0:
			m.state[u] |= changed
		case m.of[u] != to:
			m.push(u)
		}
	}
}

// look collects the neighbours of a node by group.
func (m *mover) look(v uint32, e *eye) {
	m.state[v] &^= changed
	e.near.clear()
	neighbours, weight := m.w.row(v, &e.row)
	for i, u := range neighbours {
		e.near.add(m.of[u], weight[i])
	}
	e.to = neighbours
}

func (m *mover) pop() uint32 {
	v := m.queue[m.head]
	m.head = (m.head + 1) % len(m.queue)
	m.waiting--
	m.state[v] &^= queued
	return v
}

func (m *mover) push(v uint32) {
	m.queue[(m.head+m.waiting)%len(m.queue)] = v
	m.waiting++
	m.state[v] |= queued
}

// best returns the group in which v raises the modularity most: its own unless another is clearly
// better.
func (m *mover) best(v uint32, s sight) int32 {
	own := m.of[v]
	share := m.w.strength[v] / max(m.w.total, 1)
	best, gain := own, s.weightOf(own)-share*(m.strength[own]-m.w.strength[v])
	least := 1e-9 * m.w.strength[v] // larger than rounding errors
	for i, id := range s.groups {
		if g := s.weight[i] - share*m.strength[id]; id != own && g > gain+least {
			best, gain = id, g
		}
	}
	if gain < -least && m.size[own] > 1 && len(m.free) > 0 {
		return m.free[len(m.free)-1]
	}
	return best
}

func (m *mover) transfer(v uint32, to int32) {
	from := m.of[v]
	if m.size[to] == 0 {
		m.free = m.free[:len(m.free)-1] // best only offers the last
	}
	m.size[from]--
	m.size[to]++
	m.strength[from] -= m.w.strength[v]
	m.strength[to] += m.w.strength[v]
	m.of[v] = to
	if m.size[from] == 0 {
		m.strength[from] = 0
		m.free = append(m.free, from)
	}
}
