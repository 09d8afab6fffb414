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

// noteNames makes the page record the boxes of the names that it draws, and draw again.
const noteNames = `(() => {
	const paper = document.getElementById("labels").getContext("2d"), { clearRect, fillText } = paper;
	paper.clearRect = (...all) => { window.drawn = []; clearRect.apply(paper, all); };
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

// On a phone the names of origins that are close together are complete and do not overlap.
func TestNamesInACrowd(t *testing.T) {
	b := view(t, rowOfOrigins(), [2]int64{400, 800})
	browsertest.Ask[any](b, noteNames)
	b.Wait("window.drawn?.length > 0")
	names := browsertest.Ask[[]nameBox](b, "window.drawn")
	if len(names) < 8 {
		t.Errorf("%d names: %v", len(names), names)
	}
	for i, a := range names {
		if a.Left < 0 || a.Right > 400 {
			t.Errorf("%v is not whole", a)
		}
		for _, b := range names[:i] {
			if a.Left < b.Right && b.Left < a.Right && a.Top < b.Bottom && b.Top < a.Bottom {
				t.Errorf("%v lies over %v", a, b)
			}
		}
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
