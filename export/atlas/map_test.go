package atlas

import (
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// open shows a map in a window just large enough for its cards: without a graphics card, drawing costs by the pixel.
func open(t testing.TB, m Map) *browsertest.Tab {
	t.Helper()
	return show(browsertest.Open(t), m, [2]int64{900, 660})
}

// show shows a map in a window of the given size. Console output until the end of the test fails the test.
func show(b *browsertest.Tab, m Map, size [2]int64) *browsertest.Tab {
	b.Helper()
	b.Size(size[0], size[1])
	b.Silent()
	visit(b, m)
	return b
}

// address returns the fields of the page's hash.
func address(t *testing.T, b *browsertest.Tab) map[string]string {
	t.Helper()
	rest(t, b)
	fields := map[string]string{}
	for _, pair := range strings.Split(strings.TrimPrefix(browsertest.Ask[string](b, "location.hash"), "#"), "&") {
		name, value, _ := strings.Cut(pair, "=")
		fields[name] = value
	}
	return fields
}

// rest waits until the view is stored in the address.
func rest(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	b.Wait(`"resting" in document.documentElement.dataset`)
}

// turnTo sets the page's hash and waits until the page has applied it.
func turnTo(t *testing.T, b *browsertest.Tab, hash string) {
	t.Helper()
	rest(t, b)
	browsertest.Ask[any](b, fmt.Sprintf(`delete document.documentElement.dataset.resting, location.hash = %q, 1`, hash))
	rest(t, b)
}

// uncovered fails unless the view settles with node v selected and not covered by a card.
func uncovered(t *testing.T, b *browsertest.Tab, m Map, v int) {
	t.Helper()
	b.Wait(fmt.Sprintf("location.hash.includes('node=%s')", m.Nodes[v].Name))
	b.Wait(fmt.Sprintf(`"resting" in document.documentElement.dataset && (() => {
		const p = new URLSearchParams(location.hash.slice(1)), z = p.get("z");
		const px = (%g - p.get("x")) * z + innerWidth / 2, py = (%g - p.get("y")) * z + innerHeight / 2;
		return document.elementFromPoint(px, py)?.id === "labels"; })()`, m.Points[v].X, m.Points[v].Y))
}

const panelHead = `document.querySelector("#panel:not([hidden]) h2")?.textContent ?? ""`

func TestMapInABrowser(t *testing.T) {
	m := sample(1000)
	b := open(t, m)
	if painter := browsertest.Ask[string](b, "document.documentElement.dataset.painter"); painter != "webgl" {
		t.Errorf("drawn by %s", painter)
	}
	t.Run("search", func(t *testing.T) { searches(t, b.In(t), m) })
	t.Run("neighbours", func(t *testing.T) { walks(t, b.In(t), m) })
	t.Run("click", func(t *testing.T) { clicks(t, b.In(t), m) })
	t.Run("keys", func(t *testing.T) { keys(t, b.In(t)) })
	t.Run("fingers", func(t *testing.T) { pinches(t, b.In(t)) })
	t.Run("drag", func(t *testing.T) { drags(t, b.In(t)) })
	t.Run("marks", func(t *testing.T) { marks(t, b.In(t), m) })
	t.Run("pictures", func(t *testing.T) { saves(t, b.In(t), m) })
	t.Run("choices", func(t *testing.T) { chooses(t, b.In(t)) })
	t.Run("flight", func(t *testing.T) { flies(t, b.In(t), m) })
	t.Run("address", func(t *testing.T) { returns(t, b.In(t), m) })
}

// searches types a name and selects the first result, then another one with keys.
func searches(t *testing.T, b *browsertest.Tab, m Map) {
	name := m.Nodes[321].Name
	slash(t, b)
	b.Press(name)
	b.Press(kb.Enter)
	uncovered(t, b, m, 321)
	if head := browsertest.Ask[string](b, panelHead); head != name {
		t.Errorf("the panel shows %q", head)
	}
	b.Press(kb.Escape) // clears the field
	slash(t, b)
	b.Press(strings.TrimSuffix(name, ".example"))
	b.Press(kb.Tab)
	if focus := browsertest.Ask[string](b,
		`document.activeElement.closest("#results") ? "result" : document.activeElement.id`); focus != "result" {
		t.Errorf("Tab leads to %q", focus)
	}
	b.Press(kb.Escape)
}

// flies searches like a reader who has nothing against motion, for whom the view moves in many pictures.
func flies(t *testing.T, b *browsertest.Tab, m Map) {
	motion := []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "no-preference"}}
	browsertest.Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: motion})
	searches(t, b, m)
}

