package atlas

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

// screens returns the tested screen sizes: a desktop and a phone.
func screens() map[string][2]int64 {
	return map[string][2]int64{"1400 px": {1400, 900}, "400 px": {400, 800}}
}

// view opens a map on a screen of the given size.
func view(t *testing.T, m Map, size [2]int64) *browsertest.Tab {
	t.Helper()
	b := show(browsertest.Open(t), m, size)
	rest(t, b)
	return b
}

// The names of all origins are visible when the map opens, however small their nodes are.
func TestOriginsAreNamed(t *testing.T) {
	for name, size := range screens() {
		t.Run(name, func(t *testing.T) {
			m := sample(300)
			origins := 0
			for v := range m.Nodes {
				m.Nodes[v].Class = "discovered"
				if v%60 == 59 {
					m.Nodes[v].Class, m.Nodes[v].Trust = "quality", 0
					origins++
				}
			}
			b := view(t, m, size)
			named := browsertest.Ask[string](b, `document.getElementById("labels").dataset.named`)
			for _, n := range m.Nodes {
				if n.Class == "quality" {
					origins--
					if !strings.Contains(" "+named+" ", " "+n.Name+" ") {
						t.Errorf("%s has no name on the map, which names %s", n.Name, named)
					}
				}
			}
			if origins != 0 {
				t.Errorf("%d origins were not looked for", origins)
			}
		})
	}
}

// A selected node is not hidden by the card that opens.
func TestSelectedIsUncovered(t *testing.T) {
	for name, size := range screens() {
		t.Run(name, func(t *testing.T) {
			m := sample(60)
			b := view(t, m, size)
			x, y := float64(size[0])-60, 80.0 // where the panel opens on a desktop
			if size[0] < 700 {
				x, y = float64(size[0])/2+50, float64(size[1])-90
			}
			for v := range 5 {
				const z = 20.0
				left, top := float64(m.Points[v].X)-(x-float64(size[0])/2)/z, float64(m.Points[v].Y)-(y-float64(size[1])/2)/z
				turnTo(t, b, fmt.Sprintf("#x=%g&y=%g&z=%g", left, top, z))
				b.Do(chromedp.MouseClickXY(x, y))
				b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[v].Name))
				uncovered(t, b, m, v)
				b.Press(kb.Escape)
				b.Wait(`document.getElementById("panel").hidden`)
			}
		})
	}
}

// No node is hidden by a card when the map opens, and the map takes the room that the cards leave.
func TestWholeFits(t *testing.T) {
	for name, size := range screens() {
		t.Run(name, func(t *testing.T) {
			m := sample(150)
			b := view(t, m, size)
			for v, p := range m.Points {
				under := browsertest.Ask[string](b, fmt.Sprintf(`(() => {
					const q = new URLSearchParams(location.hash.slice(1)), z = q.get("z");
					return document.elementFromPoint((%g - q.get("x")) * z + innerWidth / 2,
						(%g - q.get("y")) * z + innerHeight / 2)?.closest("[id]")?.id ?? "nothing"; })()`, p.X, p.Y))
				if under != "labels" {
					t.Fatalf("node %d is under %s", v, under)
				}
			}
			scale := scaleOf(t, b)
			wide, tall := scale*span(m.Points, func(p Point) float32 { return p.X }),
				scale*span(m.Points, func(p Point) float32 { return p.Y })
			if wide < 0.6*float64(size[0]) && tall < 0.8*float64(size[1]) {
				t.Errorf("the map is %.0f x %.0f px", wide, tall)
			}
		})
	}
}

// span returns the distance between the outermost points in one direction.
func span(points []Point, of func(Point) float32) float64 {
	low, high := of(points[0]), of(points[0])
	for _, p := range points {
		low, high = min(low, of(p)), max(high, of(p))
	}
	return float64(high - low)
}

