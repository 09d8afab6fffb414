package graph_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Graphviz can read the DOT file.
func TestDOT(t *testing.T) {
	if _, err := exec.LookPath("gvpr"); err != nil {
		lacking(t, "no graphviz")
	}
	for _, level := range levels() {
		dir, want := written(t, level)
		out, err := exec.Command("gvpr",
			`BEG_G { printf("%d %d\n", nNodes($G), nEdges($G)); } N [label == ""] { print("no label"); }`,
			filepath.Join(dir, "x.dot")).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != fmt.Sprint(want.Nodes, want.Edges) {
			t.Errorf("%s: gvpr: %v, %q; want %d nodes, %d edges", level, err, got, want.Nodes, want.Edges)
		}
		if out, err := exec.Command("neato", "-n", "-Glayout=neato", "-Tsvg", "-o", os.DevNull,
			filepath.Join(dir, "x.dot")).CombinedOutput(); level != export.LevelPage && (err != nil || len(out) > 0) {
			t.Errorf("%s: neato: %v\n%s", level, err, out)
		}
	}
}

// Counting quotes shows that text never ends a string.
func TestDOTText(t *testing.T) {
	var b bytes.Buffer
	if err := format(t, "dot").Stream(&b, graphAt(t, terrain(t), export.Options{All: true})); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		bare := strings.NewReplacer(`\\`, "", `\"`, "").Replace(line)
		if strings.Count(bare, `"`)%2 != 0 {
			t.Errorf("a string does not end: %s", line)
		}
	}
}

// A box is the box of a node in a drawing, in inches.
type box struct{ x, y, w, h float64 }

// drawn draws a graph with Graphviz and returns the boxes of its nodes by id, and that of the whole
// under "".
func drawn(t *testing.T, g *export.Graph) map[string]box {
	t.Helper()
	if _, err := exec.LookPath("dot"); err != nil {
		lacking(t, "no graphviz")
	}
	var b bytes.Buffer
	if err := format(t, "dot").Stream(&b, g); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dot", "-Tplain")
	cmd.Stdin = &b
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	boxes := map[string]box{}
	for line := range strings.Lines(string(out)) {
		var id string
		var at box
		if n, _ := fmt.Sscanf(line, "node %s %f %f %f %f", &id, &at.x, &at.y, &at.w, &at.h); n == 5 {
			boxes[id] = at
		}
		if n, _ := fmt.Sscanf(line, "graph 1 %f %f", &at.w, &at.h); n == 2 {
			boxes[""] = at
		}
	}
	return boxes
}

// With 300 hosts and no options, no labels overlap, and those of hosts with many links are larger.
func TestDOTReadable(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	var hosts []string
	for i := range 300 {
		hosts = append(hosts, fmt.Sprintf("host-%03d.test/", i))
	}
	for i := range 60 {
		w.Visit(hosts[i], w.Links(hosts[5*i:5*i+5]...))
	}
	w.Visit("a.test/", w.Links(hosts...))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	boxes := drawn(t, graphAt(t, w, export.Options{Level: export.LevelHost}))
	whole := boxes[""]
	if delete(boxes, ""); len(boxes) != 301 {
		t.Fatalf("%d nodes", len(boxes))
	}
	if whole.w > 4*whole.h || whole.h > 4*whole.w {
		t.Errorf("the picture is %v wide and %v high", whole.w, whole.h)
	}
	const hair = 0.01
	over := 0
	for a, p := range boxes {
		for b, q := range boxes {
			if a < b && math.Abs(p.x-q.x) < (p.w+q.w)/2-hair && math.Abs(p.y-q.y) < (p.h+q.h)/2-hair {
				over++
			}
		}
	}
	if over > 0 {
		t.Errorf("%d pairs of labels lie over each other", over)
	}
	of := func(page string) box { return boxes[fmt.Sprint(w.Store.HostOf(w.Page(page)))] }
	if hub, leaf := of("a.test/"), of(hosts[299]); hub.h < 1.5*leaf.h {
		t.Errorf("the label of the hub is %v high, that of a leaf %v", hub.h, leaf.h)
	}
}

// An origin has the same colour in all pictures.
func TestOnePalette(t *testing.T) {
	c := export.ColourOf(schema.ClassQuality)
	for name, want := range map[string]string{
		"map": fmt.Sprintf(`{"class":"quality","light":"%s"`, c), "dot": fmt.Sprintf(`color="%s"`, c),
		"gexf": fmt.Sprintf(`<viz:color r="%d" g="%d" b="%d"/>`, c[0], c[1], c[2]),
	} {
		var b bytes.Buffer
		if err := format(t, name).Stream(&b, graphAt(t, terrain(t), export.Options{Level: export.LevelHost})); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s has no %s", name, want)
		}
	}
}