// slash focuses the search field. The tool sends the character although the page has prevented the
// default, so it is removed again.
func slash(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	b.Press("/")
	b.Wait(`document.activeElement.id === "query"`)
	browsertest.Ask[any](b, `document.getElementById("query").value = ""`)
}

// walks follows a neighbour in the panel.
func walks(t *testing.T, b *browsertest.Tab, m Map) {
	var want Edge // the heaviest
	for _, e := range m.Edges {
		if e.From == 321 && e.Weight > want.Weight {
			want = e
		}
	}
	got := browsertest.Ask[string](b, `document.querySelector("#panel h3.out + ul .name").textContent`)
	weights := 0
	for _, e := range m.Edges {
		if e.From == 321 && m.Nodes[e.To].Name == got {
			weights = int(e.Weight)
		}
	}
	if weights != int(want.Weight) {
		t.Fatalf("first neighbour %q; want one with weight %d", got, want.Weight)
	}
	browsertest.Ask[any](b, `document.querySelector("#panel h3.out + ul button").click()`)
	b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, got))
}

// clicks clicks the node in the middle of the view.
func clicks(t *testing.T, b *browsertest.Tab, m Map) {
	b.Press(kb.Escape)
	b.Wait(`document.getElementById("panel").hidden`)
	x, y := onScreen(t, b, m.Points[0])
	b.Do(chromedp.MouseEvent("mouseMoved", x, y))
	b.Wait(fmt.Sprintf(`document.querySelector("#tip:not([hidden]) b")?.textContent === %q`, m.Nodes[0].Name))
	b.Do(chromedp.MouseClickXY(x, y))
	b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[0].Name))
	b.Do(chromedp.MouseClickXY(x, 5)) // nothing there
	b.Wait(`document.getElementById("panel").hidden`)
}

// onScreen moves a point to the middle of the view and returns its screen position.
func onScreen(t *testing.T, b *browsertest.Tab, p Point) (x, y float64) {
	t.Helper()
	turnTo(t, b, fmt.Sprintf("#x=%g&y=%g&z=20", p.X, p.Y))
	size := browsertest.Ask[[]float64](b, "[innerWidth, innerHeight]")
	return size[0] / 2, size[1] / 2
}

// keys moves and zooms with the keyboard.
func keys(t *testing.T, b *browsertest.Tab) {
	browsertest.Ask[any](b, `document.getElementById("labels").focus()`)
	view := func() (x, z float64) {
		fields := address(t, b)
		x, _ = strconv.ParseFloat(fields["x"], 64)
		z, _ = strconv.ParseFloat(fields["z"], 64)
		return x, z
	}
	changes := func(key string, grows func(x, z, newX, newZ float64) bool) {
		t.Helper()
		x, z := view()
		before := browsertest.Ask[string](b, "location.hash")
		b.Press(key)
		b.Wait(fmt.Sprintf("location.hash !== %q", before))
		if newX, newZ := view(); !grows(x, z, newX, newZ) {
			t.Errorf("%q leads from %v, %v to %v, %v", key, x, z, newX, newZ)
		}
	}
	changes("+", func(_, z, _, newZ float64) bool { return newZ > 1.4*z })
	changes("-", func(_, z, _, newZ float64) bool { return newZ < z/1.4 })
	changes(kb.ArrowRight, func(x, _, newX, _ float64) bool { return newX > x })
	changes(kb.ArrowLeft, func(x, _, newX, _ float64) bool { return newX < x })
	changes("0", func(_, z, _, newZ float64) bool { return newZ < z })
}

// scaleOf returns the zoom factor of the view.
func scaleOf(t *testing.T, b *browsertest.Tab) float64 {
	t.Helper()
	scale, err := strconv.ParseFloat(address(t, b)["z"], 64)
	if err != nil {
		t.Fatal(err)
	}
	return scale
}

