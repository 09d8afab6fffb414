package atlas

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

// rowOfOrigins returns a map of origins that are closer together than their names are long.
func rowOfOrigins() Map {
	m := Map{Title: "Row", Level: "host", Run: "1", Status: "completed"}
	for i := range 9 {
		m.Nodes = append(m.Nodes, Node{Name: fmt.Sprintf("origin-number-%d.example", i), Class: "quality", Cover: "complete"})
		m.Points = append(m.Points, Point{X: float32(i * 10), Y: float32(i % 2)})
	}
	last := &m.Nodes[8]
	last.Class, last.Cover = "discovered", "not visited"
	return m
}

// noteNames makes the page record the boxes of the names and the middles of the origins that it draws, and draw again.
const noteNames = `(() => {
	const paper = document.getElementById("labels").getContext("2d"), { clearRect, fillText, arc } = paper;
	paper.clearRect = (...all) => { window.drawn = []; window.ringed = []; clearRect.apply(paper, all); };
	paper.arc = (...all) => { window.ringed.push({ x: all[0], y: all[1] }); arc.apply(paper, all); };
	paper.fillText = (text, x, y) => {
		const size = parseInt(paper.font.match(/(\d+)px/)[1]);
		window.drawn.push({ text, left: x, right: x + paper.measureText(text).width,
			top: y - size / 2, bottom: y + size / 2 });
		fillText.call(paper, text, x, y);
	};
	dispatchEvent(new Event("resize")); })()`

type nameBox struct {
	Text                     string
	Left, Right, Top, Bottom float64
}

// heapOfOrigins returns a map of 40 origins in the place of four, among other hosts.
func heapOfOrigins() Map {
	m := sample(200)
	for v := range m.Nodes {
		m.Nodes[v].Class = "discovered"
		if v < 40 {
			m.Nodes[v].Class = "quality"
			m.Points[v] = Point{X: float32(v % 8 * 5), Y: float32(v / 8 * 5)}
		}
	}
	return m
}

// Names do not cover small nodes while there is room elsewhere.
func TestNamesLeaveNodes(t *testing.T) {
	m := Map{Title: "Small", Level: "host", Run: "1", Status: "completed"}
	for i, at := range []Point{{0, 0}, {25, 0}, {-25, 0}, {100, 100}, {-100, -100}, {100, -100}, {-100, 100}} {
		n := Node{Name: fmt.Sprintf("host-with-a-long-name-%d.example", i), Class: "discovered", Cover: "complete"}
		if i < 3 {
			n.Class = "quality"
		}
		if i == 0 {
			n.Trust = 1
		}
		m.Nodes, m.Points = append(m.Nodes, n), append(m.Points, at)
	}
	for name, size := range screens() {
		t.Run(name, func(t *testing.T) {
			b := view(t, m, size)
			browsertest.Ask[any](b, noteNames)
			b.Wait("window.drawn?.length > 0 && window.ringed.length > 0")
			names := browsertest.Ask[[]nameBox](b, "window.drawn")
			for _, at := range browsertest.Ask[[]struct{ X, Y float64 }](b, "window.ringed") {
				for _, n := range names {
					if n.Left < at.X && at.X < n.Right && n.Top < at.Y && at.Y < n.Bottom {
						t.Errorf("%v covers the origin at %v", n, at)
					}
				}
			}
		})
	}
}

