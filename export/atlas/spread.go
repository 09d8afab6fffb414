package atlas

import "math"

// passes is the maximum number of passes over all nodes.
const passes = 60

// spread separates overlapping nodes, moving each by half of the overlap, until none overlap or all
// passes are used.
func spread(x, y, radius []float64) {
	widest := 0.0
	for _, r := range radius {
		widest = max(widest, r)
	}
	s := spreader{x: x, y: y, radius: radius, side: 2*widest + gap}
	for range passes {
		s.sort()
		if !s.pass() {
			return
		}
	}
}

// A spreader sorts the nodes into squares so wide that only nodes in neighbouring squares can touch.
type spreader struct {
	x, y, radius []float64
	side         float64
	columns      int
	rows         int
	left, top    float64
	first        []int32 // by square: its first node; -1: none
	next         []int32 // by node: the next one in its square
}

// sort puts the nodes into squares. There are at most about four squares per node: few nodes far apart
// get wider squares.
func (s *spreader) sort() {
	var side float64
	s.left, s.top, side = frame(s.x, s.y)
	s.columns = max(1, min(int(side/s.side), int(2*math.Sqrt(float64(len(s.x))))))
	s.rows = s.columns
	if len(s.first) != s.columns*s.rows {
		s.first = make([]int32, s.columns*s.rows)
	}
	if s.next == nil {
		s.next = make([]int32, len(s.x))
	}
	for i := range s.first {
		s.first[i] = -1
	}
	for v := len(s.x) - 1; v >= 0; v-- {
		at := s.column(s.x[v]-s.left, side) + s.columns*s.column(s.y[v]-s.top, side)
		s.next[v] = s.first[at]
		s.first[at] = int32(v)
	}
}

func (s *spreader) column(at, side float64) int {
	return min(int(at/side*float64(s.columns)), s.columns-1)
}

// pass checks each pair of nodes in neighbouring squares once, and reports whether any was moved.
func (s *spreader) pass() bool {
	moved := false
	for at := range s.first {
		column, row := at%s.columns, at/s.columns
		for v := s.first[at]; v >= 0; v = s.next[v] {
			moved = s.clear(v, s.next[v]) || moved
			if column+1 < s.columns {
				moved = s.clear(v, s.first[at+1]) || moved
			}
			for c := max(column-1, 0); row+1 < s.rows && c <= min(column+1, s.columns-1); c++ {
				moved = s.clear(v, s.first[(row+1)*s.columns+c]) || moved
			}
		}
	}
	return moved
}

// clear separates v from the nodes of a square from u on.
func (s *spreader) clear(v, u int32) bool {
	moved := false
	for ; u >= 0; u = s.next[u] {
		dx, dy := s.x[u]-s.x[v], s.y[u]-s.y[v]
		room := s.radius[u] + s.radius[v] + gap
		if dx*dx+dy*dy >= room*room*0.999 {
			continue
		}
		d := math.Sqrt(dx*dx + dy*dy)
		if d < 1e-6 {
			dx, dy, d = math.Cos(float64(v)), math.Sin(float64(v)), 1e-6 // same position: any direction
			dx, dy = dx*d, dy*d
		}
		half := (room - d) / d / 2
		s.x[v], s.y[v] = s.x[v]-dx*half, s.y[v]-dy*half
		s.x[u], s.y[u] = s.x[u]+dx*half, s.y[u]+dy*half
		moved = true
	}
	return moved
}
