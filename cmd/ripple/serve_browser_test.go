package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// view returns the address of a view.
func (d *testDesk) view(name string) string {
	return strings.TrimSuffix(d.base, "api/v1/") + "#/" + name
}

// inBrowser opens a view, with the token typed in.
func (d *testDesk) inBrowser(t *testing.T, view string) *desktest.Tab {
	t.Helper()
	b := desktest.Open(t, d.view(view))
	d.typed(b)
	return b
}

// typed types the token into a tab that needs it.
func (d *testDesk) typed(b *desktest.Tab) {
	b.Helper()
	b.Wait(`document.querySelector("form.token input") === document.activeElement`)
	b.Press(d.token)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("#view h1") && !document.querySelector("form.token")`)
}

// The desk shows in every view the figures that the commands print, and numbers lead to what they count.
func TestDeskShowsWhatIsAnswered(t *testing.T) {
	t.Parallel()
	cfg := rippletest.CrawledWhole(t, 5)
	d := serveState(t, filepath.Join(filepath.Dir(cfg), "state.bolt"))
	b := d.inBrowser(t, "now")
	stats, page := d.json("stats").(map[string]any), "https://h0.gen.test/"
	host := d.json("hosts/h0.gen.test").(map[string]any)
	inspected := d.json("pages?url=" + page).(map[string]any)
	suggested := d.json("suggest?limit=200").(map[string]any)
	first := suggested["discovered"].([]any)[0].(map[string]any)
	tests := []struct {
		view, selector string
		want           []any
	}{
		{"now", ".figures", []any{figure(stats["pages"]), figure(stats["links"]), figure(stats["hosts"])}},
		{"now", "#view", byState(stats)},
		{"now", ".sentence", []any{"run #1 is completed", stats["run"].(map[string]any)["reason"]}},
		{"hosts", ".total", []any{figure(d.json("hosts").(map[string]any)["total"]), "hosts"}},
		{"hosts?sort=domain&desc=", ".grid-rows [aria-rowindex=\"2\"]", hostCells(d)},
		{"host/h0.gen.test", "#view", append(byState(host), host["title"], host["coverage"], figure(host["pages_known"]))},
		{"page?url=" + page, "#view", []any{inspected["title"], inspected["surt_key"], inspected["rule"],
			figure(total(inspected, "links_in")) + " page", figure(total(inspected, "links_out")) + " page"}},
		{"suggest", "#view", []any{first["entity"], fmt.Sprintf("%v of %v origin", first["origins"], suggested["origins"])}},
		{"broken", ".total", []any{fmt.Sprint(len(d.json("broken").([]any))) + " link"}},
		{"runs", "#view td", []any{"#1"}},
		{"map", "#counts", []any{d.json("graph").(map[string]any)["counts"]}},
	}
	for _, tt := range tests {
		t.Run(tt.view+" "+tt.selector, func(t *testing.T) {
			b := b.In(t)
			b.Visit(tt.view, fmt.Sprintf("document.querySelector(%q)", tt.selector))
			for _, want := range tt.want {
				b.Wait(fmt.Sprintf(`document.querySelector(%q)?.innerText.replace(/\s+/g, " ").toLowerCase().includes(%q)`,
					tt.selector, strings.ToLower(strings.Join(strings.Fields(fmt.Sprint(want)), " "))))
			}
		})
	}
	d.walksNumbers(b, "now", `document.querySelector("#view .figures")`, 20)
	d.walksNumbers(b, "host/h0.gen.test", `document.querySelector("#view .figures")`, 5)
}

// Every number of a view that is a link leads to as many pages or hosts.
func (d *testDesk) walksNumbers(b *desktest.Tab, view, until string, least int) {
	b.Helper()
	b.Visit(view, until)
	links := desktest.Ask[[][2]string](b, `[...document.querySelectorAll('#view a:is([href^="#/pages"], [href^="#/hosts"])')]
		.map((a) => [a.getAttribute("href").slice(2), (a.closest(".bars li")?.querySelector(".amount") ?? a).innerText])`)
	if len(links) < least {
		b.Errorf("only %d numbers of %s are links", len(links), view)
	}
	for i, link := range links {
		view, said, _ := strings.Cut(link[0], "?")
		question := map[string]string{"pages": "pages/list", "hosts": "hosts"}[view]
		if got := figure(d.json(question + "?limit=1&" + said).(map[string]any)["total"]); got != strings.Fields(link[1])[0] {
			b.Errorf("%q leads to %s of %s", link[1], got, link[0])
		}
		if i%10 == 0 { // the view shows it, too
			b.Visit(link[0], fmt.Sprintf(`document.querySelector(".total")?.innerText.startsWith(%q + " ")`, strings.Fields(link[1])[0]))
		}
	}
}

// figure formats a number like the desk.
func figure(n any) string { return term.Commas(int(n.(float64))) }

func total(v map[string]any, list string) any { return v[list].(map[string]any)["total"] }

// byState returns the lines of the pages by state.
func byState(v map[string]any) (lines []any) {
	for state, n := range v["pages_by_state"].(map[string]any) {
		if n != 0.0 {
			lines = append(lines, strings.ReplaceAll(state, "_", " ")+" "+figure(n))
		}
	}
	return lines
}

// hostCells returns the texts in the first host's row.
func hostCells(d *testDesk) []any {
	h := d.json("hosts?sort=domain&limit=1").(map[string]any)["hosts"].([]any)[0].(map[string]any)
	return []any{h["domain"], h["class"], h["coverage"], figure(h["pages_visited"]), figure(h["requests"])}
}

// press presses the last button with a name, as soon as possible.
func press(b *desktest.Tab, name string) {
	b.Helper()
	b.Wait(fmt.Sprintf(`[...document.querySelectorAll("#view button, dialog button")]
		.filter((x) => x.innerText === %q && !x.disabled).slice(-1).map((x) => x.click()).length === 1`, name))
}

// The desk follows a running crawl, sends it commands, and shows when it is gone.
func TestDeskWatchesACrawl(t *testing.T) {
	t.Parallel()
	c := startCrawl(t, "--listen", "127.0.0.1:0")
	d := newTestDesk(t, c.desk())
	b := d.inBrowser(t, "now")
	b.Wait(`document.querySelector("#pulse").innerText.startsWith("running")`)
	b.Visit("control", `document.querySelector(".commands")`)
	press(b, "Pause")
	b.Wait(`document.querySelector("#pulse").innerText.startsWith("paused")`)
	b.Visit("now", `document.querySelector(".sentence")?.innerText.startsWith("The crawl is paused")`)
	status := d.json("status").(map[string]any)
	for _, name := range []string{"pages_requested", "pages_to_visit", "requests"} {
		b.Wait(fmt.Sprintf(`document.querySelector(".figures").innerText.includes("%s\n%s")`,
			strings.ReplaceAll(name, "_", " "), figure(status[name])))
	}
	b.Visit("host/a.test", `document.querySelector(".strip rect")`)
	b.Wait(`document.querySelector("[role=img].plot").getAttribute("aria-label").endsWith(", 0 shorter than promised")`)
	b.Visit("control", `document.querySelector(".commands")`)
	press(b, "Resume")
	b.Wait(`document.querySelector("#pulse").innerText.startsWith("running")`)
	press(b, "Stop")
	b.Wait(`document.querySelector("dialog[open]")`)
	press(b, "Stop")
	if code := c.wait(); code != 0 {
		t.Errorf("the crawl ended with %d: %s", code, c.told())
	}
	b.Wait(`document.querySelector("#pulse").innerText.startsWith("disconnected since")`)
}