// pinches moves two fingers to twice their distance.
func pinches(t *testing.T, b *browsertest.Tab) {
	before := scaleOf(t, b)
	touch := func(kind input.DispatchTouchEventType, apart ...float64) {
		t.Helper()
		points := []*input.TouchPoint{}
		for i, x := range apart {
			id := float64(i)
			points = append(points, &input.TouchPoint{X: 450 + x, Y: 400, ID: &id})
		}
		p := input.DispatchTouchEventParams{Type: kind, TouchPoints: points}
		browsertest.Call(b, input.DispatchTouchEvent, p)
	}
	touch(input.DispatchTouchEventTypeTouchStart, -50, 50)
	for d := 60.0; d <= 100; d += 10 {
		touch(input.DispatchTouchEventTypeTouchMove, -d, d)
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	if after := scaleOf(t, b); after < 1.7*before || after > 2.3*before {
		t.Errorf("two fingers at twice the distance lead from %v to %v", before, after)
	}
}

// drags drags the background by 100 pixels and turns the wheel.
func drags(t *testing.T, b *browsertest.Tab) {
	scale, fields := scaleOf(t, b), address(t, b)
	x, err := strconv.ParseFloat(fields["x"], 64)
	if err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.MouseEvent("mousePressed", 450, 20, chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseMoved", 510, 20, chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseMoved", 550, 20, chromedp.ButtonLeft), chromedp.MouseEvent("mouseReleased", 550, 20,
			chromedp.ButtonLeft))
	b.Wait(fmt.Sprintf(`Math.abs(+new URLSearchParams(location.hash.slice(1)).get("x") - %g) < 0.05`, x-100/scale))
	turn := input.DispatchMouseEventParams{Type: "mouseWheel", X: 450, Y: 330, DeltaX: 1, DeltaY: -300}
	browsertest.Call(b, input.DispatchMouseEvent, turn)
	b.Wait(fmt.Sprintf(`+new URLSearchParams(location.hash.slice(1)).get("z") > %g`, 1.2*scale))
}

