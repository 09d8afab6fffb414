package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atlas"
)

// graphOf returns a small map, as the desk sends it, and a smaller one of the links of a kind.
func graphOf(r *http.Request) any {
	if r.FormValue("kind") != "" {
		return drawn(5)
	}
	return drawn(30)
}

// drawn returns a map of n hosts in a ring.
func drawn(n int) any {
	m := atlas.Map{Level: "host", Run: "3", Status: "running",
		Partial: "partial: 2 hosts cut", Palette: export.Palette(),
		Outside: &atlas.Outside{Release: "cc-main-2024-may, a sample of the web", All: 9,
			Hosts: []atlas.OutsideHost{{Name: "far.example", HarmonicRank: 7, To: []uint32{0, 1}}}}}
	for v := range n {
		m.Nodes = append(m.Nodes, atlas.Node{Name: fmt.Sprintf("host-%d.test", v),
			Class: "discovered", Cover: "complete", Depth: 1,
			Community: v % 3, Pages: 9, Visited: 5, PageRank: 1 / float64(v+1)})
		m.Edges = append(m.Edges, atlas.Edge{From: uint32(v), To: uint32((v + 1) % n), Weight: 2})
	}
	m.Points = atlas.Layout(n, m.Edges, atlas.Radii(m.Nodes), 1, nil)
	text, err := m.JSON()
	if err != nil {
		panic(err)
	}
	var read any
	if err := json.Unmarshal(text, &read); err != nil {
		panic(err)
	}
	return read
}

// The map is drawn for any number of hosts.
func TestLargeMap(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.change = func(v any) any {
		if m, ok := v.(map[string]any); ok && m["names"] != nil {
			return drawn(1500)
		}
		return v
	}
	b := desktest.Open(t, d.url("map"))
	b.Wait(`document.documentElement.dataset.drawn`)
}

// Charts are complete, however long a crawl was watched.
func TestLongPath(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	got := desktest.Ask[int](b, `import("/app/dom.js").then((m) =>
		m.svg("path", { d: "M0 0" + "L1 1".repeat(5000) }).getAttribute("d").length)`)
	if want := len("M0 0") + 5000*len("L1 1"); got != want {
		t.Errorf("the path has %d characters, want %d", got, want)
	}
}

// Each line of a chart is next to its own number, however small that is.
func TestSmallTicks(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	got := desktest.Ask[[]string](b, `import("/app/chart.js").then((m) => new Promise((done) => {
		const strip = m.gapStrip({ requests: [{ gap_ms: 150, promised_ms: 100 }], signal: new AbortController().signal });
		document.body.append(strip);
		new MutationObserver(() => done([...strip.querySelectorAll("g.axis text")].map((text) => text.textContent)))
			.observe(strip, { childList: true, subtree: true });
	}))`)
	if want := []string{"0", "0.05", "0.1", "0.15"}; !slices.Equal(got, want) {
		t.Errorf("the axis is marked %q, want %q", got, want)
	}
}

// The links of an address work, and a field holds all of it, however long it is.
func TestLongAddress(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	long := "https://a.test/" + strings.Repeat("%D0%B0", 330)
	for made, want := range map[string]string{
		`pageLink("` + long + `").getAttribute("href")`:                     "#/page?" + url.Values{"url": {long}}.Encode(),
		`outside("` + long + long + `", "open").getAttribute("href")`:       long + long,
		`el("input", { type: "text", value: "` + long + long + `" }).value`: long + long,
	} {
		if got := desktest.Ask[string](b, `import("/app/dom.js").then((m) => m.`+made+`)`); got != want {
			t.Errorf("%.30s is %d characters that end in %q, want %d", made, len(got), got[len(got)-9:], len(want))
		}
	}
}

// Characters that writing systems and pictures need are kept, even invisible ones.
func TestJoiners(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	const title = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f680 \u05d0\u200f"
	if got := desktest.Ask[string](b, fmt.Sprintf(`import("/app/dom.js").then((m) => m.el("p", {}, "%s").textContent)`,
		title)); got != title {
		t.Errorf("%+q is shown as %+q", title, got)
	}
}
