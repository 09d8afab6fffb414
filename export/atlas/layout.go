package atlas

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sumi-ripple/ripple/export/rank"
)

// A Point is a position in the picture. The unit is the radius of a small node; y grows downwards.
type Point struct{ X, Y float32 }

// Layout returns positions for n nodes: nodes with many links between them are close together, and
// nodes hardly overlap. radius is the size of each node (nil: 1 each). Connected components are laid
// out separately: the largest in the middle, small ones and nodes without links in rows below it.
//
// The same arguments give the same picture on any number of cores. The work is limited by counts, never
// by a clock: a component of n nodes takes 60 + 2,000,000/n steps, at most 400, and its coarser forms
// together one to three times that work. progress, which may be nil, receives how much of total is done
// and returns whether the picture is still wanted. If not, the result is meaningless. It is called from
// the caller's goroutine.
func Layout(n int, edges []Edge, radius []float64, seed uint64, progress func(done, total int) (wanted bool)) []Point {
	if n == 0 {
		return nil
	}
	if progress == nil {
		progress = func(int, int) bool { return true }
	}
	if radius == nil {
		radius = slices.Repeat([]float64{1}, n)
	}
	l := layout{radius: radius, progress: progress, random: rand.New(rand.NewPCG(seed, uint64(n)))}
	l.plan(newWeb(n, edges), edges)
	boxes := make([]box, len(l.parts))
	for i := range boxes {
		boxes[i] = l.draw(&l.parts[i])
	}
	pack(boxes)
	return l.place(n, boxes)
}

// A layout is the state of one call.
type layout struct {
	radius      []float64
	random      *rand.Rand
	parts       []part
	done, total int
	progress    func(done, total int) (wanted bool)
	unwanted    bool
}

// A part is a connected component.
type part struct {
	nodes  []uint32
	levels []level // the part itself first, then coarser levels
	x, y   []float64
}

// A level is a web, with the node of the next coarser level for each of its nodes.
type level struct {
	web *web
	up  []uint32
}

// plan divides the nodes into parts and computes the total work.
func (l *layout) plan(whole *web, edges []Edge) {
	from, to := make([]uint32, len(edges)), make([]uint32, len(edges))
	for i, e := range edges {
		from[i], to[i] = e.From, e.To
	}
	of := rank.WeakComponents(rank.Build(whole.len(), from, to, nil))
	local := make([]uint32, whole.len())
	for v, id := range of {
		for int(id) >= len(l.parts) {
			l.parts = append(l.parts, part{})
		}
		l.parts[id].nodes = append(l.parts[id].nodes, uint32(v))
	}
	for i := range l.parts {
		p := &l.parts[i]
		p.levels = coarsenAll(whole.part(p.nodes, local))
		for _, level := range p.levels {
			l.total += steps(level.web.len()) * level.web.len()
		}
	}
}

// coarsest is the number of nodes with which a layout starts.
const coarsest = 48

// coarsenAll returns coarser and coarser levels of a web.
func coarsenAll(w *web) []level {
	var levels []level
	for {
		if w.len() <= coarsest {
			return append(levels, level{web: w})
		}
		small, up := w.coarsen()
		if small.len() > w.len()*9/10 {
			return append(levels, level{web: w})
		}
		levels = append(levels, level{w, up})
		w = small
	}
}

// steps returns the number of steps for a level of n nodes.
func steps(n int) int {
	switch {
	case n <= 2:
		return 0
	case n <= coarsest:
		return 20 + 5*n
	}
	return min(60+2_000_000/n, 400)
}

// draw lays out a part and returns its box.
func (l *layout) draw(p *part) box {
	last := len(p.levels) - 1
	p.x, p.y = l.begin(p.levels[last].web)
	for at := last; at >= 0; at-- {
		w := p.levels[at].web
		if at < last {
			p.x, p.y = l.unfold(p.levels[at], p.x, p.y)
		}
		f := newField(w, p.x, p.y)
		for range steps(w.len()) {
			if l.unwanted {
				break
			}
			f.step()
			l.done += w.len()
			l.unwanted = !l.progress(l.done, l.total)
		}
		p.levels[at] = level{} // for the garbage collector
	}
	return l.settle(p)
}

// begin scatters the nodes of the coarsest web.
func (l *layout) begin(w *web) (x, y []float64) {
	x, y = make([]float64, w.len()), make([]float64, w.len())
	for v := range x {
		far, angle := 10*math.Sqrt(l.random.Float64()*float64(w.len())), 2*math.Pi*l.random.Float64()
		x[v], y[v] = far*math.Cos(angle), far*math.Sin(angle)
	}
	return x, y
}

// unfold places each node of a level near its node in the coarser level.
func (l *layout) unfold(at level, x, y []float64) (fineX, fineY []float64) {
	_, _, side := frame(x, y)
	near := side / math.Sqrt(float64(at.web.len())) / 2
	fineX, fineY = make([]float64, at.web.len()), make([]float64, at.web.len())
	for v, up := range at.up {
		fineX[v] = x[up] + near*(l.random.Float64()-0.5)
		fineY[v] = y[up] + near*(l.random.Float64()-0.5)
	}
	return fineX, fineY
}

// settle scales a part so that its nodes take their share of the area, and separates overlapping nodes.
func (l *layout) settle(p *part) box {
	radius, area := make([]float64, len(p.nodes)), 0.0
	for i, v := range p.nodes {
		radius[i] = l.radius[v]
		area += (radius[i] + gap) * (radius[i] + gap)
	}
	if len(p.nodes) == 2 {
		p.x, p.y = []float64{0, radius[0] + radius[1] + 4*gap}, []float64{0, 0}
	} else {
		lay(p.x, p.y)
		scale(p.x, p.y, math.Sqrt(area/fill))
		spread(p.x, p.y, radius)
	}
	return around(p.x, p.y, radius)
}

const (
	gap  = 1.0  // between nodes
	fill = 0.18 // share of a part's area taken by its nodes
)

// lay moves the centre to 0 and turns the longer side horizontal, because screens are wide.
func lay(x, y []float64) {
	middleX, middleY := 0.0, 0.0
	for v := range x {
		middleX, middleY = middleX+x[v]/float64(len(x)), middleY+y[v]/float64(len(x))
	}
	xx, xy, yy := 0.0, 0.0, 0.0
	for v := range x {
		x[v], y[v] = x[v]-middleX, y[v]-middleY
		xx, xy, yy = xx+x[v]*x[v], xy+x[v]*y[v], yy+y[v]*y[v]
	}
	sin, cos := math.Sincos(-math.Atan2(2*xy, xx-yy) / 2)
	for v := range x {
		x[v], y[v] = x[v]*cos-y[v]*sin, x[v]*sin+y[v]*cos
	}
}

// scale scales the typical distance from 0 to size/√2, that of a disc.
func scale(x, y []float64, size float64) {
	spread := 0.0
	for v := range x {
		spread += x[v]*x[v] + y[v]*y[v]
	}
	if spread == 0 {
		return
	}
	factor := size / math.Sqrt2 / math.Sqrt(spread/float64(len(x)))
	for v := range x {
		x[v], y[v] = x[v]*factor, y[v]*factor
	}
}

// place moves every part to its box.
func (l *layout) place(n int, boxes []box) []Point {
	points := make([]Point, n)
	for i, p := range l.parts {
		for j, v := range p.nodes {
			points[v] = Point{float32(p.x[j] + boxes[i].dx), float32(p.y[j] + boxes[i].dy)}
		}
	}
	return points
}
