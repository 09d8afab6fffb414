package render

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// A page that waits for answers, one after the other, becomes what it becomes with all of them.
func testResumes(t *testing.T, first, second *Renderer) {
	for name, page := range lively() {
		t.Run(name, func(t *testing.T) {
			want, all, some := render(t, second, page, livelyWeb()), livelyWeb(), web{}
			got, rounds := render(t, first, page, some), 0
			for ; len(got.Missing) > 0; rounds++ {
				some = maps.Clone(some)
				some[got.Missing[0].URL] = all[got.Missing[0].URL]
				got = render(t, first, page, some)
				if b, _ := current(first); !b.resumed {
					t.Error("it did not wait for", some)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("after %d rounds (-want +got):\n%s", rounds, d)
			}
		})
	}
}

// A page does not wait while other pages are rendered, nor for answers that contradict those that it got, nor for
// longer than it may. Then it is rendered from the beginning.
func testBegins(t *testing.T, r *Renderer) {
	page := html("https://a.example/", `<p id=out></p><script src=/x.js></script><script src=/y.js></script>`)
	x, y := "https://a.example/x.js", "https://a.example/y.js"
	old := web{x: `out.append("old")`}
	whole := web{x: `out.append("new")`, y: `out.append(" and whole")`}
	same := maps.Clone(whole)
	same[x] = old[x]
	for _, tt := range []struct {
		name      string
		meanwhile func(b *browser)
		answers   web
		want      string
		resumed   bool
	}{
		{"it waits", func(*browser) {}, same, "old and whole", true},
		{"another page", func(*browser) { render(t, r, html("https://a.example/2", "<p>"), nil) }, same, "old and whole", false},
		{"another answer", func(*browser) {}, whole, "new and whole", false},
		{"too long", func(b *browser) { b.waiting.late.Stop(); b.waiting.late.Reset(0); b.waiting.leave() }, same,
			"old and whole", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := render(t, r, page, old); len(got.Missing) != 1 {
				t.Fatalf("missing %v", got.Missing)
			}
			b, _ := current(r)
			tt.meanwhile(b)
			if got := render(t, r, page, tt.answers); !strings.Contains(string(got.DOM), `<p id="out">`+tt.want+"<") {
				t.Errorf("the page became %q", got.DOM)
			}
			if b, _ := current(r); b.resumed != tt.resumed {
				t.Errorf("resumed is %t", b.resumed)
			}
		})
	}
}

// The time of a process stands still once a page has been left that waits in it. Otherwise it might run on to the end of
// the next page's time.
func testLeftWaiting(t *testing.T, r *Renderer) {
	render(t, r, html("https://b.example/", ""), web{})
	render(t, r, html("https://a.example/1", ""), web{})
	waits := html("https://a.example/2", `<script>fetch("/missing")</script>`)
	render(t, r, waits, web{})
	b, in := current(r)
	keeper, end := chromedp.NewContext(b.ctx, chromedp.WithTargetID(in.keeper), chromedp.WithDetachOnCancel())
	defer end()
	now := func() (ms float64) {
		got, err := chromedp.Call(keeper, runtime.Evaluate, runtime.EvaluateParams{Expression: "performance.now()"})
		if err == nil {
			err = json.Unmarshal(got.Result.Value, &ms)
		}
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	before := now()
	b.waiting.leave()
	time.Sleep(250 * time.Millisecond) // in which an idle process reaches the end of its time
	if passed := now() - before; passed > 100 {
		t.Errorf("%.0f ms of the process's time have passed", passed)
	}
	got := render(t, r, html("https://a.example/3", `<p id=out></p><script type=module src=/x.js></script>`),
		web{"https://a.example/x.js": `out.append("done")`})
	if _, next := current(r); !strings.Contains(string(got.DOM), ">done<") || next != in {
		t.Errorf("the next page is %s, in the same room: %t", got.DOM, next == in)
	}
}

// A browser with too much memory is killed while a page waits in it, too.
func testWaitingMemory(t *testing.T, r *Renderer) {
	page := html("https://a.example/", `<script>fetch("/x");
		for (const all = []; ; all.push(new Uint8Array(4 << 20).fill(1))) for (let i = 0; i < 2e7; i++);</script>`)
	b, _ := current(r)
	if _, err := r.Render(t.Context(), page, web{}); err == nil { // otherwise it had all that memory before
		ended(t, b.group)
	}
	if got := render(t, r, html("https://a.example/", `<p>after</p>`), web{}); !strings.Contains(string(got.DOM), "after") {
		t.Errorf("the next page became %q", got.DOM)
	}
}
