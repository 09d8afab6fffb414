package render

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// A page tells what it finds, and leaves all that a page can leave.
const traces = `<p id=out></p><script src=/x.js></script><script>
	const say = (...all) => out.append(all.join(" "), "\n");
	say(Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, JSON.stringify(name));
	say(history.length, history.state, navigation.entries().length, document.referrer, document.timeline.currentTime);
	const form = new FormData();
	form.append("file", new Blob(["text"]));
	say(new File([], "n").lastModified, new File([], "n", { lastModified: 5 }).lastModified, form.get("file").lastModified);
	say(Date.now(), performance.now(), Math.random(), document.visibilityState, document.hasFocus());
	const channel = new BroadcastChannel("c");
	channel.onmessage = () => say("another page speaks");
	setInterval(() => channel.postMessage("m"), 50);
	const leave = () => {
		for (const store of [localStorage, sessionStorage]) for (const key of ["b", "a"]) store.setItem(key, "left");
		document.cookie = "n=1"; document.cookie = "m=1; domain=example; path=/"; name = "left";
	};
	leave();
	addEventListener("pagehide", leave);
	addEventListener("unload", leave);
	history.pushState("left", "", "/left");
	const link = Object.assign(document.createElement("a"), { href: "/popup", target: "_blank" });
	link.click();
	const weak = new WeakRef(Array(1e5).fill({}));
	new FinalizationRegistry(() => say("collected")).register({}, "held");
	setTimeout(() => { for (let i = 0; i < 200; i++) new Uint8Array(1 << 20).fill(i); }, 100);
	setTimeout(() => say("kept", weak.deref()?.length), 5000);
	indexedDB.databases().then((all) => {
		say("databases", all.length);
		indexedDB.open("d", 1).onsuccess = () => { say("opened"); };
	});
</script>`

// The traces of a page are gone for the next page of its process, whatever became of that page.
func testForgets(t *testing.T, r *Renderer) {
	page := html("https://a.example/", traces)
	missing := html("https://a.example/", traces+
		`<script>const x = new XMLHttpRequest; x.open("GET", "/y", false); x.send()</script>`)
	answers := web{"https://a.example/x.js": `out.append("script ")`}
	render(t, r, html("https://b.example/", ""), web{}) // so that the first page is the first of its process
	want := render(t, r, page, answers)
	for _, part := range []string{"script", "databases 0", "opened", "kept 100000"} {
		if !strings.Contains(string(want.DOM), part) {
			t.Errorf("%q is not in %q", part, want.DOM)
		}
	}
	for range 2 {
		if got := render(t, r, missing, answers); len(got.Missing) != 1 {
			t.Fatalf("missing %v", got.Missing)
		}
		if d := cmp.Diff(string(want.DOM), string(render(t, r, page, answers).DOM)); d != "" {
			t.Fatalf("differs (-first +again):\n%s", d)
		}
	}
	short := html("https://a.example/", `<p id=out></p><script src=/x.js></script>`)
	for _, text := range []string{"one", "two"} { // as from crawls at different times
		got := render(t, r, short, fresh{web{"https://a.example/x.js": `out.append("` + text + ` ")`}})
		if !strings.Contains(string(got.DOM), text) {
			t.Errorf("%q is not in %q", text, got.DOM)
		}
	}
}

// fresh answers like a web whose answers may be kept.
type fresh struct{ web }

func (f fresh) Answer(r Request) (Answer, bool) {
	a, ok := f.web.Answer(r)
	a.Header.Set("Cache-Control", "max-age=3600, immutable")
	return a, ok
}

// displays returns the processes of a browser that display pages.
func displays(group int) (all []int) {
	for _, process := range members(group) {
		command, _ := os.ReadFile("/proc/" + strconv.Itoa(process) + "/cmdline")
		if strings.Contains(string(command), "--type=renderer") {
			all = append(all, process)
		}
	}
	return all
}

// A looker answers like a web, after looking at the processes that display pages, and killing them the first time if
// it is to.
type looker struct {
	web
	group int
	kill  bool
	seen  []int
}

func (l *looker) Answer(r Request) (Answer, bool) {
	if l.seen == nil {
		l.seen = displays(l.group)
		for _, process := range l.seen {
			if l.kill {
				_ = syscall.Kill(process, syscall.SIGKILL)
			}
		}
	}
	return l.web.Answer(r)
}

// current returns the process group of the browser of a renderer with one, and its room.
func current(r *Renderer) (*browser, *room) {
	b := <-r.idle
	r.idle <- b
	return b, b.room
}

// Pages of one origin in a row have one process, from the second one, which no page of another origin has.
func testRooms(t *testing.T, r *Renderer) {
	answers := web{}
	var urls []string
	for _, url := range []string{"https://b.example/", "https://c.example/1", "https://c.example/2", "https://c.example/3",
		"http://c.example/4", "https://c.example:444/5", "https://sub.c.example/6"} {
		urls = append(urls, url)
		answers[strings.TrimRight(url, "123456")+"x.js"] = "//"
	}
	shown := map[int][]string{}
	for _, url := range urls {
		b, _ := current(r)
		look := &looker{web: answers, group: b.group}
		render(t, r, html(url, "<script src=/x.js></script>"), look)
		for _, process := range look.seen {
			shown[process] = append(shown[process], url)
		}
	}
	var several [][]string
	for _, pages := range shown {
		if len(pages) > 1 && len(pages) < len(urls) { // the browser's own empty tab is always there
			several = append(several, pages)
		}
	}
	if d := cmp.Diff([][]string{urls[2:4]}, several); d != "" {
		t.Errorf("pages of one process (-want +got):\n%s", d)
	}
}

// A room in which a tab is left is not used again.
func testLeftTab(t *testing.T, r *Renderer) {
	page := html("https://a.example/", "<p>page")
	for range 2 {
		render(t, r, page, web{})
	}
	b, before := current(r)
	if before == nil {
		t.Fatal("two pages of an origin have left no room")
	}
	if _, err := hidden(b.ctx, before.context); err != nil {
		t.Fatal(err)
	}
	render(t, r, page, web{})
	if _, after := current(r); after == before {
		t.Error("the room was used again")
	}
	all, err := chromedp.CallBrowser(b.ctx, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all.TargetInfos {
		if one.BrowserContextID == before.context {
			t.Errorf("%s %s is left in it", one.Type, one.URL)
		}
	}
}

// A room is replaced when the memory of its browser is near the limit.
func testFullRoom(t *testing.T, r *Renderer) {
	page := html("https://a.example/", "<p>page")
	for range 3 {
		render(t, r, page, web{})
	}
	b, before := current(r)
	b.memory.held = MemoryLimit - 1
	render(t, r, page, web{})
	if after, now := current(r); after != b || before == nil || now == before {
		t.Errorf("browser %p became %p, and room %p %p", b, after, before, now)
	}
}

// A page whose process ends is rendered again by a new browser if other pages had that process before.
func testBlamed(t *testing.T, r *Renderer) {
	page := html("https://a.example/", `<p id=out></p><script src=/x.js></script>`)
	answers := web{"https://a.example/x.js": `out.append("whole")`}
	for range 2 {
		render(t, r, page, answers)
	}
	b, _ := current(r)
	got := render(t, r, page, &looker{web: answers, group: b.group, kill: true})
	if !strings.Contains(string(got.DOM), "whole") {
		t.Errorf("the page became %q", got.DOM)
	}
	if after, _ := current(r); after == b {
		t.Error("the browser was used again")
	}
}
