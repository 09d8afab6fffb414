package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/export/browsertest"
)

func TestMain(m *testing.M) {
	sidebyside.Tests(6) // these tests mostly wait for connections to be given up
	os.Exit(browsertest.Run(m))
}

// A seenView is a view, and an expression that holds when it has been drawn.
type seenView struct{ address, until string }

func allViews() []seenView {
	table := `document.querySelector("#view td")`
	return []seenView{
		{"now", `document.querySelector(".sentence")?.innerText && ` + table}, {"map", `document.documentElement.dataset.drawn`},
		{"hosts", `document.querySelector(".grid-row .chip")`}, {"host/a.test", `document.querySelector(".strip rect")`},
		{"pages?run=3&domain=a.test", `document.querySelector(".grid-rows .state .chip")`},
		{"page?url=https%3A%2F%2Fa.test%2Fabout", `document.querySelector(".route")`},
		{"suggest", `document.querySelector(".candidate")`}, {"broken", table}, {"duplicates", table},
		{"outside", table},
		{"runs?from=1&to=2", `document.querySelectorAll("#view table").length > 2`},
		{"ask?sql=SELECT+1", table}, {"files", table}, {"control", `document.querySelector(".commands")`},
	}
}

// misfits lists elements that lie outside the window, and text that is too faint to read: with a
// contrast of less than 4.5 to 1, or 3 to 1 for large text.
const misfits = `(() => {
	const out = [], root = document.documentElement;
	if (root.scrollWidth > innerWidth) out.push("the page is " + root.scrollWidth + " px wide");
	const dot = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }), known = new Map();
	const paint = (text) => { dot.clearRect(0, 0, 1, 1); dot.fillStyle = text; dot.fillRect(0, 0, 1, 1);
		const d = dot.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
	const read = (text) => { if (!known.has(text)) known.set(text, paint(text)); return known.get(text); };
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
	const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255;
		return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
		return .2126 * r + .7152 * g + .0722 * b; };
	const ground = (e) => { const layers = []; for (let p = e; p; p = p.parentElement)
		layers.push(read(getComputedStyle(p).backgroundColor));
		return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]); };
	const seen = new Set();
	for (const e of document.querySelectorAll("body *")) {
		const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
		const style = getComputedStyle(e);
		if (!own || !e.checkVisibility({ visibilityProperty: true }) || e.closest(".hidden, .skip, svg, template, :disabled")) continue;
		const below = ground(e), ink = over(read(style.color), below), a = light(ink), b = light(below);
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05), size = parseFloat(style.fontSize);
		const what = e.className + " " + e.tagName + " " + ratio.toFixed(2);
		if (ratio >= (size >= 24 || size >= 18.66 && style.fontWeight >= 600 ? 3 : 4.5) || seen.has(what)) continue;
		seen.add(what);
		out.push(what + ": " + e.textContent.slice(0, 30));
	}
	return out.join("; ");
})()`

// outline tells what a screen reader would miss: a column without a name, a second main part, a level of headings
// that is left out. It also names links within a text that only their colour shows.
const outline = `(() => {
	const all = (what) => [...document.querySelectorAll(what)], levels = all("h1, h2, h3, h4").map((h) => +h.tagName[1]);
	const hidden = all("#view p:not(.chips) a, #view .soft a")
		.filter((a) => !/underline/.test(getComputedStyle(a).textDecorationLine));
	return [hidden.length && "a link in a text looks like the text: " + hidden[0].innerText,
		all("th").some((th) => !th.textContent.trim()) && "a th is empty",
		all("main:not([role]), [role=main]").length !== 1 && "not one main part",
		levels.some((level, i) => level > (levels[i - 1] ?? 0) + 1) && "headings skip a level: " + levels].filter(Boolean).join("; ");
})()`

// Every view is drawn at every width in both themes, under RIPPLE_PROOF=full also on a large screen: nothing
// lies outside the window, nothing is too faint, there is no fault, and one heading.
func TestViews(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("now"))
	widths := []int64{400, 1400}
	if crawltest.Full() {
		widths = append(widths, 3840)
	}
	for _, width := range widths {
		b.Size(width, 900)
		for _, v := range allViews() {
			t.Run(fmt.Sprint(v.address, " ", width), func(t *testing.T) { looksRight(b.In(t), v) })
		}
	}
}

