package app

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
)

// A million hosts scroll to any place: rows come on demand, few exist at a time, and the scrollbar
// stays as it is.
func TestMillionHosts(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.hosts = 1_000_000
	b := desktest.Open(t, d.url("hosts"))
	shows := func(n int) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".grid-rows a.name")].some((a) => a.innerText === "host-%07d.test"
			&& a.getBoundingClientRect().bottom <= document.querySelector(".grid").getBoundingClientRect().bottom + 1
			&& a.getBoundingClientRect().top >= document.querySelector(".grid-head").getBoundingClientRect().bottom - 1)`, n)
	}
	b.Wait(shows(0))
	b.Wait(`document.querySelector(".total").innerText === "1,000,000 hosts"`)
	tall := desktest.Ask[float64](b, `document.querySelector(".grid").scrollHeight`)
	desktest.Ask[any](b, `document.querySelector(".grid").focus()`)
	for _, step := range []struct {
		key  string
		last int
	}{{kb.End, 999_999}, {kb.ArrowUp, 999_998}, {kb.Home, 0}, {kb.ArrowDown, 1}} {
		b.Press(step.key)
		b.Wait(shows(step.last))
		b.Wait(fmt.Sprintf(`document.querySelector(".grid [aria-selected=true]").getAttribute("aria-rowindex") === "%d"`, step.last+2))
	}
	for _, part := range []float64{0.25, 0.5, 0.75} { // like a hand that drags the bar
		desktest.Ask[any](b, fmt.Sprintf(`(() => { const g = document.querySelector(".grid");
			g.scrollTop = (g.scrollHeight - g.clientHeight) * %g; })()`, part))
		b.Wait(fmt.Sprintf(`Math.abs(Number(document.querySelector(".grid-rows a.name")?.innerText.slice(5, 12)) - %g) < 50`,
			part*1e6))
	}
	if got := desktest.Ask[float64](b, `document.querySelector(".grid").scrollHeight`); got != tall {
		t.Errorf("the scrollbar stood for %v px, then for %v", tall, got)
	}
	if n := desktest.Ask[int](b, `document.querySelectorAll(".grid-row").length`); n > 100 {
		t.Errorf("%d rows are there", n)
	}
	if d.limit > 500 || len(d.asks("GET hosts?")) > 30 {
		t.Errorf("%d rows were asked for at a time, in %d questions", d.limit, len(d.asks("GET hosts?")))
	}
	b.Press(kb.Home)
	b.Wait(shows(0))
	b.Press(kb.Enter)
	b.Wait(`location.hash === "#/host/host-0000000.test"`)
}

// A search goes to the desk, is kept in the address, and may find nothing.
func TestHostsAreSearchedAndSorted(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("hosts"))
	b.Wait(`document.querySelector(".grid-row .chip")`)
	b.Press("/")
	b.Wait(`document.activeElement.type === "search"`)
	desktest.Ask[any](b, `document.activeElement.value = ""`)
	b.Press("nowhere")
	b.Wait(`document.querySelector(".grid .empty")?.innerText === "No host is like that." &&
		location.hash.includes("search=nowhere")`)
	desktest.Ask[any](b, `location.hash = "#/hosts?class=quality", 1`)
	b.Wait(`document.querySelector(".grid-row .chip")`)
	desktest.Ask[any](b, `[...document.querySelectorAll(".sorter")].find((x) => x.innerText.startsWith("missing")).click()`)
	b.Wait(`document.querySelector('[aria-sort="descending"]')?.innerText === "missing ↓" &&
		document.querySelector(".grid-row .chip")`)
	last := d.asks("GET hosts?")
	if got := last[len(last)-1]; !strings.Contains(got, "sort=known_missing") || !strings.Contains(got, "desc=1") ||
		!strings.Contains(got, "class=quality") {
		t.Errorf("the last question is %s", got)
	}
	desktest.Ask[any](b, `[...document.querySelectorAll(".sorter")].find((x) => x.innerText.startsWith("coverage")).click()`)
	b.Wait(`document.querySelector('[aria-sort="ascending"]')?.innerText === "coverage ↑" && location.hash.includes("coverage")`)
	desktest.Ask[any](b, `history.back(), 1`)
	b.Wait(`document.querySelector('[aria-sort="descending"]')?.innerText === "missing ↓"`)
	desktest.Ask[any](b, `history.back(), 1`)
	b.Wait(`location.hash === "#/hosts?class=quality"
		&& document.querySelector('[aria-sort="descending"]')?.innerText === "known ↓"`)
}

// The list of pages keeps its filters, order and columns in the address, asks for the rows of one
// snapshot, and offers to refresh it when it is gone.
func TestPagesList(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.hosts = 1_000_000
	b := desktest.Open(t, d.url("pages?state=dead_link&answer=soft404&run=3&sort=title"))
	drawn := `document.querySelector(".grid-rows .state .chip")`
	b.Wait(drawn + ` && document.querySelector(".total").innerText === "1,000,000 pages" &&
		[...document.querySelectorAll("select")].some((x) => x.value === "dead_link") &&
		document.querySelector("select[aria-label=answer]").selectedOptions[0].innerText === "soft 404" &&
		document.querySelector(".removable").textContent === "requested in run #3 ×"`)
	press := func(text string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll("#view button")]
			.find((x) => x.innerText.trim().startsWith(%q)).click()`, text))
	}
	press("title")
	b.Wait(`location.hash.includes("sort=title&desc=1") && ` + drawn)
	savesPages(t, d, b, press)
	press("requested in run")
	b.Wait(`!location.hash.includes("run=") && !document.querySelector(".removable") && ` + drawn)
	desktest.Ask[any](b, `document.querySelector(".picker input[value=etag]").click()`)
	b.Wait(`location.hash.includes("columns=") && location.hash.includes("etag") && ` + drawn)
	desktest.Ask[any](b, `document.querySelector(".grid").focus()`)
	b.Press(kb.End)
	b.Wait(`[...document.querySelectorAll(".grid-rows a.name")].some((a) => a.innerText === "https://host-0999999.test/")`)
	asked := d.asks("GET pages/list?")
	if last := asked[len(asked)-1]; !strings.Contains(last, "snapshot=S") || !strings.Contains(last, "state=dead_link") ||
		!strings.Contains(last, "answer=soft404") || !strings.Contains(last, "desc=1") {
		t.Errorf("the last question is %s", last)
	}
	d.mu.Lock()
	d.refuse["pages/list"] = 410
	d.mu.Unlock()
	press("status")
	b.Wait(`document.querySelector(".failed button")?.innerText === "Refresh"`)
	d.mu.Lock()
	delete(d.refuse, "pages/list")
	d.mu.Unlock()
	press("Refresh")
	b.Wait(`!document.querySelector(".failed") && ` + drawn)
}

