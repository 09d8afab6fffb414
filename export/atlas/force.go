package atlas

import (
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	chunk   = 512 // bodies processed as a unit; fixed, so that the number of cores never changes a sum
	gravity = 0.04
	jitter  = 1.0 // how much oscillation is tolerated for speed
)

// A field moves the bodies of a web step by step (after ForceAtlas2 by Jacomy, Venturini, Heymann and
// Bastian). All bodies repel each other by mass. Links attract slightly less than in proportion to
// their length, which keeps groups apart but lets them spread. A weak gravity holds everything
// together. Oscillating bodies are slowed down.
type field struct {
	w            *web
	x, y         []float64
	fx, fy       []float64 // force of this step
	oldX, oldY   []float64 // force of the last step
	tree         *tree
	speed        float64
	swing, drive []float64 // by chunk
}

func newField(w *web, x, y []float64) *field {
	n := w.len()
	parts := (n + chunk - 1) / chunk
	return &field{w: w, x: x, y: y, fx: make([]float64, n), fy: make([]float64, n), oldX: make([]float64, n),
		oldY: make([]float64, n),
		tree: newTree(n), speed: 1, swing: make([]float64, parts), drive: make([]float64, parts)}
}

// step moves every body once.
func (f *field) step() {
	f.tree.build(f.x, f.y, f.w.mass)
	f.eachChunk(f.pullAndPush)
	f.adapt()
	f.eachChunk(f.move)
}

// eachChunk calls work for each part [lo, hi) of the bodies. It uses all cores if there are many
// bodies.
func (f *field) eachChunk(work func(part, lo, hi int)) {
	parts := len(f.swing)
	if parts < 4 {
		for part := range parts {
			work(part, part*chunk, min((part+1)*chunk, len(f.x)))
		}
		return
	}
	var next atomic.Int64
	var group errgroup.Group
	for range min(runtime.GOMAXPROCS(0), parts) {
		group.Go(func() error {
			for part := int(next.Add(1)) - 1; part < parts; part = int(next.Add(1)) - 1 {
				work(part, part*chunk, min((part+1)*chunk, len(f.x)))
			}
			return nil
		})
	}
	_ = group.Wait() // work returns no errors
}

// pullAndPush computes the forces on the bodies lo to hi-1 in the tree's order.
func (f *field) pullAndPush(part, lo, hi int) {
	f.swing[part], f.drive[part] = 0, 0
	for i := lo; i < hi; i++ {
		v := f.tree.order[i]
		mass := f.w.mass[v]
		px, py := f.tree.push(int32(i))
		lx, ly := f.pull(v)
		far := math.Hypot(f.x[v], f.y[v]) + 1e-9
		fx := px*mass + lx - gravity*mass*f.x[v]/math.Sqrt(far)
		fy := py*mass + ly - gravity*mass*f.y[v]/math.Sqrt(far)
		f.swing[part] += mass * math.Hypot(fx-f.oldX[v], fy-f.oldY[v])
		f.drive[part] += mass * math.Hypot(fx+f.oldX[v], fy+f.oldY[v]) / 2
		f.fx[v], f.fy[v] = fx, fy
	}
}

// pull returns the force of the links of v.
func (f *field) pull(v uint32) (fx, fy float64) {
	for i := f.w.off[v]; i < f.w.off[v+1]; i++ {
		dx, dy := f.x[f.w.to[i]]-f.x[v], f.y[f.w.to[i]]-f.y[v]
		d := math.Sqrt(dx*dx+dy*dy) + 1e-9
		p := f.w.pull[i] / math.Sqrt(math.Sqrt(d))
		fx, fy = fx+dx*p, fy+dy*p
	}
	return fx, fy
}

// adapt sets the speed so that oscillation stays in proportion to progress.
func (f *field) adapt() {
	swing, drive := 0.0, 0.0
	for part := range f.swing {
		swing, drive = swing+f.swing[part], drive+f.drive[part]
	}
	if swing == 0 {
		return
	}
	target := jitter * drive / swing
	f.speed += min(target-f.speed, f.speed/2)
}

// move moves the bodies lo to hi-1 by their forces.
func (f *field) move(_, lo, hi int) {
	for v := lo; v < hi; v++ {
		swing := f.w.mass[v] * math.Hypot(f.fx[v]-f.oldX[v], f.fy[v]-f.oldY[v])
		pace := f.speed / (1 + math.Sqrt(f.speed*swing))
		if force := math.Hypot(f.fx[v], f.fy[v]); pace*force > 10+math.Hypot(f.x[v], f.y[v]) {
			pace = (10 + math.Hypot(f.x[v], f.y[v])) / force // limits the step, so that no body leaves the picture
		}
		f.x[v] += f.fx[v] * pace
		f.y[v] += f.fy[v] * pace
		f.oldX[v], f.oldY[v] = f.fx[v], f.fy[v]
	}
}