func looksRight(b *desktest.Tab, v seenView) {
	b.Visit("none", `document.querySelector("#view.view-none")`)
	b.Visit(v.address, v.until)
	for range 2 {
		if wrong := desktest.Ask[string](b, misfits); wrong != "" {
			b.Errorf("%s: %s", desktest.Ask[string](b, "document.documentElement.dataset.theme"), wrong)
		}
		b.Press("t")
	}
	if n := desktest.Ask[int](b, `document.querySelectorAll("h1").length`); n != 1 {
		b.Errorf("%d headings", n)
	}
	if wrong := desktest.Ask[string](b, outline); wrong != "" {
		b.Error(wrong)
	}
	if fault := desktest.Ask[string](b, `document.documentElement.dataset.fault ?? ""`); fault != "" {
		b.Error(fault)
	}
}

// The figures shown are those of the answers.
func TestFigures(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("now"))
	tests := []struct{ address, until, selector, want string }{
		{"now", "true", ".sentence", "12 hosts wait, next in 3.2 s: a.test."},
		{"now", "true", ".figures", "12,847"}, {"now", "true", ".figures", "4,300"}, {"now", "true", "#pulse", "8.3/s"},
		{"now", "true", ".meta", "slow.test"}, {"now", "true", ".troubles", "gone.test TLS error, next try in 31 s"},
		{"now", `document.querySelector(".visits li")`, ".visits", "Page 2"},
		{"now", `document.querySelector("#view td")`, "#view td:last-child", "max-domain-requests = 500"},
		{"now", `document.querySelector("#view td")`, "#view tbody", "251 of 4,751"},
		{"now", "true", ".figures", "4,300 of 4,751 waiting"},
		{"now", `document.querySelector("#view td")`, "#view tbody", "777 of 1,000"},
		{"now", `document.querySelector("#view td")`, "#view tbody", "4,500 + 2 not recorded"},
		{"now", `document.querySelector("#view td")`, "#view tbody tr:nth-child(2)", "kept.test complete 58 of 60"},
		{"now", `document.querySelector("#view td")`, "#view tbody tr:nth-child(3)", "new.test – 3 of 3"},
		{"now", "true", ".reasons", "12 waiting for the Crawl-delay of their robots.txt " +
			"120 pages · next in 3.2 s: a.test, Crawl-delay 10"},
		{"now", "true", ".reasons", "40 with only retries left"},
		{"host/a.test", `document.querySelector(".deciding")`, ".deciding", "Disallow: /drafts/"},
		{"host/a.test", `document.querySelector(".deciding")`, "#view", "53 of 200"},
		{"host/a.test", "true", "#view", "Denied by robots.txt (1 of 54 pages); 1 page is known to be missing."},
		{"page?url=https%3A%2F%2Fa.test%2Fabout", `document.querySelector(".route")`, ".route", `"the A"`},
		{"host/a.test", "true", "#view", "walls 2 pages: id of a script (rule anubis-challenge of 2026-11-28; Anubis: template)"},
		{"host/a.test", "true", "#view", "missing pages soft; https://a.test/pqrs: 200 \"Not found\" at 2026-11-22"},
		{"page?url=https%3A%2F%2Fa.test%2Fabout", "true", "#view", "answer soft 404: id of a script (rule anubis-challenge"},
		{"page?url=https%3A%2F%2Fa.test%2Fabout", "true", "#view", "compared with https://a.test/pqrs: 200 \"Not found\""},
		{"page?url=https%3A%2F%2Fa.test%2Fabout", `document.querySelector(".route")`, "#view", "the newest; 7 older"},
		{"suggest", `document.querySelector(".candidate")`, ".candidate", "2 of 3 origins"},
		{"suggest", `document.querySelector(".candidate details")?.open || document.querySelector(".candidate .line .link")?.click()
			|| (document.querySelector(".candidate details").open = true)`, ".paste code", "[[quality]]\ndomain = \"new.test\""},
		{"suggest", `document.querySelector(".candidate")`, "#view", "asked Ada"},
		{"suggest", `document.querySelector(".candidate")`, ".owners", "a.test, ann.example"},
		{"hosts?tag=radio", `document.querySelector(".grid-row .tag")`, ".choice-place select", "near"},
		{"host/a.test", `document.querySelector(".deciding")`, ".hero", "radio"},
		{"host/a.test", "true", ".hero", "a.test (bücher.test)"},
		{"broken", `document.querySelector("#view td")`, ".total", "2 links to 2 targets"},
		{"broken", "true", "#view tbody tr:nth-child(2)", "https://gone.test/ ↗ unreachable – =TLS error 1 0"},
		{"broken", "true", "#view section:nth-of-type(2)", "1 link to pages that show a wall"},
		{"broken", "true", "#view section:nth-of-type(2) tbody tr", "https://walled.test/ ↗ failed 403 walled: Cloudflare 1 1"},
		{"broken?by=origin", `document.querySelector("#view td")`, "#view tbody tr", "a.test https://a.test/ Guestbook"},
		{"broken?by=origin", "true", "#view section:nth-of-type(2) tbody tr", "a.test https://a.test/ Shop"},
		{"runs", `document.querySelectorAll("#view .line .over").length === 4`, ".charts", "Pages per second"}, // a gap in each
		{"runs?from=1&to=2", `document.querySelector("#view .figure")`, "#view", "4 added, 5 removed, 6 changed"},
		{"runs?from=1&to=2", `document.querySelector("#view .figure")`, "#view", "The later run is not completed"},
		{"runs?from=1&to=2", "true", `a[href="#/runs?from=1&to=2&link=went"]`, "8"},
		{"runs?from=1&to=2&link=went", `document.querySelector("#links")`, "#view", "anchor removed"},
		{"runs?from=1&to=2&link=came", `document.querySelector("#links")`, "#view", "No link is like that."},
		{"runs?from=1&to=2", `document.querySelector("#view .figure")`, "#view", "title challenge 403 –"},
		{"runs?from=1&to=2", `document.querySelector("#view .figure")`, "#view", "https://gone.test/ 3 unreachable"},
		{"runs?from=1&to=2", `document.querySelector("#view .figure")`, "#view", "redirects to https://casino.test/"},
		{"host/a.test", `document.querySelector(".strip rect")`, "#view", "Its front page in run #1: The Bakery; in run #2: redir"},
		{"duplicates/a.test", `document.querySelector("#view td")`, "#view", "7 pages in 3 clusters, 25 % of the pages with"},
		{"duplicates", `document.querySelector("#view td")`, "#view", "https://a.test/one 3 pages on 2 hosts, at most 2 bits differ"},
		{"outside", `document.querySelector("#view td")`, ".total", "2 hosts"},
		{"outside", "true", ".lead", "by the web graph cc-main-2024-may, read"},
		{"outside", "true", "#view", "A web graph is made from a sample of the web"},
		{"outside", "true", "#view section:nth-of-type(1)", "b.test not in the graph"},
		{"outside", "true", "#view section:nth-of-type(2) tbody tr:nth-child(2)", "far.example ↗ – – 1 a.test"},
		{"outside?sort=host", "true", "#view section:nth-of-type(2) tbody tr", "best.example ↗ #4,711 #3 2 a.test, b.test"},
		{"outside?min_origins=9", `document.querySelector("#view .empty")`, "#view .empty", "No host outside links to as many"},
		{"suggest", `document.querySelector(".candidate")`, "#view section:last-of-type", "best.example 2 of 3 origins #4,711 Copy"},
		{"runs?from=1&to=2", `document.querySelector("#view .figure")`, "#view", "shown as run #1 saw them host away.test"},
		{"ask?sql=SELECT+1", `document.querySelector("#view td")`, "#view", "1,234"},
		{"ask?sql=SELECT+1", `!document.querySelector(".row-bars")`, ".tables", "Which hosts matter most?"},
		{"ask?sql=GROUP+BY", `document.querySelector(".row-bars[aria-label*='processed: 1,234; null: 0.25']")`,
			"#view figure", "pages by state"},
		{"ask?sql=SELECT+1", `(() => { const form = document.querySelector(".saved form");
			if (!form || document.querySelector(".saved a[href$='sql=SELECT+1']")) return form;
			form.querySelector("input").value = "Mine"; form.requestSubmit(); })()`, ".saved", "Mine ×"},
		{"ask?sql=SELECT+1", `(() => { const text = document.querySelector("#view textarea"), own = document.querySelector(".saved a");
			if (!text || !own) return false;
			text.value = "edited"; own.click(); return text.value === "SELECT 1"; })()`, ".saved", "Mine ×"},
		{"ask", `(() => { document.querySelector(".saved li button")?.click();
			return document.querySelector(".saved form") && !localStorage.getItem("ripple-questions").includes("Mine"); })()`,
			"#view", "Saved in this browser"},
		{"files", `document.querySelector("#view td")`, "#view", "123 MB"},
		{"files", `document.querySelector("#view td")`, "#view", "terrain-csv of run #2, from weight 3, without nav, footer"},
		{"files", `document.querySelector("#view .sheet .meter")`, "#view", "writing links 40 %"},
		{"map", `document.documentElement.dataset.drawn`, "#head", "30 hosts, 30 links\npartial: 2 hosts cut"},
		{"map?kind=blogroll", `document.documentElement.dataset.drawn`, "#head", "5 hosts, 5 links"},
		{"map", `(() => { const kind = document.getElementById("kind");
			if (!kind || !document.documentElement.dataset.drawn) return false;
			if (kind.value !== "blogroll") { kind.value = "blogroll"; kind.dispatchEvent(new Event("change")); }
			return location.hash.includes("kind=blogroll") && document.getElementById("counts").textContent.startsWith("5"); })()`,
			"#head", "5 hosts, 5 links"},
		{"map?outside=shown", `document.documentElement.dataset.drawn`, "#head",
			"; the first 1 of 9 hosts outside, by the web graph cc-main-2024-may, a sample of the web"},
		{"map?outside=shown&node=far.example", `!document.getElementById("panel").hidden`, "#panel", "no. 7"},
	}
	for _, tt := range tests {
		t.Run(tt.address+" "+tt.want, func(t *testing.T) {
			b := b.In(t)
			b.Visit(tt.address, tt.until)
			b.Wait(fmt.Sprintf(`document.querySelector(%q)?.innerText.replace(/\s+/g, " ").includes(%q)`, tt.selector,
				strings.Join(strings.Fields(tt.want), " ")))
		})
	}
}