// The names of origins that are close together are complete and do not overlap. The greatest has its name, and a name
// keeps its place while zooming.
func TestNamesInACrowd(t *testing.T) {
	tests := []struct {
		m     Map
		size  [2]int64
		least int // names of origins
	}{{rowOfOrigins(), [2]int64{400, 800}, 8}, {heapOfOrigins(), [2]int64{1400, 900}, 10}, {heapOfOrigins(), [2]int64{400, 800}, 4}}
	b := browsertest.Open(t)
	for i, tt := range tests {
		show(b, tt.m, tt.size)
		rest(t, b)
		browsertest.Ask[any](b, noteNames)
		b.Wait("window.drawn?.length > 0")
		names := browsertest.Ask[[]nameBox](b, "window.drawn")
		apart(t, names, float64(tt.size[0]))
		origins, greatest := 0, Node{}
		for _, n := range tt.m.Nodes {
			if n.Class != "quality" {
				continue
			}
			if slices.ContainsFunc(names, func(box nameBox) bool { return box.Text == n.Name }) {
				origins++
			}
			if n.Trust > greatest.Trust || greatest.Name == "" {
				greatest = n
			}
		}
		if origins < tt.least || !slices.ContainsFunc(names, func(box nameBox) bool { return box.Text == greatest.Name }) {
			t.Errorf("%d: %d origins have names, %v", i, origins, names)
		}
	}
	sides := `[...window.drawn].filter((n) => n.text === %q).map((n) => n.left > innerWidth / 2).join()`
	greatest := browsertest.Ask[string](b, "window.drawn[0].text")
	v := slices.IndexFunc(tests[2].m.Nodes, func(n Node) bool { return n.Name == greatest })
	turnTo(t, b, fmt.Sprintf("#x=%g&y=%g&z=4", tests[2].m.Points[v].X, tests[2].m.Points[v].Y))
	before := browsertest.Ask[string](b, fmt.Sprintf(sides, greatest))
	for range 3 {
		b.Press("+")
		rest(t, b)
		if after := browsertest.Ask[string](b, fmt.Sprintf(sides, greatest)); before == "" || after != before {
			t.Errorf("%s is drawn on the right: %s, before zooming %s", greatest, after, before)
		}
		apart(t, browsertest.Ask[[]nameBox](b, "window.drawn"), 400)
	}
}

// apart fails if names overlap or are not whole.
func apart(t *testing.T, names []nameBox, width float64) {
	t.Helper()
	for i, a := range names {
		if a.Left < 0 || a.Right > width {
			t.Errorf("%v is not whole", a)
		}
		for _, b := range names[:i] {
			if a.Left < b.Right && b.Left < a.Right && a.Top < b.Bottom && b.Top < a.Bottom {
				t.Errorf("%v lies over %v", a, b)
			}
		}
	}
}

// A host with an internationalised name is shown in its Unicode form, and in both where there is room. A form that
// could pass for another name is not shown alone.
func TestNamesInBothForms(t *testing.T) {
	m := rowOfOrigins()
	m.Nodes = append(m.Nodes[:0:0], m.Nodes[0], Node{Name: "xn--bcher-kva.example", Class: "quality"},
		Node{Name: "xn--80ak6aa92e.example", Class: "stub"})
	m.Points = []Point{{}, {X: 40}, {X: 90}}
	b := view(t, m, [2]int64{1400, 900})
	browsertest.Ask[any](b, noteNames)
	b.Wait("window.drawn?.length === 3")
	for name, want := range map[string][2]string{
		"xn--bcher-kva.example":  {"bücher.example", "xn--bcher-kva.example"},
		"xn--80ak6aa92e.example": {"xn--80ak6aa92e.example", "(аррӏе.example)"},
	} {
		turnTo(t, b, "#node="+name)
		b.Wait(fmt.Sprintf(`(%s) === %q && window.drawn.some((n) => n.text === %[2]q)`, panelHead, want[0]))
		if got := browsertest.Ask[string](b, `document.querySelector("#panel .title").textContent`); got != want[1] {
			t.Errorf("next to %q the card says %q, want %q", want[0], got, want[1])
		}
	}
	if hidden := browsertest.Ask[bool](b, `document.getElementById("ring").hidden`); hidden {
		t.Error("the legend does not explain the ring")
	}
}

// Selecting a node that the filter dims removes the filter.
func TestSelectedIsInTheFilter(t *testing.T) {
	b := view(t, rowOfOrigins(), [2]int64{1400, 900})
	turnTo(t, b, "#colour=coverage")
	browsertest.Ask[any](b, `document.querySelectorAll("#groups button")[0].click()`)
	b.Wait(`document.querySelector("#groups [aria-pressed=true]")`)
	slash(t, b)
	b.Press("origin-number-8")
	b.Press(kb.Enter)
	b.Wait(fmt.Sprintf(`(%s) === "origin-number-8.example"`, panelHead))
	b.Wait(`!document.querySelector("#groups [aria-pressed=true]")`)
}

// TestFoundIsUncovered selects a search result on a phone, where the result list and the panel would
// together cover the map.
func TestFoundIsUncovered(t *testing.T) {
	m := sample(300)
	b := view(t, m, [2]int64{400, 800})
	slash(t, b)
	b.Press("a")
	b.Press(kb.Enter)
	b.Wait(fmt.Sprintf(`(%s) !== ""`, panelHead))
	head := browsertest.Ask[string](b, panelHead)
	uncovered(t, b, m, slices.IndexFunc(m.Nodes, func(n Node) bool { return n.Name == head }))
}
