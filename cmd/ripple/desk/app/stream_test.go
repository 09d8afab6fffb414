package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
)

// A broken stream resumes after the last event that was read: no visit is missed or duplicated.
func TestStreamMissesNothing(t *testing.T) {
	t.Parallel()
	const all = 190
	d := newFake(t)
	d.stream = func(w http.ResponseWriter, r *http.Request) {
		at, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
		d.event(w, "status", "", d.status())
		for n := at + 1; n <= all; n += 3 {
			visits := []any{}
			for c := n; c < min(n+3, all+1); c++ {
				visits = append(visits, visitOf(c))
			}
			d.event(w, "visits", strconv.Itoa(min(n+2, all)), object{"visits": visits})
			if n-at > 60 { // breaks in the middle of an event
				fmt.Fprintf(w, "event: visits\nid: 9999\ndata: [{\"curs")
				return
			}
		}
		hold(w, r, nil)
	}
	b := desktest.Open(t, d.url("now"))
	seen := `import("/app/live.js").then((m) => m.live.visits.map((v) => v.cursor).join(" "))`
	b.Wait(`document.querySelector(".visits li")?.dataset.cursor === "190"`)
	want := make([]string, all)
	for i := range want {
		want[i] = strconv.Itoa(all - i)
	}
	if got := desktest.Ask[string](b, seen); got != strings.Join(want, " ") {
		t.Errorf("visits %s", got)
	}
	if n := len(d.asks("GET events?")); n < 3 {
		t.Errorf("%d streams", n)
	}
}

// If visits were left out, the list says how many.
func TestVisitsLeftOut(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.stream = func(w http.ResponseWriter, r *http.Request) {
		d.event(w, "status", "", d.status())
		d.event(w, "visits", "2", object{"visits": []any{visitOf(1), visitOf(2)}, "omitted": 0})
		d.event(w, "visits", "90", object{"visits": []any{visitOf(89), visitOf(90)}, "omitted": 86})
		hold(w, r, nil)
	}
	b := desktest.Open(t, d.url("now"))
	b.Wait(`[...document.querySelectorAll(".visits li")].map((li) => li.dataset.cursor ?? li.innerText).join(" ") ===
		"90 89 86 visits in between are not shown 2 1"`)
}