// The view of a host agrees with "ripple inspect": whether all of it was visited, and when it is
// requested next.
func TestHostSays(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	tests := []struct {
		name         string
		dossier      object // what differs from the usual host
		want, unsaid string
	}{
		{"rests", nil, "next request in ", "in the next run"},
		{"complete", object{"coverage": "complete", "known_missing": 0, "pages_visited": 54},
			"All 54 known pages were visited.", "within reach"},
		{"complete as far as it is within reach", object{"coverage": "complete", "known_missing": 0, "pages_visited": 30},
			"All pages within reach were visited: 30 of 54 known pages.", "All 54"},
		{"given up", object{"trouble": "given up: TLS error", "again_at": nil, "next_request": nil},
			"next request in the next run", "allowed now"},
		{"budget used up", object{"trouble": "", "again_at": nil, "request_count": 200},
			"next request in the next run", "allowed now"},
		{"well", object{"trouble": "", "again_at": nil, "next_request": nil}, "next request allowed now", "next run"},
		{"listed", object{"class": "stub", "coverage": "stub", "trouble": "", "again_at": nil, "next_request": nil},
			"next request never", "budget of run"},
	}
	b := desktest.Open(t, d.url("now"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := b.In(t)
			d.change = func(v any) any {
				if o, ok := v.(map[string]any); ok && o["linked_from"] != nil {
					maps.Copy(o, tt.dossier)
				}
				return v
			}
			b.Visit("none", `document.querySelector("#view.view-none")`)
			b.Shows("host/a.test", "#view", tt.want)
			if text := desktest.Ask[string](b, `document.querySelector("#view").innerText`); strings.Contains(text, tt.unsaid) {
				t.Errorf("%q is said:\n%s", tt.unsaid, text)
			}
		})
	}
	d.change = nil
	byPlace(t, d, b)
}