// savesPages saves the pages as CSV: all that match, with the columns that are shown, and no formula among them.
func savesPages(t *testing.T, d *fake, b *desktest.Tab, press func(string)) {
	t.Helper()
	resize := func(n int) {
		d.mu.Lock()
		d.hosts = n
		d.mu.Unlock()
	}
	resize(5002) // more than are asked for at once
	desktest.Ask[any](b, `URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return ""; }`)
	press("CSV")
	b.Wait("window.saved")
	lines := strings.Split(desktest.Ask[string](b, "window.saved"), "\r\n")
	if len(lines) != 5004 || lines[0] != "url,title,state,status_code,response_ms,visited_at" ||
		lines[2] != "https://host-0000001.test/,\"'=A\u202e\"\"page\"\"\t\x00x\",processed,200,1234," ||
		!strings.HasPrefix(lines[5002], "https://host-0005001.test/") || lines[5003] != "" {
		t.Errorf("%d lines: %q", len(lines), lines[:min(len(lines), 3)])
	}
	resize(1_000_000)
}

// Numbers of pages lead to these pages.
func TestNumbersLeadToPages(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.mode = "file"
	b := desktest.Open(t, d.url("now"))
	for _, step := range []struct{ view, link string }{
		{"now", "state=dead_link"}, {"now", "class=quality"}, {"now", "answer=challenge&progress=visited"},
		{"host/a.test", "domain=a.test&answer=challenge&progress=visited"},
		{"host/a.test", "domain=a.test&answer=soft404&progress=visited"},
		{"now", "error_kind=dead_link"}, {"now", "depth=none"},
		{"now", "depth=0&state=processed"}, {"runs", "run=2"}, {"host/a.test", "domain=a.test&state=failed"},
		{"host/a.test", "domain=a.test&error=denied+by+robots.txt"},
	} {
		desktest.Ask[any](b, fmt.Sprintf(`location.hash = "#/%s", 1`, step.view))
		b.Wait(fmt.Sprintf(`document.querySelector('#view a[href="#/pages?%s"]')`, step.link))
	}
}

