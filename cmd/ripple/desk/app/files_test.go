package app

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
)

// The formats offered are those that the server names. Choices become part of the order for a graph
// only.
func TestOrders(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("files"))
	b.Wait(`document.querySelectorAll("select[aria-label=run] option").length === 4`)
	desktest.Ask[any](b, `(() => {
		const change = (selector, value, name = "change") => {
			const input = document.querySelector(selector);
			if (input.type === "checkbox") input.click(); else input.value = value;
			input.dispatchEvent(new Event(name));
		};
		document.querySelector("details.further").open = true;
		change('select[aria-label="nodes of graphs"]', "site");
		change("select[aria-label=run]", "2");
		change("input.few", "3", "input");
		for (const value of ["nav", "footer", "quality", "stub", "main", "me", "blogroll", "inlinks"])
			change(`+"`.several input[value=${value}]`"+`);
		change(".several input[value=main]");
	})()`)
	want := []map[string]any{
		{"format": "gexf", "level": "site", "run": "2", "min_weight": 3.0, "without": []any{"footer", "nav"},
			"kinds": []any{"me", "blogroll"},
			"only":  []any{"quality", "stub"}, "with": []any{"inlinks"}},
		{"format": "scroll"},
	}
	for i, name := range []string{"Make GEXF", "Make Scroll"} {
		desktest.Ask[any](b, `document.querySelector('[aria-label="`+name+`"]').click()`)
		b.Wait(`document.querySelector("#view td")`)
		var got map[string]any
		err := json.Unmarshal([]byte(d.nth(t, i)), &got)
		if diff := cmp.Diff(want[i], got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// The progress of files is read once a second, however many orders were given at once.
func TestFilesAreLookedAtOnce(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("files"))
	b.Wait(`document.querySelector('[aria-label="Make Scroll"]')`)
	desktest.Ask[any](b, `(() => {
		for (let i = 0; i < 5; i++) document.querySelector('[aria-label="Make Scroll"]').click();
	})()`)
	d.nth(t, 4)
	n := 0
	for range 10 { // on a busy machine the reads after the orders come late
		before := d.looks()
		time.Sleep(3 * time.Second)
		if n = d.looks() - before; n <= 4 {
			return
		}
	}
	t.Errorf("%d looks in three seconds", n)
}

// looks counts the requests for the files.
func (d *fake) looks() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.asked {
		if one == "GET files?" {
			n++
		}
	}
	return n
}

// nth waits for a command and returns it.
func (d *fake) nth(t *testing.T, i int) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		d.mu.Lock()
		told := d.told
		d.mu.Unlock()
		if len(told) > i {
			return told[i]
		}
		if time.Now().After(end) {
			t.Fatalf("after a minute it was told %q", told)
		}
	}
}
