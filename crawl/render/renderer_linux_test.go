package render

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/google/go-cmp/cmp"
)

// A web maps URLs to answers.
type web map[string]string

func (w web) Answer(r Request) (Answer, bool) {
	body, ok := w[r.URL]
	kind := "text/javascript"
	switch {
	case strings.HasPrefix(body, "refused: "):
		return Answer{Refused: body}, true
	case strings.HasPrefix(body, "to: "):
		return Answer{Status: 302, Header: http.Header{"Location": {strings.TrimPrefix(body, "to: ")}}}, true
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		kind = "application/json"
	}
	return Answer{Status: 200, Header: http.Header{"Content-Type": {kind}}, Body: []byte(body)}, ok
}

func html(url, body string) Page {
	return Page{url, 200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, []byte("<!DOCTYPE html>\n" + body)}
}

// unhurried are limits for tests of other properties: a page and a browser may take as long as a
// busy machine needs.
var unhurried = limits{start: 5 * time.Minute, patience: 5 * time.Minute, memory: MemoryLimit, pages: pagesPerBrowser}

// open opens a renderer. If there is no browser, it skips the test, or fails it under RIPPLE_CI=1.
func open(t testing.TB, browsers int) *Renderer {
	t.Helper()
	return openAt(t, "", browsers)
}

// openShell opens a renderer like [open], with the browser without windows if it is installed. That starts in half the
// processor time, for tests that start many and of which it does not matter what their pages show.
func openShell(t testing.TB) *Renderer {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		path = ""
	}
	return openAt(t, path, 1)
}