// A hidden tab has no stream, and reconnects when it becomes visible.
func TestHiddenTabHasNoStream(t *testing.T) {
	t.Parallel()
	d, ended := newFake(t), make(chan string, 9)
	d.stream = func(w http.ResponseWriter, r *http.Request) {
		at, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
		d.event(w, "visits", strconv.Itoa(at+7), object{"visits": []any{visitOf(at + 7)}})
		hold(w, r, nil)
		ended <- r.Header.Get("Last-Event-ID")
	}
	b := desktest.Open(t, d.url("now"))
	b.Wait(`document.querySelector(".visits li")`)
	hide := func(hidden bool) {
		desktest.Ask[any](b, fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %t, configurable: true }),
			document.dispatchEvent(new Event("visibilitychange")), 1`, hidden))
	}
	hide(true)
	if cursor := <-ended; cursor != "" {
		t.Errorf("the first stream began at %q", cursor)
	}
	before := len(d.asks("GET events?"))
	hide(false)
	b.Wait(`document.querySelectorAll(".visits li").length === 2`)
	hide(true)
	if cursor := <-ended; cursor != "7" || len(d.asks("GET events?")) != before+1 {
		t.Errorf("the stream was taken up at %q, with %d questions", cursor, len(d.asks("GET events?"))-before)
	}
}

// A hidden tab stops its periodic requests until it becomes visible.
func TestHiddenTabAsksNothing(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	b.Wait(`document.querySelector(".commands")`)
	// Timers are held back and run when the test says so.
	desktest.Ask[any](b, `(() => {
		const later = setTimeout, send = fetch, held = window.held = new Map(), sent = window.sent = [];
		window.setTimeout = (f, ms, ...rest) => [3000, 10000, 30000].includes(ms) ? held.set(ms, f) && 0 : later(f, ms, ...rest);
		window.fetch = (path, options) => { sent.push(path.replace("/api/v1/", "")); return send(path, options); };
		return 1;
	})()`)
	for _, tt := range []struct{ view, asked, held string }{
		{"now", `["origins", "stats"]`, `held.has(3000) && held.has(10000)`},
		{"map", `["graph"]`, `held.has(30000)`},
	} {
		t.Run(tt.view, func(t *testing.T) {
			b := b.In(t)
			b.Visit(tt.view, tt.held)
			hidden := desktest.Ask[string](b, fmt.Sprintf(`(async () => {
				Object.defineProperty(document, "hidden", { value: true, configurable: true });
				document.dispatchEvent(new Event("visibilitychange"));
				sent.length = 0;
				for (const f of held.values()) f();
				held.clear();
				await new Promise((resolve) => setTimeout(resolve));
				return sent.filter((path) => %s.includes(path)).join(" ");
			})()`, tt.asked))
			if hidden != "" {
				t.Errorf("hidden, it asks for %s", hidden)
			}
			desktest.Ask[any](b, `(delete document.hidden, document.dispatchEvent(new Event("visibilitychange")), 1)`)
			b.Wait(fmt.Sprintf(`%s.every((path) => sent.includes(path))`, tt.asked))
		})
	}
}

// In every condition, the headline, the pill, the buttons, the rate and the remaining time agree. When the connection
// is lost, the last view stays, greyed, and it returns by itself.
func TestConditions(t *testing.T) {
	t.Parallel()
	d, next := newFake(t), make(chan func(http.ResponseWriter))
	d.stream = func(w http.ResponseWriter, r *http.Request) { hold(w, r, next) }
	b := desktest.Open(t, d.url("now"))
	for _, tt := range []struct {
		name     string
		commands []any
		buttons  string // at the headline
		pill     string
	}{
		{"running", []any{"pause", "reload", "stop"}, "Pause", "running8.3/s"},
		{"paused", []any{"unpause", "reload", "stop"}, "Resume", "paused"},
		{"waiting for the network", []any{"reload", "stop"}, "", "waiting for the network"},
		{"stopping", nil, "", "stopping"}, {"writing outputs", nil, "", "writing outputs"},
		{"paused", []any{"unpause"}, "Resume", "paused"},
	} {
		status := d.status()
		status["condition"] = conditionOf(tt.name, "This is "+tt.name+".", tt.commands...)
		if tt.buttons != "Pause" {
			status["eta_seconds"], status["eta_hosts"], status["pages_per_second"] = 0, []any{}, 0
			status["reasons"], status["troubles"], status["troubled"] = []any{}, []any{}, 0
		}
		next <- func(w http.ResponseWriter) { d.event(w, "status", "", status) }
		b.Wait(fmt.Sprintf(`document.querySelector(".sentence")?.innerText === %q`, "This is "+tt.name+"."))
		got := desktest.Ask[string](b, `[document.querySelector("#pulse").innerText.replace(/\s/g, " "),
			[...document.querySelectorAll(".hero button")].map((x) => x.innerText).join(" "),
			[...document.querySelectorAll(".figure")].find((x) => x.innerText.startsWith("pages / s")).querySelector("b").innerText,
			document.querySelector(".meta").innerText.includes("take about"),
			!document.querySelector("#view").innerText.includes("The crawl does not wait for its hosts.")].join("|")`)
		rate, fetches := "–", false
		if tt.buttons == "Pause" {
			rate, fetches = "8.3", true
		}
		want := fmt.Sprintf("%s|%s|%s|%t|%[4]t", tt.pill, tt.buttons, rate, fetches)
		if strings.ReplaceAll(got, "running 8.3", "running8.3") != want {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
	}
	desktest.Ask[any](b, `document.querySelector(".hero button").click(), 1`)
	b.Wait(`document.querySelector(".hero button").disabled`)
	for range 200 {
		if len(d.asks("POST unpause")) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if n := len(d.asks("POST unpause")); n != 1 {
		t.Errorf("the crawl was told %d times to resume", n)
	}
	d.mu.Lock()
	d.refuse["events"], d.refuse["status"] = 500, 500
	d.mu.Unlock()
	d.server.CloseClientConnections()
	b.Wait(`document.documentElement.dataset.line === "down" &&
		/^disconnected since \d\d:\d\d, trying again$/.test(document.querySelector("#pulse").innerText)`)
	if left := desktest.Ask[string](b, `document.querySelector(".sentence").innerText + getComputedStyle(
		document.querySelector("#view").firstElementChild).opacity`); left != "This is paused.0.5" {
		t.Errorf("the last view is %q", left)
	}
	d.mu.Lock()
	clear(d.refuse)
	d.mu.Unlock()
	b.Wait(`document.documentElement.dataset.line === "up" && document.querySelector("#pulse").innerText === "paused"`)
}

// If the desk has no free stream, its status is polled.
func TestNoStreamLeft(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.refuse["events"] = 503
	b := desktest.Open(t, d.url("now"))
	b.Wait(`document.querySelectorAll(".line").length === 2 && document.documentElement.dataset.line === "up"`)
	if n := len(d.asks("GET status?")); n < 2 {
		t.Errorf("the status was asked for %d times", n)
	}
}

// If the desk refuses its status, for example because a crawl is starting or does not answer, the
// reason is shown until it answers.
func TestStatusRefused(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.refuse["status"] = 503
	b := desktest.Open(t, d.url("now"))
	b.Wait(`document.querySelector("#view .failed")?.innerText === "refused with 503" &&
		document.documentElement.dataset.line === "down"`)
	d.mu.Lock()
	clear(d.refuse)
	d.mu.Unlock()
	b.Wait(`document.querySelector(".sentence")?.innerText && document.documentElement.dataset.line === "up"`)
}

// A cursor that the desk refuses, because its terrain was created again, is dropped.
func TestRefusedCursor(t *testing.T) {
	t.Parallel()
	d, n := newFake(t), 6
	d.stream = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		n++
		d.event(w, "status", "", d.status())
		d.event(w, "visits", strconv.Itoa(n), object{"visits": []any{visitOf(n)}})
		if n > 7 { // so few that the first one is still shown
			hold(w, r, nil)
		}
	}
	b := desktest.Open(t, d.url("now"))
	b.Wait(`document.querySelector('.visits [data-cursor="7"]') && document.querySelector('.visits [data-cursor="8"]')`)
}

// A cursor is kept while the desk has no free stream, however often it says so.
func TestKeptCursor(t *testing.T) {
	t.Parallel()
	d, back := newFake(t), make(chan string, 1)
	var asked atomic.Int32
	d.stream = func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n == 1:
			d.event(w, "status", "", d.status())
			d.event(w, "visits", "7", object{"visits": []any{visitOf(7)}})
		case n <= 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n == 4:
			back <- r.Header.Get("Last-Event-ID")
		}
	}
	desktest.Open(t, d.url("now"))
	if cursor := <-back; cursor != "7" {
		t.Errorf("the stream was taken up at %q", cursor)
	}
}

// A growing map keeps its view and its selection. A canvas that is no longer shown has no effect.
func TestMapGrows(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("map"))
	b.Wait(`document.documentElement.dataset.drawn`)
	moved := desktest.Ask[string](b, `Promise.all([import("/app/viewer.js"),
		fetch("/api/v1/graph", { headers: { Authorization: "Bearer t0ken" } }).then((r) => r.json())]).then(([m, raw]) => {
		const app = m.show(raw, { read: () => new URLSearchParams(), write: () => {} });
		const was = new Map(app.g.names.map((name, v) => [name, [app.g.x[v], app.g.y[v]]]));
		const grown = structuredClone(raw);
		grown.names = grown.names.map((name, v) => v < 3 ? "new-" + v + ".test" : name);
		document.querySelector("#groups button").click();
		const chosen = () => document.querySelector('#groups [aria-pressed="true"] .name')?.textContent;
		const before = chosen(), old = app.canvas;
		m.renew(app, grown);
		const painter = app.painter;
		old.dispatchEvent(new Event("webglcontextlost"));
		const wrong = app.g.names.filter((name, v) => was.has(name) ? app.g.x[v] !== was.get(name)[0] || app.g.y[v] !== was.get(name)[1]
			: !Number.isFinite(app.g.x[v]) || !Number.isFinite(app.g.y[v]));
		if (!before || chosen() !== before) wrong.push("chosen " + chosen() + ", before " + before);
		if (app.painter !== painter) wrong.push("another painter");
		m.leave(app);
		return wrong.join(" ");
	})`)
	if moved != "" {
		t.Errorf("moved: %s", moved)
	}
}

// Changing figures do not take the focus from an element.
func TestFocusStays(t *testing.T) {
	t.Parallel()
	d, next := newFake(t), make(chan func(http.ResponseWriter))
	d.stream = func(w http.ResponseWriter, r *http.Request) { hold(w, r, next) }
	tell := func(n int) {
		next <- func(w http.ResponseWriter) {
			status := d.status()
			status["pages_requested"] = n
			d.event(w, "status", "", status)
			d.event(w, "visits", strconv.Itoa(n), object{"visits": []any{visitOf(n)}})
		}
	}
	b := desktest.Open(t, d.url("now"))
	tell(1)
	b.Wait(`document.querySelector('.visits [data-cursor="1"] a')`)
	for i, link := range []string{".meta a", ".troubles a", ".visits a"} {
		before := desktest.Ask[string](b, fmt.Sprintf(`(() => { const a = document.querySelector(%q);
			a.focus(); return a.href; })()`, link))
		n := i + 2
		tell(n)
		b.Wait(fmt.Sprintf(`document.querySelector('.visits [data-cursor="%d"] a')`, n))
		after := desktest.Ask[string](b, `document.activeElement.href ?? document.activeElement.tagName`)
		if after != before {
			t.Errorf("the focus went from %s to %s", before, after)
		}
	}
}
