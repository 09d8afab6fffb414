package atlas

import (
	"cmp"
	"math"
	"slices"
)

// A box is the area of a part, and the offset to its final position.
type box struct {
	left, top, right, bottom float64
	dx, dy                   float64
}

// around returns the bounding box of the nodes.
func around(x, y, radius []float64) box {
	b := box{left: math.Inf(1), top: math.Inf(1), right: math.Inf(-1), bottom: math.Inf(-1)}
	for v, r := range radius {
		b.left, b.right = min(b.left, x[v]-r), max(b.right, x[v]+r)
		b.top, b.bottom = min(b.top, y[v]-r), max(b.bottom, y[v]+r)
	}
	return b
}

func (b *box) width() float64  { return b.right - b.left }
func (b *box) height() float64 { return b.bottom - b.top }

// aisle is the space between parts.
const aisle = 4 * gap

// pack centres the first box around 0 and puts the others below it in rows, highest first. The width
// depends on the total area.
func pack(boxes []box) {
	first := &boxes[0]
	first.dx, first.dy = -(first.left+first.right)/2, -(first.top+first.bottom)/2
	order, area := make([]int, 0, len(boxes)), 0.0
	for i := 1; i < len(boxes); i++ {
		order = append(order, i)
		area += (boxes[i].width() + aisle) * (boxes[i].height() + aisle)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(boxes[b].height(), boxes[a].height()) })
	wide := max(first.width()*0.8, 1.6*math.Sqrt(area))
	y := first.height()/2 + 3*aisle
	for len(order) > 0 {
		count := row(boxes, order, wide, y)
		y += boxes[order[0]].height() + aisle
		order = order[count:]
	}
}

// row puts as many boxes next to each other below y as fit into wide, at least one, and returns their
// number.
func row(boxes []box, order []int, wide, y float64) int {
	count, total := 0, -aisle
	for _, at := range order {
		if w := boxes[at].width() + aisle; count == 0 || total+w <= wide {
			count, total = count+1, total+w
		} else {
			break
		}
	}
	x, high := -total/2, boxes[order[0]].height()
	for _, at := range order[:count] {
		b := &boxes[at]
		b.dx, b.dy = x-b.left, y+(high-b.height())/2-b.top
		x += b.width() + aisle
	}
	return count
}