// Tables sort by every column, keep the order in the address, and open what is inside a row.
func TestSortedTables(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("broken"))
	press := func(name string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll("#view .sorter")]
			.find((x) => x.innerText.startsWith(%q)).click()`, name))
	}
	first := func(text string) {
		b.Wait(fmt.Sprintf(`document.querySelector("#view tbody tr").innerText.includes(%q)`, text))
	}
	b.Wait(`document.querySelectorAll("#view .sorter").length === 6`)
	for _, step := range []struct{ press, first, address string }{
		{"status", "guestbook", "sort=-status"}, {"status", "guestbook", "sort=status"}, // the other one has none
		{"state", "guestbook", "sort=state"}, {"state", "gone.test", "sort=-state"}, {"origins", "guestbook", "sort=-origins"},
		{"origins", "gone.test", "sort=origins"}, {"why", "guestbook", "sort=why"},
	} {
		press(step.press)
		first(step.first)
		b.Wait(fmt.Sprintf(`location.hash.endsWith(%q)
			&& document.querySelector("#view th[aria-sort$=ending]").innerText.startsWith(%q)`, "?"+step.address, step.press))
	}
	desktest.Ask[any](b, `document.querySelector(".opener").click()`)
	b.Wait(`document.querySelector("tr.inner")?.innerText.includes("Guestbook")`)
	desktest.Ask[any](b, `document.querySelector(".opener").click()`)
	b.Wait(`!document.querySelector("tr.inner")`)
	b.Visit("broken?state=unreachable&sort=-state", `document.querySelector(".total")?.innerText === "1 of 2 links to 1 target"`)
	b.Visit("runs?sort=run", `document.querySelector("#view tbody tr")?.innerText.startsWith("#1")`)
	press("run")
	first("#2")
	b.Visit("runs?from=1&to=2&pages=-page", `document.querySelectorAll("#view .sorter").length === 8 + 5 + 3 + 5 + 5 + 4`)
	b.Wait(`[...document.querySelectorAll("#view .figure a[href*=pages]")]
		.map((a) => a.getAttribute("href").split("?")[1] + " " + a.innerText).join("; ")
		=== "change=came&from=1&to=2 4; change=went&from=1&to=2 5; change=changed&from=1&to=2 6"`)
}

// All broken links are counted, however many are listed. The view says how many that are.
func TestBrokenLinksCut(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("broken"))
	b.Wait(`document.querySelector(".total")?.innerText === "2 links to 2 targets"`)
	if desktest.Ask[bool](b, `document.querySelector("#view").innerText.includes("the first")`) {
		t.Error("two links are said to be cut")
	}
	d.change = func(v any) any {
		if counts, is := v.(map[string]any); is && counts["all_links"] != nil {
			counts["all_links"], counts["links"], counts["target_count"] = 51234, 51234, 4321
			if targets := counts["targets"].([]any); len(targets) > 1 {
				maps.Copy(targets[1].(map[string]any), object{"state": "processed", "answer": "soft404"})
			}
		}
		return v
	}
	b.Visit("now", `document.querySelector(".figures")`)
	b.Visit("broken", `document.querySelector(".total")?.innerText === "51,234 links to 4,321 targets"`)
	b.Wait(`document.querySelector("#view").innerText.includes("the first 2 targets that most pages link to")`)
	b.Wait(`document.querySelector("#view tbody tr:nth-child(2) .chip").innerText === "soft 404"`)
	b.Visit("broken?by=origin", `document.querySelector("#view").innerText.includes("the first 2 links")`)
	b.Wait(`document.querySelector(".total").innerText === "51,234 links to 4,321 targets"`)
	if asked := strings.Join(d.asks("GET broken"), " "); !strings.Contains(asked, "broken/targets?limit=1000") {
		t.Errorf("asked %s", asked)
	}
}
