package atlas

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

// withOutside returns a map with a layer of n hosts outside, of which each links to two nodes.
func withOutside(m Map, n int) Map {
	m.Outside = &Outside{Release: "cc-main-2024-may, a sample of the web", All: n + 5}
	for i := range n {
		m.Outside.Hosts = append(m.Outside.Hosts, OutsideHost{Name: fmt.Sprintf("h%d.example", i),
			HarmonicRank: uint32(1000 * i), PageRank: uint32(i + 7), To: []uint32{0, uint32(1 + i%(len(m.Nodes)-1))}})
	}
	return m
}

// Hosts outside are not drawn, found or counted until the reader switches them on, and not after switching them off.
func TestOutsideLayer(t *testing.T) {
	m := withOutside(sample(60), 30)
	size := [2]int64{900, 660}
	bare := show(browsertest.OpenWith(t, "disable-3d-apis"), sample(60), size)
	rest(t, bare)
	before := browsertest.Ask[int](bare, inkedPixels)
	if !browsertest.Ask[bool](bare, `document.getElementById("layer").hidden`) {
		t.Error("a map without hosts outside offers to show them")
	}
	b := show(browsertest.OpenWith(t, "disable-3d-apis"), m, size)
	rest(t, b)
	if got := browsertest.Ask[int](b, inkedPixels); got != before || got == 0 {
		t.Errorf("%d pixels are drawn before, %d without a layer", got, before)
	}
	const search = `(() => { const q = document.getElementById("query"); q.value = "h3.example"; q.dispatchEvent(new Event("input"));
		return document.getElementById("results").innerText; })()`
	if got := browsertest.Ask[string](b, search); got != "nothing found" {
		t.Errorf("found %q in a layer that is not shown", got)
	}
	legend := b.Text("#groups")
	for _, colour := range []string{"class", "coverage", "training", "community", "depth"} {
		turnTo(t, b, "#outside=shown&colour="+colour)
		label := "outside\n30"
		if colour == "depth" {
			label = "unknown\n30"
		}
		if got := b.Text("#groups"); !strings.Contains(got, label) {
			t.Errorf("the legend of %s is %q", colour, got)
		}
	}
	counts := b.Text("#counts")
	if !strings.HasSuffix(counts, "; the first 30 of 35 hosts outside, by the web graph cc-main-2024-may, a sample of the web") {
		t.Errorf("counts are %q", counts)
	}
	turnTo(t, b, "#outside=shown&colour=class&links=none")
	if got := browsertest.Ask[int](b, inkedPixels); got == before {
		t.Errorf("the layer is not drawn: %d pixels", got)
	}
	turnTo(t, b, "#outside=shown&links=all&node=h3.example")
	panel := strings.Join(strings.Fields(b.Text("#panel")), " ")
	want := "outside mark open ↗ links out 2 harmonic rank no. 3,000 PageRank rank no. 10 " +
		"web graph cc-main-2024-may, a sample of the web"
	if !strings.Contains(panel, want) || strings.Contains(panel, "pages visited") {
		t.Errorf("the card says %q", panel)
	}
	browsertest.Ask[any](b, `(() => { const s = document.getElementById("outside"); s.value = "hidden";
		s.dispatchEvent(new Event("change")); })()`)
	b.Wait(`!location.hash.includes("outside") && document.getElementById("panel").hidden`)
	if got := b.Text("#groups"); got != legend {
		t.Errorf("the legend is %q, was %q", got, legend)
	}
}

// A pruned map has the hosts outside that link to one of its nodes.
func TestOutsidePruned(t *testing.T) {
	m := Map{Nodes: make([]Node, 3), Points: make([]Point, 3), Outside: &Outside{Release: "own", All: 9, Hosts: []OutsideHost{
		{Name: "both", To: []uint32{0, 2}}, {Name: "gone", To: []uint32{1}}, {Name: "last", To: []uint32{2}}}}}
	m.Nodes[0].Trust, m.Nodes[2].Trust = 1, 2
	want := &Outside{Release: "own", All: 9,
		Hosts: []OutsideHost{{Name: "both", To: []uint32{0, 1}}, {Name: "last", To: []uint32{1}}}}
	if diff := cmp.Diff(want, m.Foremost(2).Outside); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.Outside.Hosts[0].To[1] = 3
	if _, err := m.JSON(); err == nil {
		t.Error("a host outside links to a node that is none")
	}
}