// byPlace chooses the places of links in the views of a host and a page, and SQL metrics by all links.
func byPlace(t *testing.T, d *fake, b *desktest.Tab) {
	choose := func(label, value string) {
		b.Helper()
		b.Wait(fmt.Sprintf(`(() => { const s = document.querySelector('select[aria-label=%q]'); if (!s) return false;
			s.value = %q; s.dispatchEvent(new Event("change")); return true; })()`, label, value))
	}
	asks := func(prefix string) {
		t.Helper()
		if len(d.asks(prefix)) == 0 {
			t.Errorf("nothing was asked that begins with %q", prefix)
		}
	}
	b.Shows("host/a.test", "#view", "in the text 2 2 1 1 main 3 3 2 1 nav 297 297 4 0 site-wide 290 290 1 0")
	const dossier = "links counted here and in the sections below"
	choose(dossier, "nav")
	b.Wait(`document.querySelector("#view").innerText.includes("menu.test") && location.hash.endsWith("?place=nav")`)
	heads := func(text string) {
		b.Helper()
		b.Wait(fmt.Sprintf(`[...document.querySelectorAll("#view h2")].some((h) => h.innerText.replace(/\s+/g, "") === %q)`, text))
	}
	heads("Whatitlinkstoalllinks")
	b.Shows("host/a.test?place=nav", "#view", "by number of links to them: links in nav alone")
	choose(dossier, "text")
	b.Wait(`!document.querySelector("#view").innerText.includes("menu.test") && location.hash.endsWith("?place=text")`)
	heads("Whatitlinkstolinksinthetextalone")
	b.Shows("host/a.test?place=nav", "#view", "menu.test")
	asks("GET hosts/a.test?limit=100&place=nav")
	asks("GET hosts/a.test?limit=100&place=text")
	b.Shows("page?url=https%3A%2F%2Fa.test%2Fabout", "#view", "site-wide 290 290 1 0")
	choose("links", "sitewide")
	b.Wait(`document.querySelector("#view").innerText.includes("main, site-wide") && location.hash.endsWith("&place=sitewide")`)
	asks("GET pages?url=https%3A%2F%2Fa.test%2Fabout&limit=100&place=sitewide")
	b.Shows("ask?sql=SELECT+1", "#view", "2 rows")
	choose("metrics by links", "all")
	b.Wait(`location.hash.endsWith("&links=all")`)
}

