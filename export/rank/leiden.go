package rank

import "math/rand/v2"

// turns bounds how often a node is looked at in one level, in the mean: every
// move raises the modularity, so only rounding could make it endless.
const turns = 200

// A mover moves single nodes between groups. It changes the division that it was
// given.
type mover struct {
	w        *network
	of       []int32
	strength []float64 // per group
	size     []int32   // per group
	free     []int32   // groups without nodes
	near     *near
	row      row
	queue    []uint32 // a ring
	head     int
	waiting  int
	queued   []bool
}

func newMover(w *network, of []int32, random *rand.Rand) *mover {
	n := w.len()
	m := &mover{w: w, of: of, strength: make([]float64, n), size: make([]int32, n), near: newNear(n),
		queued: make([]bool, n), waiting: n}
	m.queue = shuffled(n, random)
	for _, v := range m.queue {
		m.queued[v] = true
	}
	for v, id := range of {
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

// move looks at each node once, and again when a neighbour has left its group.
// It returns the number of groups.
func (m *mover) move() int {
	for left := int64(turns) * int64(len(m.queue)); m.waiting > 0 && left > 0; left-- {
		if left%chunk == 0 && m.w.ended() {
			break
		}
		v := m.pop()
		from := m.of[v]
		to := m.best(v)
		if to == from {
			continue
		}
		m.transfer(v, to)
		neighbours, _ := m.w.row(v, &m.row)
		for _, u := range neighbours {
			if m.of[u] != to && !m.queued[u] {
				m.push(u)
			}
		}
	}
	return len(m.queue) - len(m.free)
}

func (m *mover) pop() uint32 {
	v := m.queue[m.head]
	m.head = (m.head + 1) % len(m.queue)
	m.waiting--
	m.queued[v] = false
	return v
}

func (m *mover) push(v uint32) {
	m.queue[(m.head+m.waiting)%len(m.queue)] = v
	m.waiting++
	m.queued[v] = true
}

// best returns the group in which v raises the modularity most: its own unless
// another is truly better.
func (m *mover) best(v uint32) int32 {
	neighbours, weight := m.w.row(v, &m.row)
	for i, u := range neighbours {
		m.near.add(m.of[u], weight[i])
	}
	defer m.near.clear()
	own := m.of[v]
	share := m.w.strength[v] / max(m.w.total, 1)
	best, gain := own, m.near.weight[own]-share*(m.strength[own]-m.w.strength[v])
	least := 1e-9 * m.w.strength[v] // beyond rounding
	for _, id := range m.near.touched {
		if g := m.near.weight[id] - share*m.strength[id]; id != own && g > gain+least {
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
