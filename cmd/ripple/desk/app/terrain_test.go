package app

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
)

// terrainViews are the views of a terrain of several machines, and one that needs the whole map.
func terrainViews() []seenView {
	return []seenView{
		{"now", `document.querySelectorAll(".shards tr").length > 3`}, {"control", `document.querySelector(".commands")`},
		{"hosts", `document.querySelector(".merge")`},
	}
}

// A terrain of several machines is drawn at every width in both themes, with its figures.
func TestTerrain(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.mode = "terrain"
	b := desktest.Open(t, d.url("now"))
	for _, width := range []int64{400, 1400, 3840} {
		b.Size(width, 900)
		for _, v := range terrainViews() {
			t.Run(fmt.Sprint(v.address, " ", width), func(t *testing.T) { looksRight(b.In(t), v) })
		}
	}
	tests := []struct{ address, selector, want string }{
		{"now", ".sentence", "Run #3 is open until 1 silent shard answers."}, {"now", "#pulse", "silent"},
		{"now", ".figures", "2,400 without 1 shard"}, {"now", ".figures", "12.5"}, {"now", ".figures", "2 of 3"},
		{"now", ".notes", "shard 0 has to tell shard 1 of 2 URLs, and waits for an answer for 12 s (since "},
		{"now", ".shards tbody tr:nth-child(1)", "running 1,200 34 6.3 1 min 31 s 2"},
		{"now", ".shards tbody tr:nth-child(2)", "silent – – – – – 0 since "},
		{"now", ".merge", "ripple merge ./terrain ... -o terrain.bolt"},
		{"control", ".facts", "cellar:/home/ann/terrain"}, {"control", ".commands", "All machines continue within a second."},
		{"page?url=https%3A%2F%2Fa.test%2F", ".merge", "ripple serve --state terrain.bolt"},
		{"host/a.test", ".merge", "ripple merge "}, {"nothing", ".empty", "There is no such view."},
	}
	for _, tt := range tests {
		b.Shows(tt.address, tt.selector, tt.want)
	}
}

// A run that was ended without a shard waits for no shard.
func TestTerrainWithoutShard(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.mode = "terrain"
	d.change = func(v any) any {
		answer, _ := v.(map[string]any)
		if terrain, ok := answer["terrain"].(map[string]any); ok {
			answer["status"], answer["error_message"], answer["notes"] = "interrupted", "", []any{}
			answer["condition"] = conditionOf("interrupted", "Run #3 was interrupted without shards 1, 2.")
			terrain["without"] = []any{1, 2}
		}
		return v
	}
	b := desktest.Open(t, d.url("now"))
	b.Size(1400, 900)
	for selector, want := range map[string]string{
		".sentence": "Run #3 was interrupted without shards 1, 2.", "#pulse": "interrupted",
		".notes": "No shard is waiting for another.",
	} {
		b.Shows("now", selector, want)
	}
}

// Names and states of nodes are shown as text, whatever they contain.
func TestHostileTerrainIsInert(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.mode = "terrain"
	var round atomic.Uint32
	d.change = hurt(&round)
	b := desktest.Open(t, d.url("now"))
	b.Size(400, 900)
	for n := range hostile() {
		round.Store(uint32(n))
		for _, v := range terrainViews() {
			b.Visit("none", `document.querySelector("#view.view-none")`)
			b.Visit(v.address, `document.querySelector("#view").innerText.trim() && !document.querySelector("#view .loading")`)
			if failure := b.Text("#view .failed"); strings.Contains(failure, "could not be drawn") {
				t.Errorf("%d %s: %.300s", n, v.address, failure)
			}
			if wrong := desktest.Ask[string](b, damage); wrong != "" {
				t.Errorf("%d %s: %.1000s", n, v.address, wrong)
			}
		}
	}
}
