package atlas

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// finite fails unless every point is finite.
func finite(t interface{ Fatalf(string, ...any) }, points []Point, n int) {
	if len(points) != n {
		t.Fatalf("%d points for %d nodes", len(points), n)
	}
	for v, p := range points {
		if at := float64(p.X) + float64(p.Y); math.IsNaN(at) || math.IsInf(at, 0) {
			t.Fatalf("node %d is at %v", v, p)
		}
	}
}

// overlap returns the share of nodes that overlap another by more than a tenth of the smaller radius.
func overlap(points []Point, radius []float64) float64 {
	covered := 0
	for v := range points {
		for u := range points {
			room := radius[u] + radius[v] - min(radius[u], radius[v])/10
			if u != v && math.Hypot(float64(points[u].X-points[v].X), float64(points[u].Y-points[v].Y)) < room {
				covered++
				break
			}
		}
	}
	return float64(covered) / float64(len(points))
}

func distance(a, b Point) float64 { return math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)) }

func TestLayoutIsReadable(t *testing.T) {
	sizes := []int{1, 2, 3, 40, 1000}
	if os.Getenv("RIPPLE_PROOF") == "full" {
		sizes = append(sizes, 3000)
	}
	for _, n := range sizes {
		nodes, edges := terrain(n, 1)
		radius := Radii(nodes)
		points := Layout(n, edges, radius, 1, nil)
		finite(t, points, n)
		if share := overlap(points, radius); share > 0.01 {
			t.Errorf("%d nodes: %.1f %% are covered by others", n, 100*share)
		}
	}
}

func TestLayoutKeepsGroupsTogether(t *testing.T) {
	nodes, edges := terrain(1000, 2)
	points := Layout(len(nodes), edges, Radii(nodes), 1, nil)
	inside, all, insides, alls := 0.0, 0.0, 0, 0
	for u := range 900 { // the connected ones
		for v := range u {
			d := distance(points[u], points[v])
			all, alls = all+d, alls+1
			if nodes[u].Community == nodes[v].Community {
				inside, insides = inside+d, insides+1
			}
		}
	}
	if inside /= float64(insides); inside > 0.35*all/float64(alls) {
		t.Errorf("distance inside a community %.0f, in general %.0f", inside, all/float64(alls))
	}
}

// Unconnected nodes must not be far away.
func TestLayoutKeepsLooseNodesNear(t *testing.T) {
	nodes, edges := terrain(1000, 1)
	points := Layout(len(nodes), edges, Radii(nodes), 1, nil)
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for v, p := range points {
		x[v], y[v] = float64(p.X), float64(p.Y)
	}
	_, _, main := frame(x[:900], y[:900])
	if _, _, side := frame(x, y); side > 1.3*main {
		t.Errorf("the whole is %.0f wide, its main part %.0f", side, main)
	}
}

func TestLayoutIsTheSameOnAnyNumberOfCores(t *testing.T) {
	nodes, edges := terrain(1800, 3) // nine tenths are connected: four chunks, for several cores
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	want := Layout(len(nodes), edges, Radii(nodes), 5, nil)
	runtime.GOMAXPROCS(4)
	if diff := cmp.Diff(want, Layout(len(nodes), edges, Radii(nodes), 5, nil)); diff != "" {
		t.Errorf("differs: %.500s", diff)
	}
	nodes, edges = terrain(200, 3)
	if slices.Equal(Layout(200, edges, Radii(nodes), 5, nil), Layout(200, edges, Radii(nodes), 6, nil)) {
		t.Error("the seed does not matter")
	}
}

func TestLayoutTellsItsProgress(t *testing.T) {
	_, edges := terrain(500, 3)
	last, whole, calls := 0, 0, 0
	Layout(500, edges, nil, 1, func(done, total int) bool {
		if done <= last || done > total || whole != 0 && total != whole {
			t.Fatalf("%d of %d after %d of %d", done, total, last, whole)
		}
		last, whole, calls = done, total, calls+1
		return true
	})
	if last != whole || calls == 0 {
		t.Errorf("ended at %d of %d", last, whole)
	}
}

// TestLayoutUnwanted cancels a layout at its first step.
func TestLayoutUnwanted(t *testing.T) {
	_, edges := terrain(500, 3)
	calls := 0
	Layout(500, edges, nil, 1, func(int, int) bool { calls++; return false })
	if calls != 1 {
		t.Errorf("%d steps were done", calls)
	}
}

func TestLayoutBearsAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "n")
		node := rapid.Uint32Range(0, uint32(n-1))
		edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edge {
			return Edge{From: node.Draw(t, "from"), To: node.Draw(t, "to"), Weight: rapid.Uint32().Draw(t, "weight")}
		}), 0, 3*n).Draw(t, "edges")
		finite(t, Layout(n, edges, nil, rapid.Uint64().Draw(t, "seed"), nil), n)
	})
}

func TestLayoutOfExtremes(t *testing.T) {
	shapes := map[string]func(v uint32) Edge{
		"star":  func(v uint32) Edge { return Edge{0, v, math.MaxUint32, 0} },
		"chain": func(v uint32) Edge { return Edge{v, v - 1, 1, 0} },
		"loops": func(v uint32) Edge { return Edge{v, v, 1, 0} },
		"pairs": func(v uint32) Edge { return Edge{v, v ^ 1, 0, 0} },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			n := 500
			if os.Getenv("RIPPLE_PROOF") == "full" {
				n = 2500
			}
			var edges []Edge
			for v := uint32(1); v < uint32(n); v++ {
				edges = append(edges, shape(v))
			}
			points := Layout(n, edges, nil, 1, nil)
			finite(t, points, n)
			if share := overlap(points, slices.Repeat([]float64{1}, n)); share > 0.05 {
				t.Errorf("%.1f %% are covered by others", 100*share)
			}
		})
	}
}

// The force on one body may be off by a fifth. In a large web these errors even out; among 20 bodies
// they need not. This is an estimate that holds for nearly all webs, so the test uses fixed webs.
func TestTreeAgreesWithEveryPair(t *testing.T) {
	for web := range uint64(300) {
		random := rand.New(rand.NewPCG(web, 1))
		n := 2 + random.IntN(400)
		x, y, mass := make([]float64, n), make([]float64, n), make([]float64, n)
		for v := range n {
			x[v], y[v], mass[v] = 100*random.NormFloat64(), 30*random.NormFloat64(), 1+20*random.Float64()
		}
		tree := newTree(n)
		tree.build(x, y, mass)
		seen, mean := make([]bool, n), 0.0
		for i, v := range tree.order {
			seen[v] = true
			fx, fy := tree.push(int32(i))
			wantX, wantY, size := pairs(x, y, mass, int(v))
			off := math.Hypot(fx-wantX, fy-wantY) / size
			if off > 0.2 {
				t.Fatalf("web %d: force on %d is %v, %v; want %v, %v", web, v, fx, fy, wantX, wantY)
			}
			mean += off / float64(n)
		}
		if n >= 50 && mean > 0.03 {
			t.Fatalf("web %d: forces are %.3f off in the mean", web, mean)
		}
		if slices.Contains(seen, false) {
			t.Fatalf("web %d: a body is not in the tree", web)
		}
	}
}

// pairs sums the forces on v one by one, and their magnitudes.
func pairs(x, y, mass []float64, v int) (fx, fy, size float64) {
	for u := range x {
		if dx, dy := x[v]-x[u], y[v]-y[u]; u != v {
			d := dx*dx + dy*dy
			fx, fy, size = fx+dx*mass[u]/d, fy+dy*mass[u]/d, size+mass[u]/math.Sqrt(d)
		}
	}
	return fx, fy, size
}

// The time for a crowd at one position must not be quadratic.
func TestTreeBearsACrowd(t *testing.T) {
	const n = 200_000
	x, y, mass := make([]float64, n), make([]float64, n), slices.Repeat([]float64{1}, n)
	x[0], y[0] = 100, 100
	tree := newTree(n)
	tree.build(x, y, mass)
	for i := range int32(n) {
		if fx, fy := tree.push(i); math.IsNaN(fx + fy) {
			t.Fatalf("force on %d is no number", i)
		}
	}
	if len(tree.cells) > 3*deepest {
		t.Errorf("%d cells", len(tree.cells))
	}
}

func TestSpreadEnds(t *testing.T) {
	const n = 2000 // all at one position
	x, y, radius := make([]float64, n), make([]float64, n), slices.Repeat([]float64{1}, n)
	spread(x, y, radius)
	points := make([]Point, n)
	for v := range points {
		points[v] = Point{float32(x[v]), float32(y[v])}
	}
	finite(t, points, n)
}