func TestFinishedFile(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.mode = "file"
	b := desktest.Open(t, d.url("now"))
	b.Wait(`document.querySelector(".sentence")?.innerText.startsWith("Run #3 is completed")`)
	b.Wait(`document.querySelector(".figures").innerText.includes("31,800")`)
	b.Visit("control", `document.querySelector("#view .empty")?.innerText.includes("No crawl is using")`)
}

// For shards in a folder that are being crawled, the view does not say that nothing is fetched.
func TestShardsInAFolder(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.mode = "file"
	d.change = func(v any) any {
		answer, _ := v.(map[string]any)
		if run, ok := answer["run"].(map[string]any); ok {
			run["status"], run["reason"], run["finished_at"] = "running", "", nil
		}
		if answer["mode"] == "file" {
			answer["condition"] = conditionOf("running", "Run #3 is running on shards.")
		}
		return v
	}
	b := desktest.Open(t, d.url("now"))
	b.Wait(`document.querySelector(".sentence")?.innerText.startsWith("Run #3 is running on shards.")`)
	b.Wait(`document.querySelector("#pulse").innerText === "running"`)
}

// A failed request is shown, and can be repeated.
func TestFailures(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	for _, path := range []string{"stats", "hosts", "graph", "suggest", "broken/targets", "duplicates", "inlinks", "runs", "files",
		"query", "pages", "pages/list", "hosts/a.test"} {
		d.refuse[path] = 503
	}
	b := desktest.Open(t, d.url("now"))
	for _, v := range allViews() {
		if v.address != "control" {
			b.Visit(v.address, `document.querySelector("#view .failed")?.innerText.includes("refused with 503")`)
		}
	}
	d.mu.Lock()
	clear(d.refuse)
	d.mu.Unlock()
	b.Visit("suggest", `document.querySelector(".candidate, .failed button")`)
	desktest.Ask[any](b, `document.querySelector(".failed button")?.click()`)
	b.Wait(`document.querySelector(".candidate")`)
	refuse := func(code int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.refuse["graph"] = code
	}
	b.Visit("map", `document.documentElement.dataset.drawn && document.getElementById("kind")`)
	refuse(503) // a map that is drawn stays, and says that it is another one
	desktest.Ask[any](b, `(() => { const kind = document.getElementById("kind");
		kind.value = "blogroll"; kind.dispatchEvent(new Event("change")); })()`)
	b.Wait(`document.querySelector("#head .caption")?.innerText.includes('It shows links of kind "any", as they were.')`)
	refuse(0)
	desktest.Ask[any](b, `document.querySelector("#head .caption button").click()`)
	b.Wait(`document.querySelector("#head .caption")?.innerText === "partial: 2 hosts cut"`)
}