// openAt opens a renderer with the browser at a path, or with the usual one.
func openAt(t testing.TB, path string, browsers int) *Renderer {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	o := Options{
		Path: path, Browsers: browsers, NoSandbox: os.Getuid() == 0, UserAgent: "ripple", MaxDOM: 10 << 20,
	}
	r, err := openWithin(t.Context(), o, unhurried)
	if errors.Is(err, ErrNoBrowser) && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// render renders a page. It leaves out the processor time, which always differs.
func render(t testing.TB, r *Renderer, p Page, a Answers) Rendering {
	t.Helper()
	got, err := r.Render(t.Context(), p, a)
	if err != nil {
		t.Fatal(err)
	}
	got.Processor = 0
	return got
}

// The tests share three browsers, since a busy machine takes a while to start one. The last one is replaced often.
func TestRenderer(t *testing.T) {
	t.Parallel()
	r := open(t, 1)
	second := open(t, 1)
	shell := openShell(t)
	t.Run("pages", func(t *testing.T) { testPages(t, r, second) })
	t.Run("same", func(t *testing.T) { testSame(t, r, second) })
	t.Run("resumes", func(t *testing.T) { testResumes(t, r, second) })
	t.Run("process", func(t *testing.T) { testProcessAPIs(t, r, second) })
	t.Run("many transactions", func(t *testing.T) { testManyTransactions(t, r) })
	t.Run("last timers", func(t *testing.T) { testLastTimers(t, r) })
	t.Run("first", func(t *testing.T) {
		t.Parallel()
		t.Run("withdrawn", func(t *testing.T) { testWithdrawn(t, r) })
		t.Run("forgets", func(t *testing.T) { testForgets(t, r) })
		t.Run("begins", func(t *testing.T) { testBegins(t, r) })
		t.Run("left waiting", func(t *testing.T) { testLeftWaiting(t, r) })
		t.Run("rooms", func(t *testing.T) { testRooms(t, r) })
		t.Run("no sound", func(t *testing.T) { testNoSound(t, r) })
		t.Run("too large", func(t *testing.T) { testTooLarge(t, r) })
		t.Run("kills", func(t *testing.T) { testKills(t, r) })
	})
	t.Run("shell", func(t *testing.T) {
		t.Parallel()
		t.Run("waiting memory", func(t *testing.T) { testWaitingMemory(t, shell) })
		t.Run("left tab", func(t *testing.T) { testLeftTab(t, shell) })
		t.Run("full room", func(t *testing.T) { testFullRoom(t, shell) })
		t.Run("blamed", func(t *testing.T) { testBlamed(t, shell) })
		t.Run("helper killed", func(t *testing.T) { testHelperKilled(t, shell) })
		t.Run("helper gone", func(t *testing.T) { testHelperGone(t, shell) })
		t.Run("helper killed at start", func(t *testing.T) { testHelperKilledAtStart(t, shell) })
		t.Run("no helper", func(t *testing.T) { testNoHelper(t, shell) })
		t.Run("limits", func(t *testing.T) { testLimits(t, shell) })
		t.Run("second start", func(t *testing.T) { testSecondStart(t, shell) })
		t.Run("silent start", func(t *testing.T) { testSilentStart(t, shell) })
		t.Run("many pages", func(t *testing.T) { testManyPages(t, shell) })
	})
}

// A pageTest is a page, its answers, and the expected result.
type pageTest struct {
	name string
	body string
	web  web
	want string // part of the document
	rest Rendering
}

func pageTests() []pageTest {
	return []pageTest{
		{"without scripts", `<html lang=en><p>as it is`, nil, `<html lang="en"><head></head><body><p>as it is`,
			Rendering{}},
		{"a script and its data", `<i id=out></i><script src=/app.js></script>`, web{
			"https://a.example/app.js":  `fetch("data#part").then(r => r.json()).then(d => out.innerHTML = d.text)`,
			"https://a.example/data":    `{"text": "<a href=/y>y</a>"}`,
			"https://a.example/nothing": ``,
		}, `<i id="out"><a href="/y">y</a></i>`,
			Rendering{Used: gets("https://a.example/app.js", "https://a.example/data")}},
		{"missing, in the order of asking",
			`<script src=/1.js></script><script src=/2.js></script><script>fetch("/3")</script>`, nil,
			"", Rendering{Missing: gets("https://a.example/1.js")}},
		{"missing behind an answer", `<script src=/1.js></script><script>fetch("/3")</script>`,
			web{"https://a.example/1.js": ``},
			"", Rendering{Missing: gets("https://a.example/3"), Used: gets("https://a.example/1.js")}},
		{"missing, and asked for synchronously",
			`<script>x = new XMLHttpRequest; x.open("GET", "/3", false); x.send()</script>`, nil,
			"", Rendering{Missing: gets("https://a.example/3")}},
		{"a type of its own", `<i id=out></i><script>(async () => {
			for (const accept of ["application/json", "*/*", "(" + "x".repeat(130)]) {
				out.append(await (await fetch("/d", {headers: {accept}})).text());
			}
		})()</script>`, web{"https://a.example/d": `d`}, `<i id="out">ddd</i>`,
			Rendering{Used: []Request{{"GET", Resource{"https://a.example/d", "application/json"}}, gets("https://a.example/d")[0]},
				Refused: refusals("GET", OwnHeader, "https://a.example/d")}},
		{"a refused script", `<i id=out></i><script src=/1.js onerror="out.append('gone')"></script>`,
			web{"https://a.example/1.js": "refused: robots.txt"}, `<i id="out">gone</i>`,
			Rendering{Refused: refusals("GET", "refused: robots.txt", "https://a.example/1.js")}},
		{"a redirect to another host", `<i id=out></i><script src=/1.js></script>`,
			web{"https://a.example/1.js": "to: https://b.example/2.js", "https://b.example/2.js": "out.append(1)"},
			`<i id="out">1</i>`, Rendering{Used: gets("https://a.example/1.js", "https://b.example/2.js")}},
		{"a redirect to what is missing", `<script src=/1.js></script>`,
			web{"https://a.example/1.js": "to: http://10.0.0.1/2.js"}, "",
			Rendering{Missing: gets("http://10.0.0.1/2.js"), Used: gets("https://a.example/1.js")}},
		{"headers of other origins", `<i id=out></i><script>` +
			`fetch("https://b.example/d", {credentials: "include", headers: {"X-Own": "1"}}).then(` +
			`async r => out.append(r.headers.get("Content-Type"), (await r.json()).a))</script>`,
			web{"https://b.example/d": `{"a": 7}`}, `<i id="out">application/json7</i>`,
			Rendering{Used: gets("https://b.example/d"), Refused: refusals("GET", OwnHeader, "https://b.example/d")}},
		{"sending", `<i id=out></i><script>fetch("/p", {method: "POST", body: "1"}).catch(() => out.append("no"))</script>`, nil,
			`<i id="out">no</i>`, Rendering{Refused: refusals("POST", "not GET or HEAD", "https://a.example/p")}},
		{"prefetches of Next", `<i id=out></i><script>
			fetch("/a", {headers: {RSC: "1", "Next-Router-Prefetch": "1"}}).catch(() => out.append(1));
			fetch("/b", {headers: {rsc: "1", "next-router-segment-prefetch": "/_tree"}}).catch(() => out.append(2));
			fetch("/c.json", {headers: {purpose: "prefetch"}}).catch(() => out.append(3))</script>`, nil, `<i id="out">123</i>`,
			Rendering{Refused: refusals("GET", "prefetch", "https://a.example/a", "https://a.example/b", "https://a.example/c.json")}},
		{"payloads of Nuxt", `<i id=out></i><script>
			fetch("/x/_payload.json?1").then(r => r.json()).then(d => out.append(d.text));
			fetch("/y/_payload.json?1")</script>`, web{"https://a.example/x/_payload.json?1": `{"text": "own"}`},
			`<i id="out">own</i>`, Rendering{Used: gets("https://a.example/x/_payload.json?1"),
				Refused: refusals("GET", "prefetch", "https://a.example/y/_payload.json?1")}},
		{"links of Quicklink", `<i id=out></i><script>
			document.head.insertAdjacentHTML("beforeend", "<link rel=prefetch href=/a><link rel=prefetch as=script href=/b.js>")
			</script>`, nil, `<i id="out"></i>`,
			Rendering{Refused: refusals("GET", "prefetch", "https://a.example/a", "https://a.example/b.js")}},
		{"sockets, events and workers", `<i id=out></i><script>
			for (const kind of [WebSocket, EventSource, Worker, SharedWorker]) {
				new kind("https://a.example/" + kind.length).onerror = () => out.append(1);
			}</script>`, nil, `<i id="out">1111</i>`,
			Rendering{Refused: slices.Concat(refusals("GET", WebSocket, "https://a.example/1"),
				refusals("GET", EventSource, "https://a.example/1"), refusals("GET", Worker, "https://a.example/1"))}},
		{"an announced fetch", `<link rel=preload as=fetch href=/d crossorigin><i id=out></i><script>
			fetch("/d").then(r => r.json()).then(d => out.append(d.a))</script>`, web{"https://a.example/d": `{"a": 7}`},
			`<i id="out">7</i>`, Rendering{Used: gets("https://a.example/d")}},
		{"a JSON module", `<i id=out></i><script type=module>
			import d from "/d" with {type: "json"}; out.append(d.a)</script>`, web{"https://a.example/d": `{"a": 7}`},
			`<i id="out">7</i>`, Rendering{Used: gets("https://a.example/d")}},
		{"asking for headers alone", `<i id=out></i><script>fetch("/h", {method: "HEAD"}).then(r => out.append(r.status))</script>`,
			web{"https://a.example/h": ``}, `<i id="out">200</i>`,
			Rendering{Used: []Request{{"HEAD", Resource{URL: "https://a.example/h"}}}}},
		{"styles load, and hold nothing", `<i id=out></i><link rel=stylesheet href=/s.css onload="out.append(1)">`, nil,
			`<i id="out">1</i>`, Rendering{Refused: refusals("GET", "stylesheet", "https://a.example/s.css")}},
		{"images fail, in order", `<i id=out></i><img src=/i.png onload="out.append(0)" onerror="out.append(1)"><script>
			const image = new Image;
			image.onerror = () => { out.append(2); image.src = "/instead.png"; };
			image.src = "/i.png";
			const box = document.body.appendChild(document.createElement("div"));
			box.innerHTML = "<img src=/i.png onerror='out.append(3)'>";
			box.attachShadow({mode: "open"}).innerHTML = "<img src=/i.png onerror='out.append(4)'>";
			image.decode().catch((e) => setTimeout(() => out.append(e.name), 9000))</script>`,
			nil, `<i id="out">123422EncodingError</i>`, Rendering{}},
		{"images in the page load", `<i id=out></i>` +
			`<img src="data:image/svg+xml,<svg/>" onload="out.append(1)" onerror="out.append(2)">`,
			nil, `<i id="out">1</i>`, Rendering{}},
		{"animations end", `<style>
			#a { transition: opacity 300ms } #a.gone { opacity: 0 } #b { animation: k 200ms 2 } @keyframes k { to { left: 9px } }
			</style><i id=out></i><i id=a></i><i id=b></i><script>
			const say = (what) => out.append(what, " ");
			a.ontransitionend = (e) => say(e.propertyName + getComputedStyle(a).opacity);
			b.onanimationend = (e) => say(e.animationName);
			setTimeout(() => a.className = "gone", 1000);
			out.animate([{opacity: 0}, {opacity: 1}], 100).onfinish = () => say("event");
			out.animate([{opacity: 0}, {opacity: 1}], 600).finished.then(() => say("promise"));
			out.animate([{opacity: 0}, {opacity: 1}], {duration: 10, iterations: Infinity}).finished.then(() => say("never"));
			setTimeout(say, 500, 500); setTimeout(say, 1250, 1250); setTimeout(say, 1400, 1400);
			document.startViewTransition(() => say("view")).finished.then(() => say("shown"))</script>`,
			nil, `<i id="out">view event shown k 500 promise 1250 opacity0 1400 </i>`, Rendering{}},
		{"one screen", `<i id=out></i><script>out.append(screen.width, " ", screen.availHeight, " ", innerWidth)</script>`,
			nil, `<i id="out">1280 800 1280</i>`, Rendering{}},
		{"what may not be used", `<i id=out></i><script>
			const say = (what) => out.append(what, " ");
			say(Notification.permission);
			new Notification("n").onerror = () => say("failed");
			Notification.requestPermission().then(say);
			navigator.serviceWorker.register("/sw.js").catch((e) => say(e.name));
			new RTCPeerConnection().createOffer().catch((e) => say(e.name));
			new WebTransport("https://b.example/t").ready.catch((e) => say(e.name))</script>`, nil,
			`<i id="out">denied denied NotAllowedError NotAllowedError NotAllowedError failed </i>`,
			Rendering{Refused: refusals("GET", WebSocket, "https://b.example/t")}},
		{"frames load, and hold nothing",
			`<i id=out></i><iframe src=https://b.example/ onload="out.append(1)"></iframe>`, nil,
			`<i id="out">1</i>`, Rendering{Refused: refusals("GET", "frame", "https://b.example/")}},
		{"leaving", `<i id=out></i><script>location = "/z"; setTimeout(() => out.append("stays"), 5000)</script>`, nil,
			`<i id="out">stays</i>`, Rendering{Navigations: []string{"https://a.example/z"}}},
		{"a new window", `<script>open("/z"); open("/z")</script>`, nil, "open",
			Rendering{Navigations: []string{"https://a.example/z"}}},
		{"windows without end", `<script>open("/?" + "x".repeat(3e5)); open("/z")</script>`, nil, "open",
			Rendering{Navigations: []string{"https://a.example/z"}}},
		{"a form", `<form action=/z><input name=q value=1></form><script>document.forms[0].submit()</script>`, nil,
			"form", Rendering{Navigations: []string{"https://a.example/z?q=1"}}},
		{"a refresh", `<meta http-equiv=refresh content="2;url=/z"><p id=out>`, nil, "out",
			Rendering{Navigations: []string{"https://a.example/z"}}},
		{"shadow roots", `<x-a></x-a><script>customElements.define("x-a", class extends HTMLElement {` +
			`connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<a href=/in>in</a>" }})</script>`,
			nil, `<x-a><template shadowrootmode="open"><a href="/in">in</a></template></x-a>`, Rendering{}},
		{"routes of a client", `<a href=next>n</a><script>history.pushState(1, "", "/deep/route/")</script>`, nil,
			`<base href="https://a.example/deep/route/">`, Rendering{}},
		{"dialogs", `<i id=out></i><script>alert(1); out.append(confirm(2), prompt(3))</script>`, nil,
			`<i id="out">falsenull</i>`, Rendering{}},
		{"text that is no text", `<i id=out></i><script>out.append("\ud800")</script>`, nil, "<i id=\"out\">\ufffd</i>",
			Rendering{}},
		{"a script that spoils its world", `<i id=out>1</i><script>` +
			`Element.prototype.getHTML = () => "x"; String.prototype.slice = null;` +
			`Array.prototype.push = null; JSON.stringify = null; document.documentElement.remove = null</script>`, nil,
			`<i id="out">1</i>`, Rendering{}},
		{"ten seconds, and no more", `<i id=out></i><script>setInterval(() => out.append(1), 999)</script>`, nil,
			`<i id="out">1111111111</i>`, Rendering{}},
	}
}

// testPages checks what the documents of pages contain, and what they requested. Browsers take turns, since most pages
// take as long as their scripts wait.
func testPages(t *testing.T, browsers ...*Renderer) {
	for i, tt := range pageTests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := browsers[i%len(browsers)]
			got := render(t, r, html("https://a.example/x", tt.body), tt.web)
			if !strings.Contains(string(got.DOM), tt.want) || (tt.want == "") != (len(got.DOM) == 0) {
				t.Errorf("document %q, want %q in it", got.DOM, tt.want)
			}
			got.DOM = nil
			// The number recorded in one round depends on the browser; the first one recorded does
			// not.
			if len(got.Missing) > 1 {
				got.Missing = got.Missing[:1]
			}
			if d := cmp.Diff(tt.rest, got); d != "" {
				t.Errorf("what was asked for (-want +got):\n%s", d)
			}
		})
	}
}