// TestCoverage colours by coverage, filters by it and reads the reason on the card. Then it does the same with what
// owners say about training.
func TestCoverage(t *testing.T) {
	m := sample(40)
	for v := range m.Nodes {
		m.Nodes[v].Cover = "complete"
	}
	m.Nodes[3].Cover, m.Nodes[3].Reason = "denied by robots.txt", "denied by robots.txt (<b>7</b> of 12 pages)"
	m.Nodes[3].Training, m.Nodes[4].Training, m.Nodes[5].Training = "permitted", "refused", "refused"
	m.Nodes[3].Busiest = []Page{
		{URL: "https://a.example/x", Title: "<i>Busy</i>", In: 1234}, {URL: "javascript:alert(1)", Title: "worse", In: 9},
	}
	b := view(t, m, [2]int64{1400, 900})
	turnTo(t, b, "#colour=coverage&node="+m.Nodes[3].Name)
	b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[3].Name))
	groups := browsertest.Ask[string](b,
		`[...document.querySelectorAll("#groups .name")].map((e) => e.textContent).join(", ")`)
	if groups != "complete, denied by robots.txt" {
		t.Errorf("groups %q", groups)
	}
	reason := browsertest.Ask[string](b, `document.querySelector("#panel .reason").textContent`)
	if reason != m.Nodes[3].Reason {
		t.Errorf("the card says %q", reason)
	}
	pages := browsertest.Ask[string](b, `[...document.querySelectorAll("#panel a.row")].`+
		`map((a) => a.href + " " + a.textContent).join(", ")`)
	if want := "https://a.example/x <i>Busy</i>1,234 in"; pages != want {
		t.Errorf("pages %q, want %q", pages, want)
	}
	b.Press(kb.Escape)
	browsertest.Ask[any](b, `document.querySelectorAll("#groups button")[1].click()`)
	b.Wait(fmt.Sprintf(`document.getElementById("labels").dataset.named === %q`, m.Nodes[3].Name))
	turnTo(t, b, "#colour=training")
	b.Wait(`[...document.querySelectorAll("#groups li")].map((e) => e.innerText.replace(/\s+/g, " ")).join(", ") ===
		"refused 2, permitted 1, no preference 37"`)
	browsertest.Ask[any](b, `(() => { const field = document.getElementById("training"); field.value = "refused";
		field.dispatchEvent(new Event("change")); })()`)
	b.Wait(`document.getElementById("kept").textContent === "2 of 40" && location.hash.includes("training=refused")`)
	turnTo(t, b, "#training=nonsense")
	b.Wait(`document.getElementById("kept").textContent === ""`)
}

// An arrow has its head at the end of a link, and none at its beginning.
func TestArrows(t *testing.T) {
	m := Map{
		Title: "Two", Level: "host", Run: "1", Status: "completed",
		Nodes:  []Node{{Name: "a.example", Class: "stub"}, {Name: "b.example", Class: "stub"}},
		Edges:  []Edge{{From: 0, To: 1, Weight: 1}},
		Points: []Point{{Y: -10}, {Y: 10}}, // names are to the right of the nodes
	}
	b := view(t, m, [2]int64{1400, 900})
	turnTo(t, b, "#x=0&y=0&z=24")
	if at := browsertest.Ask[[]int](b, inkBesideLink); at[0] != 0 || at[1] == 0 {
		t.Errorf("%d inked pixels left of the link where it begins, %d where it ends", at[0], at[1])
	}
}

// inkBesideLink counts drawn pixels on the layer of names to the left of the link, near its two ends.
const inkBesideLink = `(() => {
	const layer = document.getElementById("labels"), ratio = layer.width / innerWidth;
	const copy = new OffscreenCanvas(layer.width, layer.height).getContext("2d", { willReadFrequently: true });
	copy.drawImage(layer, 0, 0);
	const ink = (top, bottom) => {
		const box = [innerWidth / 2 - 3, top, 2, bottom - top].map((pixels) => pixels * ratio);
		return copy.getImageData(...box).data.filter((value, i) => i % 4 === 3 && value > 0).length;
	};
	const middle = innerHeight / 2;
	return [ink(middle - 200, middle - 20), ink(middle + 20, middle + 238)]; })()`
