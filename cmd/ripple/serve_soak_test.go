package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// envHolds names the socket at which this process, started by a test, reports its resources.
const envHolds = "RIPPLE_TEST_HOLDS"

// A holding is the resources that a process, or the page of a tab, holds.
type holding struct {
	Heap        int64 // bytes, after a collection
	Goroutines  int64
	Descriptors int64
	Nodes       int64 // of the document
	Listeners   int64
}

// tellHoldings answers at the socket, if one is named.
func tellHoldings() {
	socket := os.Getenv(envHolds)
	if socket == "" {
		return
	}
	os.Unsetenv(envHolds) // not inherited by children
	l, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	go func() { // ends with the process
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			runtime.GC()
			runtime.GC() // for objects with finalizers
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			open, _ := os.ReadDir("/proc/self/fd")
			_ = json.NewEncoder(w).Encode(holding{Heap: int64(m.HeapAlloc), Goroutines: int64(runtime.NumGoroutine()),
				Descriptors: int64(len(open))})
		}))
	}()
}

// A watcher is a desk that serves four browser pages during a crawl that does not end.
type watcher struct {
	*testing.T
	crawl, desk *exec.Cmd
	dir         string
	address     string
	tabs        []*desktest.Tab
}

func watchEndless(t *testing.T) *watcher {
	t.Helper()
	dir, err := os.MkdirTemp("", "soak") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &watcher{T: t, dir: dir}
	w.crawl = w.start("crawl", "crawl", w.endlessWeb(), "-q")
	state := filepath.Join(dir, "ripple.bolt")
	for _, err := os.Stat(state); err != nil; _, err = os.Stat(state) {
		time.Sleep(20 * time.Millisecond)
	}
	w.desk = w.start("desk", "serve", "--state", state, "--listen", "127.0.0.1:0")
	for w.address == "" {
		time.Sleep(20 * time.Millisecond)
		said, err := os.ReadFile(filepath.Join(dir, "desk.said"))
		if err != nil {
			t.Fatal(err)
		}
		w.address = deskAddress(string(said))
	}
	d := newTestDesk(t, w.address)
	first := d.inBrowser(t, "now")
	w.tabs = []*desktest.Tab{first}
	for _, view := range []string{"map", "hosts", "now"} {
		tab := first.NewTab(d.view(view))
		d.typed(tab)
		w.tabs = append(w.tabs, tab)
	}
	return w
}

