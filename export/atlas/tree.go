package atlas

import "math"

const (
	leafSize = 8   // bodies that are handled one by one
	deepest  = 16  // levels of cells, one per bit of a coordinate
	theta    = 1.1 // a cell acts as one body beyond its width divided by theta
)

// A tree divides the plane into cells so that distant bodies act together (Barnes and Hut). Cells are
// in the order of a walk from the root, bodies in the order of their cells, so a walk reads memory
// sequentially and needs no stack.
type tree struct {
	x, y, mass []float64 // of the bodies, in the tree's order
	order      []uint32  // by position in the tree's order: the body
	cells      []cell
	keys       []uint64
	spare      []uint64
}

// A cell is a square of the plane.
type cell struct {
	x, y, mass float64 // centre of mass
	reach      float64 // squared distance beyond which it acts as one body
	lo, hi     int32   // its bodies, if it is a leaf
	next       int32   // the cell to continue with if this one is not opened
	leaf       bool
}

func newTree(n int) *tree {
	return &tree{x: make([]float64, n), y: make([]float64, n), mass: make([]float64, n), order: make([]uint32, n),
		keys: make([]uint64, n), spare: make([]uint64, n)}
}

// build sorts the bodies along a curve that visits cell by cell (Morton) and creates the cells.
func (t *tree) build(x, y, mass []float64) {
	left, top, side := frame(x, y)
	scale := (1 << deepest) / side
	for v := range x {
		t.keys[v] = morton(uint32((x[v]-left)*scale), uint32((y[v]-top)*scale))<<32 | uint64(v)
	}
	t.sort()
	for i, key := range t.keys {
		v := uint32(key)
		t.order[i], t.x[i], t.y[i], t.mass[i] = v, x[v], y[v], mass[v]
	}
	t.cells = t.cells[:0]
	t.divide(0, int32(len(x)), deepest, side)
}

// frame returns the corner and side of a square that contains all bodies.
func frame(x, y []float64) (left, top, side float64) {
	left, top = math.Inf(1), math.Inf(1)
	right, bottom := math.Inf(-1), math.Inf(-1)
	for v := range x {
		left, right = min(left, x[v]), max(right, x[v])
		top, bottom = min(top, y[v]), max(bottom, y[v])
	}
	return left, top, max(right-left, bottom-top, 1e-9) * (1 + 1e-6)
}

// morton interleaves the lower 16 bits of x and y.
func morton(x, y uint32) uint64 { return uint64(interleave(x) | interleave(y)<<1) }

func interleave(v uint32) uint32 {
	v &= 0xffff
	v = (v | v<<8) & 0x00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f
	v = (v | v<<2) & 0x33333333
	return (v | v<<1) & 0x55555555
}

// sort sorts keys by their upper half, digit by digit.
func (t *tree) sort() {
	const digit = 11
	for shift := 32; shift < 64; shift += digit {
		var at [1<<digit + 1]int
		for _, key := range t.keys {
			at[key>>shift&(1<<digit-1)+1]++
		}
		for i := 1; i < len(at); i++ {
			at[i] += at[i-1]
		}
		for _, key := range t.keys {
			d := key >> shift & (1<<digit - 1)
			t.spare[at[d]] = key
			at[d]++
		}
		t.keys, t.spare = t.spare, t.keys
	}
}

// divide creates the cell of the bodies lo to hi-1 and those inside it.
func (t *tree) divide(lo, hi int32, level int, side float64) {
	at := len(t.cells)
	t.cells = append(t.cells, cell{lo: lo, hi: hi, reach: side * side / (theta * theta)})
	c := cell{lo: lo, hi: hi, reach: t.cells[at].reach, leaf: hi-lo <= leafSize}
	switch {
	case c.leaf:
	case level == 0:
		c.reach = 0 // a crowd at one position acts as one body on everything
	default:
		for quarter := range uint64(4) {
			from := lo
			for lo < hi && t.keys[lo]>>(32+2*(level-1))&3 == quarter {
				lo++
			}
			if lo > from {
				t.divide(from, lo, level-1, side/2)
			}
		}
	}
	t.weigh(&c)
	c.next = int32(len(t.cells))
	t.cells[at] = c
}

// weigh computes the centre of mass of a cell.
func (t *tree) weigh(c *cell) {
	for i := c.lo; i < c.hi; i++ {
		c.mass += t.mass[i]
		c.x += t.mass[i] * t.x[i]
		c.y += t.mass[i] * t.y[i]
	}
	c.x /= c.mass
	c.y /= c.mass
}

// push returns the force of all bodies on the i-th one in the tree's order, per unit of its mass: the
// sum of each mass divided by its distance.
func (t *tree) push(i int32) (fx, fy float64) {
	x, y := t.x[i], t.y[i]
	for at := int32(0); at < int32(len(t.cells)); {
		c := &t.cells[at]
		dx, dy := x-c.x, y-c.y
		d := dx*dx + dy*dy
		switch {
		case d > c.reach && (i < c.lo || i >= c.hi):
			fx, fy = fx+dx*c.mass/d, fy+dy*c.mass/d
			at = c.next
		case c.leaf:
			lx, ly := t.pushLeaf(i, c)
			fx, fy = fx+lx, fy+ly
			at = c.next
		default:
			at++
		}
	}
	return fx, fy
}

// pushLeaf returns the force of the bodies of a leaf. Bodies at the same position repel each other in
// directions that depend on their order.
func (t *tree) pushLeaf(i int32, c *cell) (fx, fy float64) {
	for j := c.lo; j < c.hi; j++ {
		if j == i {
			continue
		}
		dx, dy := t.x[i]-t.x[j], t.y[i]-t.y[j]
		if dx == 0 && dy == 0 {
			dx, dy = 1e-3*float64(i-j), 1e-3
			if i < j {
				dy = -dy
			}
		}
		f := t.mass[j] / (dx*dx + dy*dy)
		fx, fy = fx+dx*f, fy+dy*f
	}
	return fx, fy
}
