package atlas

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// open starts a browser and shows a map; what the console says by the end of the
// test fails it.
func open(t testing.TB, m Map, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	ctx := browse(t, more...)
	do(t, ctx, chromedp.Navigate("about:blank"))
	said := chromedp.Console(ctx)
	var heard complaints
	go heard.listen(said)
	visit(t, ctx, m)
	t.Cleanup(func() {
		if text := heard.all(); len(text) != 0 {
			t.Errorf("the console says %q", text)
		}
	})
	return ctx
}

// address returns the fields of the page's hash.
func address(t *testing.T, ctx context.Context) map[string]string {
	t.Helper()
	rest(t, ctx)
	fields := map[string]string{}
	for _, pair := range strings.Split(strings.TrimPrefix(ask[string](t, ctx, "location.hash"), "#"), "&") {
		name, value, _ := strings.Cut(pair, "=")
		fields[name] = value
	}
	return fields
}

// rest waits until the view is in the address.
func rest(t *testing.T, ctx context.Context) {
	t.Helper()
	wait(t, ctx, `"resting" in document.documentElement.dataset`)
}

// turnTo gives the page a new hash and waits until it has taken it up.
func turnTo(t *testing.T, ctx context.Context, hash string) {
	t.Helper()
	rest(t, ctx)
	ask[any](t, ctx, fmt.Sprintf(`delete document.documentElement.dataset.resting, location.hash = %q, 1`, hash))
	rest(t, ctx)
}

// uncovered fails unless the view comes to rest with node v selected and under no card.
func uncovered(t *testing.T, ctx context.Context, m Map, v int) {
	t.Helper()
	wait(t, ctx, fmt.Sprintf("location.hash.includes('node=%s')", m.Nodes[v].Name))
	wait(t, ctx, fmt.Sprintf(`"resting" in document.documentElement.dataset && (() => {
		const p = new URLSearchParams(location.hash.slice(1)), z = p.get("z");
		const px = (%g - p.get("x")) * z + innerWidth / 2, py = (%g - p.get("y")) * z + innerHeight / 2;
		return document.elementFromPoint(px, py)?.id === "labels"; })()`, m.Points[v].X, m.Points[v].Y))
}

// press sends a key to whatever has the focus.
func press(t *testing.T, ctx context.Context, keys string) {
	t.Helper()
	do(t, ctx, chromedp.KeyEvent(keys))
}

const panelHead = `document.querySelector("#panel:not([hidden]) h2")?.textContent ?? ""`

func TestMapInABrowser(t *testing.T) {
	m := sample(1000)
	ctx := open(t, m)
	if painter := ask[string](t, ctx, "document.documentElement.dataset.painter"); painter != "webgl" {
		t.Errorf("drawn by %s", painter)
	}
	t.Run("search", func(t *testing.T) { searches(t, ctx, m) })
	t.Run("neighbours", func(t *testing.T) { walks(t, ctx, m) })
	t.Run("click", func(t *testing.T) { clicks(t, ctx, m) })
	t.Run("keys", func(t *testing.T) { keys(t, ctx) })
	t.Run("fingers", func(t *testing.T) { pinches(t, ctx) })
	t.Run("drag", func(t *testing.T) { drags(t, ctx) })
	t.Run("choices", func(t *testing.T) { chooses(t, ctx) })
	t.Run("address", func(t *testing.T) { returns(t, ctx, m) })
}

// searches types a name and takes the first result, then another one by keys.
func searches(t *testing.T, ctx context.Context, m Map) {
	name := m.Nodes[321].Name
	slash(t, ctx)
	press(t, ctx, name)
	press(t, ctx, kb.Enter)
	uncovered(t, ctx, m, 321)
	if head := ask[string](t, ctx, panelHead); head != name {
		t.Errorf("the panel shows %q", head)
	}
	press(t, ctx, kb.Escape) // empties the field
	slash(t, ctx)
	press(t, ctx, strings.TrimSuffix(name, ".example"))
	press(t, ctx, kb.Tab)
	if focus := ask[string](t, ctx,
		`document.activeElement.closest("#results") ? "result" : document.activeElement.id`); focus != "result" {
		t.Errorf("Tab leads to %q", focus)
	}
	press(t, ctx, kb.Escape)
}

// slash enters the search field. The tool sends the character although the page
// has declined the key, so it is taken out again.
func slash(t *testing.T, ctx context.Context) {
	t.Helper()
	press(t, ctx, "/")
	wait(t, ctx, `document.activeElement.id === "query"`)
	ask[any](t, ctx, `document.getElementById("query").value = ""`)
}

