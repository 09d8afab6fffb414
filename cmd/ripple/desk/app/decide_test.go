package app

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
)

// A decision is saved only as its effect was shown.
func TestDecide(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("suggest"))
	press := func(name string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll("#view .decide button")]
			.find((x) => x.innerText === %q).click()`, name))
	}
	b.Wait(`document.querySelector(".candidate")`)
	desktest.Ask[any](b, `document.querySelector(".candidate .line .link").click()`)
	b.Wait(`document.querySelector(".decide .fields")?.hidden`)
	desktest.Ask[any](b, `document.querySelector(".decide input[value=quality]").click()`)
	desktest.Ask[any](b, `document.querySelector(".decide input[type=text]").focus()`)
	b.Press("radio, , near")
	press("See what would change")
	b.Wait(`document.querySelector(".foresight")?.innerText.includes("22 of 282 pages would change; then 21 pages wait")`)
	b.Press("!") // its effect was not shown for that
	b.Wait(`document.querySelector(".foresight").innerText === ""`)
	press("See what would change")
	b.Wait(`document.querySelector(".foresight .turns")`)
	press("Save and apply")
	b.Wait(`document.querySelector(".foresight").innerText.includes("The map has been updated.")`)
	d.mu.Lock()
	defer d.mu.Unlock()
	want := `{"host":"new.test","class":"quality","note":"","tags":["radio","near!"],"seeds":["https://new.test/start"],` +
		`"version":"v1","dry_run":false}`
	if len(d.told) != 3 || d.told[2] != want {
		t.Errorf("the desk was told %q, want %s", d.told, want)
	}
}

// Classes are chosen by keys, for one candidate or for those that are marked, decided together and undone. Hosts that
// are marked on the map are decided on in the same way.
func TestDecideSeveral(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("suggest"))
	b.Wait(`document.querySelectorAll(".candidate").length === 2`)
	press := func(name string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll(".tray button")]
			.find((x) => x.innerText === %q).click()`, name))
	}
	desktest.Ask[any](b, `document.querySelector(".candidate").focus()`)
	b.Press("q") // the next one has the focus then
	b.Wait(`document.activeElement.dataset.entity === "shop.other.test"`)
	b.Press(" ")
	b.Wait(`document.querySelector(".tray")?.innerText.includes("1 marked")`)
	b.Press("b")
	b.Wait(`document.querySelector(".tray")?.innerText.includes("2 chosen")`)
	press("See what would change")
	b.Wait(`document.querySelector(".tray .foresight .turns")`)
	press("Save and apply")
	b.Wait(`document.querySelector(".tray .foresight").innerText.includes("2 hosts decided.")`)
	b.Wait(`document.querySelectorAll(".candidate.settled").length === 2`)
	press("Undo")
	b.Wait(`document.querySelector(".tray .foresight").innerText.includes("Undone")`)
	b.Wait(`document.querySelectorAll(".candidate.settled").length === 0`)
	desktest.Ask[any](b, `document.querySelector("input.search").focus()`)
	b.Press("other")
	b.Wait(`document.querySelectorAll(".candidate").length === 1 && location.hash.includes("search=other")`)
	b.Visit("map?node=host-7.test", `document.querySelector("#panel .mark")`)
	desktest.Ask[any](b, `document.querySelector("#panel .mark").click()`)
	desktest.Ask[any](b, `document.querySelector("#panel h3.out + ul button").click()`)
	b.Wait(`document.querySelector("#panel h2").innerText === "host-8.test"`)
	b.Press("x")
	b.Wait(`document.querySelector("#marked-count").innerText === "2 marked"`)
	mark := func(name string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll("#marked button")]
			.find((x) => x.innerText === %q).click()`, name))
	}
	mark("stub")
	b.Wait(`document.querySelector("#verdict .turns")`)
	mark("Save and apply")
	b.Wait(`document.querySelector("#verdict").innerText.includes("2 hosts decided. The map has been updated.")`)
	d.mu.Lock()
	defer d.mu.Unlock()
	both := `{"decisions":[{"host":"new.test","class":"quality","seeds":["https://new.test/start"]},` +
		`{"host":"shop.other.test","class":"blacklist"}],`
	marked := `{"decisions":[{"host":"host-7.test","class":"stub"},{"host":"host-8.test","class":"stub"}],`
	want := []string{both + `"dry_run":true}`, both + `"version":"v1","dry_run":false}`,
		`{"decisions":[{"class":"none","host":"new.test"},{"class":"none","host":"shop.other.test"}],` +
			`"undo":{"at":0,"length":9,"text":"#"},"version":"v1","dry_run":false}`,
		marked + `"dry_run":true}`, marked + `"version":"v1","dry_run":false}`}
	if diff := cmp.Diff(want, d.told); diff != "" {
		t.Errorf("the desk was told (-want +got): %s", diff)
	}
}

// Hosts outside the terrain are marked and decided together, also after the table was sorted again.
func TestDecideOutside(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("outside"))
	b.Wait(`document.querySelectorAll("#view td input").length === 2`)
	desktest.Ask[any](b, `document.querySelector("#view td input[aria-label='Mark far.example']").click()`)
	b.Wait(`document.querySelector(".tray")?.innerText.includes("1 marked")`)
	desktest.Ask[any](b, `document.querySelector("#view .sortable .sorter").click()`)
	b.Wait(`document.querySelector("tr.marked")?.innerText.includes("far.example")`)
	desktest.Ask[any](b, `document.querySelector("#view td input[aria-label='Mark best.example']").click()`)
	press := func(name string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll(".tray button")]
			.find((x) => x.innerText.endsWith(%q)).click()`, name))
	}
	press("quality")
	b.Wait(`document.querySelector(".tray").innerText.includes("2 chosen")`)
	press("See what would change")
	b.Wait(`document.querySelector(".tray .foresight .turns")`)
	press("Save and apply")
	b.Wait(`document.querySelectorAll("tr.settled .verdict .chip").length === 2`)
	d.mu.Lock()
	defer d.mu.Unlock()
	want := `{"decisions":[{"host":"far.example","class":"quality"},{"host":"best.example","class":"quality"}],` +
		`"version":"v1","dry_run":false}`
	if len(d.told) != 2 || d.told[1] != want {
		t.Errorf("the desk was told %q, want %s", d.told, want)
	}
}

// After a decision the host's view shows its new class, coverage and budget.
func TestDecidedHost(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	var decided atomic.Bool
	d.change = func(v any) any {
		o, ok := v.(map[string]any)
		if !ok {
			return v
		}
		if o["written"] == true {
			decided.Store(true)
		}
		if o["domain"] == "b.test" && decided.Load() {
			o["class"], o["coverage"], o["request_limit"], o["request_count"] = "quality", "not finished", 4000, 56
		}
		return o
	}
	b := desktest.Open(t, d.url("host/b.test"))
	b.Wait(`document.querySelector(".decide input[value=quality]")`)
	desktest.Ask[any](b, `document.querySelector(".decide input[value=quality]").click()`)
	press := func(name string) {
		b.Wait(fmt.Sprintf(`[...document.querySelectorAll("#view .decide button")]
			.filter((x) => x.innerText === %q && !x.disabled).map((x) => x.click()).length === 1`, name))
	}
	press("See what would change")
	press("Save and apply")
	b.Wait(`document.querySelector(".between").innerText.includes("56 of 4,000")`)
	b.Wait(`document.querySelector(".chips").innerText.includes("not finished")`)
	b.Wait(`document.querySelector(".foresight").innerText.includes("The map has been updated.")`)
}