// endlessWeb serves a web, and returns the configuration of its crawl.
func (w *watcher) endlessWeb() string {
	w.Helper()
	web, err := webtest.New()
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { web.Close() })
	web.Generate(1, webtest.GenConfig{Hosts: 8, Pages: 1000, Links: 4, Hrefs: 6, Size: 2000, Leave: 0.3, Endless: true})
	if _, err := web.CAFile(w.dir); err != nil {
		w.Fatal(err)
	}
	text := rippletest.SmallConfig(web.Addr(), false, []string{"max-concurrent-pages-open=8", "max-domain-requests=1000000"})
	text = strings.NewReplacer(`domain = "a.test"`, `domain = "*.gen.test"`,
		"https://a.test/\"]", `https://h0.gen.test/"]`,
		"minimum-time-on-page = 100", "minimum-time-on-page = 250").Replace(text)
	path := filepath.Join(w.dir, "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// start starts ripple, until the test ends.
func (w *watcher) start(name string, args ...string) *exec.Cmd {
	w.Helper()
	said, err := os.Create(filepath.Join(w.dir, name+".said"))
	if err != nil {
		w.Fatal(err)
	}
	defer said.Close()
	cmd := ripple(args...)
	cmd.Stdout = said
	cmd.Env = append(cmd.Env, envHolds+"="+filepath.Join(w.dir, name+".holds"))
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// holdings returns the resources of the processes and the pages.
func (w *watcher) holdings() map[string]holding {
	w.Helper()
	all := map[string]holding{}
	for _, name := range []string{"crawl", "desk"} {
		dial := dialTo(filepath.Join(w.dir, name+".holds"))
		c := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
		a, err := c.Get("http://" + name)
		if err != nil {
			w.Fatal(err)
		}
		var h holding
		err = json.NewDecoder(a.Body).Decode(&h)
		a.Body.Close()
		if err != nil {
			w.Fatal(err)
		}
		all[name] = h
	}
	for i, b := range w.tabs {
		var h holding
		h.Heap, h.Nodes, h.Listeners = b.Held()
		all[fmt.Sprintf("page %d", i)] = h
	}
	return all
}

// round makes the last page visit all views, while the others stay. At its end every list of visits
// has its full length.
func (w *watcher) round() {
	w.Helper()
	there := `document.querySelector("#view h1") && !document.querySelector("#view .loading")`
	b := w.tabs[len(w.tabs)-1]
	for _, view := range []string{"map", "hosts", "host/h1.gen.test",
		"page?url=https%3A%2F%2Fh0.gen.test%2F", "suggest", "broken",
		"runs", "ask", "files", "control", "now"} {
		b.Visit(view, there)
	}
	for _, now := range []*desktest.Tab{w.tabs[0], b} {
		now.Wait(`document.querySelectorAll(".visits li").length === 30`)
	}
}

// TestWatchedForLong watches a crawl with four pages: neither the desk nor a page grows. It takes
// as long as RIPPLE_SOAK says, such as 30m, and longer if something seems to have grown: a leak
// continues to grow.
func TestWatchedForLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it counts descriptors as Linux does")
	}
	if os.Getenv("RIPPLE_SOAK") == "" {
		t.Skip("set RIPPLE_SOAK to a duration, such as 3m")
	}
	long, err := time.ParseDuration(os.Getenv("RIPPLE_SOAK"))
	if err != nil {
		t.Fatal(err)
	}
	w := watchEndless(t)
	const warm, least = 2, 6
	begun := time.Now()
	var seen []map[string]holding
	var grown []string
	for most := 0; most == 0 || len(grown) > 0 && len(seen) < most; {
		w.round()
		seen = append(seen, w.holdings())
		if len(seen) < least || time.Since(begun) < long {
			continue
		}
		grown = w.grown(seen[warm:])
		if most == 0 {
			most = 2*len(seen) + least
		}
	}
	t.Logf("%d rounds in %s", len(seen), time.Since(begun).Round(time.Second))
	for _, name := range grown {
		t.Errorf("%s has grown", name)
	}
}

// grown returns what held more in the second half of some rounds than in the first.
func (w *watcher) grown(seen []map[string]holding) (names []string) {
	before, after := leastOfAll(seen[:len(seen)/2]), leastOfAll(seen[len(seen)/2:])
	for name, b := range before {
		a := after[name]
		w.Logf("%s after %d rounds: %+v, then %+v", name, len(seen), b, a)
		if name == "crawl" {
			b.Heap = a.Heap // it knows more pages
		}
		if a.Heap > b.Heap+b.Heap/10+2<<20 || a.Goroutines > b.Goroutines+8 || a.Descriptors > b.Descriptors+8 ||
			a.Nodes > b.Nodes+b.Nodes/20+100 || a.Listeners > b.Listeners+b.Listeners/20+20 {
			names = append(names, name)
		}
	}
	return names
}

// leastOfAll returns the least that each held: temporary resources are not growth.
func leastOfAll(seen []map[string]holding) map[string]holding {
	least := map[string]holding{}
	for name, h := range seen[0] {
		for _, one := range seen {
			o := one[name]
			h = holding{min(h.Heap, o.Heap), min(h.Goroutines, o.Goroutines),
				min(h.Descriptors, o.Descriptors), min(h.Nodes, o.Nodes), min(h.Listeners, o.Listeners)}
		}
		least[name] = h
	}
	return least
}