// walks follows a neighbour in the panel.
func walks(t *testing.T, ctx context.Context, m Map) {
	var want Edge // the heaviest
	for _, e := range m.Edges {
		if e.From == 321 && e.Weight > want.Weight {
			want = e
		}
	}
	got := ask[string](t, ctx, `document.querySelector("#panel h3.out + ul .name").textContent`)
	weights := 0
	for _, e := range m.Edges {
		if e.From == 321 && m.Nodes[e.To].Name == got {
			weights = int(e.Weight)
		}
	}
	if weights != int(want.Weight) {
		t.Fatalf("first neighbour %q; want one with weight %d", got, want.Weight)
	}
	ask[any](t, ctx, `document.querySelector("#panel h3.out + ul button").click()`)
	wait(t, ctx, fmt.Sprintf(`(%s) === %q`, panelHead, got))
}

// clicks hits the node in the middle of the view.
func clicks(t *testing.T, ctx context.Context, m Map) {
	press(t, ctx, kb.Escape)
	wait(t, ctx, `document.getElementById("panel").hidden`)
	x, y := onScreen(t, ctx, m.Points[0])
	do(t, ctx, chromedp.MouseEvent("mouseMoved", x, y))
	wait(t, ctx, fmt.Sprintf(`document.querySelector("#tip:not([hidden]) b")?.textContent === %q`, m.Nodes[0].Name))
	do(t, ctx, chromedp.MouseClickXY(x, y))
	wait(t, ctx, fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[0].Name))
	do(t, ctx, chromedp.MouseClickXY(x, 5)) // nothing there
	wait(t, ctx, `document.getElementById("panel").hidden`)
}

// onScreen brings a place into the middle of the view and returns where that is.
func onScreen(t *testing.T, ctx context.Context, p Point) (x, y float64) {
	t.Helper()
	turnTo(t, ctx, fmt.Sprintf("#x=%g&y=%g&z=20", p.X, p.Y))
	size := ask[[]float64](t, ctx, "[innerWidth, innerHeight]")
	return size[0] / 2, size[1] / 2
}