// Without its token the desk needs it, and the address does not keep it.
func TestToken(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("suggest"))
	b.Wait(`document.querySelector(".candidate")`)
	if address := desktest.Ask[string](b, "location.href + history.length"); strings.Contains(address, token) {
		t.Errorf("the address is %s", address)
	}
	desktest.Ask[any](b, `sessionStorage.clear(), location.reload()`)
	b.Wait(`document.querySelector("form.token input") === document.activeElement && document.activeElement.type === "password"`)
	b.Press(token)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector(".candidate")`)
}

// When the address of a new desk is entered where an older one is shown, it leads to the new one. A
// token in the fragment of an address is ignored.
func TestTokenOfANewDesk(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, strings.Replace(d.url("suggest"), token, "of-before", 1))
	b.Wait(`document.querySelector("form.token")`)
	for _, step := range []struct{ address, until string }{
		{d.server.URL + "/#/hosts?token=" + token, `document.querySelector("form.token")`},
		{d.url("hosts"), `document.querySelector(".grid-row .chip")`},
		{strings.Replace(d.url("now"), token, "of-before", 1), `document.querySelector("form.token")`},
	} {
		b.Go(step.address)
		b.Wait(step.until)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("now"))
	for _, view := range []string{"hosts", "map", "control", "broken", "now"} {
		b.Press("g")
		b.Press(view[:1])
		b.Wait(fmt.Sprintf(`location.hash.startsWith("#/%s") && document.querySelector("#view h1")?.innerText.toLowerCase()
			.startsWith(%q)`, view, view[:3]))
	}
	b.Wait(`document.activeElement?.tagName === "H1"`)
	b.Visit("map", `document.querySelector("#view #stage")`)
	b.Wait(`document.activeElement?.tagName === "H1"`)
	b.Press("?")
	b.Wait(`document.querySelectorAll("dialog[open] kbd").length > 20`)
	b.Press(kb.Escape)
	b.Wait(`!document.querySelector("dialog")`)
	theme := desktest.Ask[string](b, "document.documentElement.dataset.theme")
	b.Press("t")
	b.Wait(fmt.Sprintf("document.documentElement.dataset.theme !== %q", theme))
	b.Visit("hosts", `document.querySelector(".grid-row .chip")`)
	b.Press("/")
	b.Wait(`document.activeElement.type === "search"`)
	b.Press(kb.Escape)
	b.Press(kb.Tab)
	b.Wait(`getComputedStyle(document.activeElement).outlineStyle === "solid" && document.activeElement !== document.body`)
}

// The title gets the focus even if it comes with an answer.
func TestFocus(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("hosts"))
	for _, view := range []string{"host/a.test", "page?url=https%3A%2F%2Fa.test%2F", "hosts"} {
		desktest.Ask[any](b, fmt.Sprintf(`location.hash = "#/%s"`, view))
		b.Wait(`document.activeElement.tagName === "H1" && !document.querySelector("#view .loading")`)
	}
}

// A command that ends something asks for confirmation first.
func TestControl(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	b := desktest.Open(t, d.url("control"))
	press := func(name string) {
		desktest.Ask[any](b, fmt.Sprintf(`[...document.querySelectorAll("#view button, dialog button")]
			.findLast((x) => x.innerText === %q).click()`, name))
	}
	b.Wait(`document.querySelector(".commands")`)
	press("Pause")
	b.Wait(`document.querySelector("#view [role=status]").innerText === "The crawl is paused."`)
	press("Stop")
	b.Wait(`document.querySelector("dialog[open]")?.innerText.includes("no outputs are written")`)
	press("Cancel")
	b.Wait(`!document.querySelector("dialog")`)
	press("Stop")
	b.Wait(`document.querySelector("dialog[open]")`)
	press("Stop")
	b.Wait(`document.querySelector("#view [role=status]").innerText === "The crawl is stopping."`)
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := strings.Join(d.told, " "); got != "pause stop" {
		t.Errorf("the crawl was told %q", got)
	}
}

// Hosts with an internationalised name are shown in both forms wherever there are links to them or
// to their pages.
func TestBothForms(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.change = func(v any) any {
		text, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		return json.RawMessage(strings.ReplaceAll(string(text), "gone.test", "xn--bcher-kva.test"))
	}
	b := desktest.Open(t, d.url("broken"))
	b.Wait(`document.querySelector("#view table").innerText.includes("https://xn--bcher-kva.test/ (bücher.test)")`)
}