// chooses changes colouring, size, links and theme, and isolates a group.
func chooses(t *testing.T, b *browsertest.Tab) {
	groups := func() int { return browsertest.Ask[int](b, `document.querySelectorAll("#groups button").length`) }
	before := groups()
	for id, value := range map[string]string{"colour": "community", "size": "in", "links": "none"} {
		browsertest.Ask[any](b, fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; `+
			`s.dispatchEvent(new Event("change")); })()`, id, value))
		b.Wait(fmt.Sprintf("location.hash.includes('%s=%s')", id, value))
	}
	if after := groups(); before != 4 || after < 10 {
		t.Errorf("%d classes, %d communities", before, after)
	}
	theme := browsertest.Ask[string](b, "document.documentElement.dataset.theme")
	b.Press("t")
	b.Wait(fmt.Sprintf("document.documentElement.dataset.theme !== %q", theme))
	browsertest.Ask[any](b, `document.querySelector("#groups button").click()`)
	b.Wait(`document.querySelector("#groups button").getAttribute("aria-pressed") === "true"`)
}

// marks marks nodes with the mouse and with keys, and reads the decisions on them.
func marks(t *testing.T, b *browsertest.Tab, m Map) {
	marked := func(want int) {
		t.Helper()
		b.Wait(fmt.Sprintf(`document.getElementById("marked-count").textContent === (%d ? "%[1]d marked" : "")`, want))
	}
	shift := chromedp.ButtonModifiers(chromedp.ModifierShift)
	x, y := onScreen(t, b, m.Points[0])
	b.Do(chromedp.MouseClickXY(x, y, shift))
	marked(1)
	before := address(t, b)["x"]
	b.Do(chromedp.MouseEvent("mousePressed", x-4, y-4, chromedp.ButtonLeft, shift),
		chromedp.MouseEvent("mouseMoved", x+8, y+8, chromedp.ButtonLeft, shift),
		chromedp.MouseEvent("mouseReleased", x+8, y+8, chromedp.ButtonLeft, shift))
	marked(1)
	if after := address(t, b)["x"]; after != before {
		t.Errorf("marking moved the map from %s to %s", before, after)
	}
	slash(t, b)
	b.Press(m.Nodes[8].Name)
	b.Press(kb.Enter)
	b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[8].Name))
	b.Press(kb.Escape)
	b.Press("x")
	marked(2)
	browsertest.Ask[any](b, `[...document.querySelectorAll("#verdicts button")].find((e) => e.textContent === "stub").click()`)
	names := []string{m.Nodes[0].Name, m.Nodes[8].Name}
	slices.Sort(names)
	want := fmt.Sprintf("[[decision]]\nhost = %q\nclass = \"stub\"\n\n[[decision]]\nhost = %q\nclass = \"stub\"\n",
		names[0], names[1])
	if got := browsertest.Ask[string](b, `document.querySelector("#verdict pre").textContent`); got != want {
		t.Errorf("the entries are\n%s\nwant\n%s", got, want)
	}
	b.Press("x")
	marked(1)
	b.Wait(`document.querySelector("#verdict").childElementCount === 0`)
	b.Press(kb.Escape) // the selection
	b.Press(kb.Escape)
	marked(0)
	b.Wait(`document.getElementById("marked").hidden`)
}

// saves saves what is seen in both formats.
func saves(t *testing.T, b *browsertest.Tab, m Map) {
	onScreen(t, b, m.Points[0])
	browsertest.Ask[any](b, `(() => { const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { window.saved = blob; return make.call(URL, blob); }; })()`)
	save := func(format string) string {
		return fmt.Sprintf(`(async () => { window.saved = null; document.getElementById(%q).click();
			while (!window.saved) await new Promise((done) => setTimeout(done, 20)); return await (%%s); })()`, format)
	}
	colours := browsertest.Ask[int](b, fmt.Sprintf(save("png"), `createImageBitmap(window.saved).then((picture) => {
		const copy = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
		copy.drawImage(picture, 0, 0);
		return new Set(new Uint32Array(copy.getImageData(0, 0, picture.width, picture.height).data.buffer)).size; })`))
	if colours < 100 {
		t.Errorf("%d colours in the PNG", colours)
	}
	text := browsertest.Ask[string](b, fmt.Sprintf(save("svg"), "window.saved.text()"))
	var picture struct {
		XMLName xml.Name
		Texts   []string   `xml:"text"`
		Paths   []struct{} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(text), &picture); err != nil {
		t.Fatal(err)
	}
	if picture.XMLName.Local != "svg" || !slices.Contains(picture.Texts, m.Nodes[0].Name) || len(picture.Paths) < 5 {
		t.Errorf("the %s has %d paths and names %s", picture.XMLName.Local, len(picture.Paths), picture.Texts)
	}
}

// filters keeps the nodes that match a filter and their links, by the fields and by the address, and removes the filters
// for a result of the search that they hide.
func filters(t *testing.T, b *browsertest.Tab, m Map) {
	turnTo(t, b, "#links=all")
	all := browsertest.Ask[int](b, inkedPixels)
	shallow, hidden := 0, ""
	for _, n := range m.Nodes {
		switch {
		case n.Depth <= 1 && n.In+n.Out >= 4:
			shallow++
		case hidden == "":
			hidden = n.Name
		}
	}
	turnTo(t, b, "#max-depth=1&min-links=x&coverage=nonsense")
	browsertest.Ask[any](b, `(() => { const field = document.getElementById("min-links"); field.value = 4;
		field.dispatchEvent(new Event("change")); })()`)
	b.Wait(`location.hash.includes("min-links=4") && location.hash.includes("max-depth=1")`)
	if got, want := b.Text("#kept"), fmt.Sprintf("%d of %d", shallow, len(m.Nodes)); got != want {
		t.Errorf("shown are %s, want %s", got, want)
	}
	some := browsertest.Ask[int](b, inkedPixels)
	turnTo(t, b, "#max-depth=1&min-links=4&min-weight=999")
	if none := browsertest.Ask[int](b, inkedPixels); none == 0 || some < none+50 || all < 2*some {
		t.Errorf("%d pixels are drawn, %d of what is kept, %d of that without links", all, some, none)
	}
	slash(t, b)
	b.Press(hidden)
	b.Press(kb.Enter)
	b.Wait(fmt.Sprintf(`(%s) === %q && document.getElementById("kept").textContent === ""`, panelHead, hidden))
	b.Press(kb.Escape)
	b.Press(kb.Escape)
	rest(t, b)
}

// returns reloads the page at the address that it has written.
func returns(t *testing.T, b *browsertest.Tab, m Map) {
	turnTo(t, b, fmt.Sprintf("#x=10&y=-20&z=3&node=%s&colour=depth&theme=dark", m.Nodes[7].Name))
	b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[7].Name))
	b.Do(chromedp.Reload())
	b.Wait("document.documentElement.dataset.drawn")
	b.Wait(fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[7].Name))
	b.Wait(`document.getElementById("colour").value === "depth" && ` +
		`document.documentElement.dataset.theme === "dark"`)
	b.Wait(`(() => { const p = new URLSearchParams(location.hash.slice(1)); ` +
		`return +p.get("x") === 10 && +p.get("y") === -20 && +p.get("z") === 3; })()`)
}

// BenchmarkFirstPicture measures from the navigation to the first picture, in Chromium.
func BenchmarkFirstPicture(b *testing.B) {
	m, total := denser(sample(5000), 20_000), 0
	for b.Loop() {
		drawn, err := strconv.Atoi(browsertest.Ask[string](
			show(browsertest.Open(b), m, [2]int64{1280, 940}), "document.documentElement.dataset.drawn"))
		if err != nil {
			b.Fatal(err)
		}
		total += drawn
	}
	b.ReportMetric(float64(total)/float64(b.N), "ms/picture")
}

// denser adds links until there are enough.
func denser(m Map, links int) Map {
	for u := uint32(0); len(m.Edges) < links; u = (u + 7) % uint32(len(m.Nodes)) {
		m.Edges = append(m.Edges, Edge{u, (u*31 + uint32(len(m.Edges))) % uint32(len(m.Nodes)), 1, 0})
	}
	return m
}

func TestMapWithoutWebGL(t *testing.T) {
	m := sample(400)
	b := show(browsertest.OpenWith(t, "disable-3d-apis"), m, [2]int64{900, 660})
	if painter := browsertest.Ask[string](b, "document.documentElement.dataset.painter"); painter != "canvas" {
		t.Fatalf("drawn by %s", painter)
	}
	if inked := browsertest.Ask[int](b, inkedPixels); inked < 500 {
		t.Errorf("%d pixels differ from the ground", inked)
	}
	searches(t, b, m)
	clicks(t, b, m)
	filters(t, b, m)
}

// inkedPixels counts non-background pixels of the lower canvas.
const inkedPixels = `(() => { const c = document.querySelector("#stage canvas");
	const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
	copy.drawImage(c, 0, 0); const d = copy.getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 4; i < d.length; i += 4) if (d[i] !== d[0] || d[i + 1] !== d[1] || d[i + 2] !== d[2]) n++;
	return n; })()`

// The map survives the loss of the WebGL context.
func TestMapOutlivesTheGraphicsCard(t *testing.T) {
	b := open(t, sample(200))
	browsertest.Ask[any](b, `document.querySelector("#stage canvas").getContext("webgl2").`+
		`getExtension("WEBGL_lose_context").loseContext()`)
	b.Wait(`document.documentElement.dataset.painter === "canvas"`)
	b.Wait("(" + inkedPixels + ") > 500")
}

func TestMapIsInert(t *testing.T) {
	m := sample(40)
	m.Title = hostile()[0]
	for v, text := range hostile() {
		m.Nodes[v].Name, m.Nodes[v].Title, m.Nodes[v].Class = text, text, text
	}
	b := open(t, m)
	browsertest.Ask[any](b, `(() => { const s = document.getElementById("colour"); s.value = "community"; `+
		`s.dispatchEvent(new Event("change")); })()`)
	for v := range hostile() {
		browsertest.Ask[any](b, `document.getElementById("query").value = "e"; `+
			`document.getElementById("query").dispatchEvent(new Event("input"))`)
		browsertest.Ask[any](b, fmt.Sprintf(`document.querySelectorAll("#results button")[%d]?.click()`, v))
	}
	if broken := browsertest.Ask[bool](b,
		`"broken" in document.documentElement.dataset || document.scripts.length !== 2 || `+
			`document.querySelectorAll("img, svg, base, iframe, [onload], [onerror]").length > 0`); broken {
		t.Error("a title became part of the page")
	}
	if got, want := browsertest.Ask[string](b, `document.querySelector("h1").textContent`), m.Title; got != want {
		t.Errorf("heading %q; want %q", got, want)
	}
}