// A withdrawn request does not delay others.
func testWithdrawn(t *testing.T, r *Renderer) {
	b := <-r.idle
	defer func() { r.idle <- b }()
	in, err := b.enter("https://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	tab, end, err := b.tab(in)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if err := prepare(tab, r.options); err != nil {
		t.Fatal(err)
	}
	v, e := &visit{ctx: tab}, &fetch.EventRequestPaused{RequestID: "interception-job-1.0", NetworkID: "1"}
	if err := v.fulfill(e, 200, nil, nil); err != nil || v.reading != "" {
		t.Errorf("answering: %v; %q is being read", err, v.reading)
	}
	if err := v.fail(e, network.ErrorReasonAborted); err != nil || v.reading != "" {
		t.Errorf("refusing: %v; %q is being read", err, v.reading)
	}
	if err := v.fail(e, "nonsense"); err == nil {
		t.Error("a refusal that makes no sense is none")
	}
}

func gets(urls ...string) []Request {
	var all []Request
	for _, url := range urls {
		all = append(all, Request{"GET", Resource{URL: url}})
	}
	return all
}

func refusals(method, reason string, urls ...string) []Refusal {
	var all []Refusal
	for _, url := range urls {
		all = append(all, Refusal{Request{method, Resource{URL: url}}, reason})
	}
	return all
}