// keys moves and zooms without a mouse.
func keys(t *testing.T, ctx context.Context) {
	ask[any](t, ctx, `document.getElementById("labels").focus()`)
	view := func() (x, z float64) {
		fields := address(t, ctx)
		x, _ = strconv.ParseFloat(fields["x"], 64)
		z, _ = strconv.ParseFloat(fields["z"], 64)
		return x, z
	}
	changes := func(key string, grows func(x, z, newX, newZ float64) bool) {
		t.Helper()
		x, z := view()
		before := ask[string](t, ctx, "location.hash")
		press(t, ctx, key)
		wait(t, ctx, fmt.Sprintf("location.hash !== %q", before))
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

// scaleOf returns how far the view is zoomed in.
func scaleOf(t *testing.T, ctx context.Context) float64 {
	t.Helper()
	scale, err := strconv.ParseFloat(address(t, ctx)["z"], 64)
	if err != nil {
		t.Fatal(err)
	}
	return scale
}

// pinches spreads two fingers to twice their distance.
func pinches(t *testing.T, ctx context.Context) {
	before := scaleOf(t, ctx)
	touch := func(kind input.DispatchTouchEventType, apart ...float64) {
		t.Helper()
		points := []*input.TouchPoint{}
		for i, x := range apart {
			id := float64(i)
			points = append(points, &input.TouchPoint{X: 640 + x, Y: 500, ID: &id})
		}
		p := input.DispatchTouchEventParams{Type: kind, TouchPoints: points}
		if _, err := chromedp.Call(ctx, input.DispatchTouchEvent, p); err != nil {
			t.Fatal(err)
		}
	}
	touch(input.DispatchTouchEventTypeTouchStart, -50, 50)
	for d := 60.0; d <= 100; d += 10 {
		touch(input.DispatchTouchEventTypeTouchMove, -d, d)
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	if after := scaleOf(t, ctx); after < 1.7*before || after > 2.3*before {
		t.Errorf("two fingers at twice the distance lead from %v to %v", before, after)
	}
}

// drags pulls the ground by 100 pixels and turns the wheel.
func drags(t *testing.T, ctx context.Context) {
	scale, fields := scaleOf(t, ctx), address(t, ctx)
	x, err := strconv.ParseFloat(fields["x"], 64)
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.MouseEvent("mousePressed", 640, 20, chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseMoved", 700, 20, chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseMoved", 740, 20, chromedp.ButtonLeft), chromedp.MouseEvent("mouseReleased", 740, 20,
			chromedp.ButtonLeft))
	wait(t, ctx, fmt.Sprintf(`Math.abs(+new URLSearchParams(location.hash.slice(1)).get("x") - %g) < 0.05`, x-100/scale))
	turn := input.DispatchMouseEventParams{Type: "mouseWheel", X: 640, Y: 400, DeltaX: 1, DeltaY: -300}
	if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, turn); err != nil {
		t.Fatal(err)
	}
	wait(t, ctx, fmt.Sprintf(`+new URLSearchParams(location.hash.slice(1)).get("z") > %g`, 1.2*scale))
}

// chooses changes colouring, size, links and theme and looks at a group alone.
func chooses(t *testing.T, ctx context.Context) {
	groups := func() int { return ask[int](t, ctx, `document.querySelectorAll("#groups button").length`) }
	before := groups()
	for id, value := range map[string]string{"colour": "community", "size": "in", "links": "none"} {
		ask[any](t, ctx, fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; `+
			`s.dispatchEvent(new Event("change")); })()`, id, value))
		wait(t, ctx, fmt.Sprintf("location.hash.includes('%s=%s')", id, value))
	}
	if after := groups(); before != 4 || after < 10 {
		t.Errorf("%d classes, %d communities", before, after)
	}
	theme := ask[string](t, ctx, "document.documentElement.dataset.theme")
	press(t, ctx, "t")
	wait(t, ctx, fmt.Sprintf("document.documentElement.dataset.theme !== %q", theme))
	ask[any](t, ctx, `document.querySelector("#groups button").click()`)
	wait(t, ctx, `document.querySelector("#groups button").getAttribute("aria-pressed") === "true"`)
}

// returns loads the page again at the address it has written itself.
func returns(t *testing.T, ctx context.Context, m Map) {
	turnTo(t, ctx, fmt.Sprintf("#x=10&y=-20&z=3&node=%s&colour=depth&theme=dark", m.Nodes[7].Name))
	wait(t, ctx, fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[7].Name))
	do(t, ctx, chromedp.Reload())
	wait(t, ctx, "document.documentElement.dataset.drawn")
	wait(t, ctx, fmt.Sprintf(`(%s) === %q`, panelHead, m.Nodes[7].Name))
	wait(t, ctx, `document.getElementById("colour").value === "depth" && `+
		`document.documentElement.dataset.theme === "dark"`)
	wait(t, ctx, `(() => { const p = new URLSearchParams(location.hash.slice(1)); `+
		`return +p.get("x") === 10 && +p.get("y") === -20 && +p.get("z") === 3; })()`)
}

// BenchmarkFirstPicture takes the time from the navigation to the first picture, in Chromium.
func BenchmarkFirstPicture(b *testing.B) {
	m, total := denser(sample(5000), 20_000), 0
	for b.Loop() {
		drawn, err := strconv.Atoi(ask[string](b, open(b, m), "document.documentElement.dataset.drawn"))
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
		m.Edges = append(m.Edges, Edge{u, (u*31 + uint32(len(m.Edges))) % uint32(len(m.Nodes)), 1})
	}
	return m
}

func TestMapWithoutWebGL(t *testing.T) {
	m := sample(400)
	ctx := open(t, m, chromedp.Flag("disable-3d-apis", true))
	if painter := ask[string](t, ctx, "document.documentElement.dataset.painter"); painter != "canvas" {
		t.Fatalf("drawn by %s", painter)
	}
	if inked := ask[int](t, ctx, inkedPixels); inked < 500 {
		t.Errorf("%d pixels differ from the ground", inked)
	}
	searches(t, ctx, m)
	clicks(t, ctx, m)
}

// inkedPixels counts what is not ground on the lower canvas.
const inkedPixels = `(() => { const c = document.querySelector("#stage canvas");
	const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
	copy.drawImage(c, 0, 0); const d = copy.getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 4; i < d.length; i += 4) if (d[i] !== d[0] || d[i + 1] !== d[1] || d[i + 2] !== d[2]) n++;
	return n; })()`

// A graphics card that goes away takes nothing with it.
func TestMapOutlivesTheGraphicsCard(t *testing.T) {
	ctx := open(t, sample(200))
	ask[any](t, ctx, `document.querySelector("#stage canvas").getContext("webgl2").`+
		`getExtension("WEBGL_lose_context").loseContext()`)
	wait(t, ctx, `document.documentElement.dataset.painter === "canvas"`)
	wait(t, ctx, "("+inkedPixels+") > 500")
}

func TestMapIsInert(t *testing.T) {
	m := sample(40)
	m.Title = hostile()[0]
	for v, text := range hostile() {
		m.Nodes[v].Name, m.Nodes[v].Title, m.Nodes[v].Class = text, text, text
	}
	ctx := open(t, m)
	ask[any](t, ctx, `(() => { const s = document.getElementById("colour"); s.value = "community"; `+
		`s.dispatchEvent(new Event("change")); })()`)
	for v := range hostile() {
		ask[any](t, ctx, `document.getElementById("query").value = "e"; `+
			`document.getElementById("query").dispatchEvent(new Event("input"))`)
		ask[any](t, ctx, fmt.Sprintf(`document.querySelectorAll("#results button")[%d]?.click()`, v))
	}
	if broken := ask[bool](t, ctx,
		`"broken" in document.documentElement.dataset || document.scripts.length !== 2 || `+
			`document.querySelectorAll("img, svg, base, iframe, [onload], [onerror]").length > 0`); broken {
		t.Error("a title became part of the page")
	}
	if got, want := ask[string](t, ctx, `document.querySelector("h1").textContent`), m.Title; got != want {
		t.Errorf("heading %q; want %q", got, want)
	}
}
