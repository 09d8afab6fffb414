package crawl

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A paperWeb is a web without servers: pages by identity, each with links or one
// redirect.
type paperWeb struct {
	links    map[string][]string
	redirect map[string]string
}

func randomWeb(r *rand.Rand) *paperWeb {
	w := &paperWeb{links: map[string][]string{}, redirect: map[string]string{}}
	hosts := 2 + r.IntN(7)
	var all []string
	for h := range hosts {
		for p := range 1 + r.IntN(8) {
			all = append(all, fmt.Sprintf("https://h%d.test/p%d", h, p))
		}
	}
	pick := func() string { return all[r.IntN(len(all))] }
	for _, u := range all {
		if r.IntN(4) == 0 {
			w.redirect[u] = pick()
			continue
		}
		for range r.IntN(4) {
			w.links[u] = append(w.links[u], pick())
		}
	}
	if r.IntN(3) == 0 { // a chain about as long as may be followed
		from := pick()
		for i := range 9 + r.IntN(4) {
			to := fmt.Sprintf("https://chain%d.test/c", i)
			delete(w.links, from)
			w.redirect[from] = to
			from = to
		}
		w.links[from] = []string{pick()}
	}
	return w
}

const paperConfig = `
[crawler]
max-depth = %d
head-check = "never"
sitemaps = "off"
max-concurrent-pages-open = 4
[politeness]
minimum-time-per-address = "0s"
[user-agent]
crawler-name = "T"
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/p0"]
[[quality]]
domain = "h1.test"
seeds = ["https://h1.test/p0"]
`

// near is what breadth-first search says of a page: its smallest depth and its
// distance by redirects.
type near struct{ depth, hops int }

// search is the oracle: depths and hops as two independent shortest distances
// over the pages that are visited, until nothing changes.
func (w *paperWeb) search(maxDepth int) map[string]near {
	own := func(u string) bool {
		h := weburl.Host(u)
		return h == "h0.test" || h == "h1.test"
	}
	found := map[string]near{"https://h0.test/p0": {}, "https://h1.test/p0": {}}
	for changed := true; changed; {
		changed = false
		improve := func(u string, n near) {
			if own(u) {
				n.depth = 0
			}
			if n.depth > maxDepth+1 {
				return
			}
			old, ok := found[u]
			if !ok {
				old = near{255, 255}
			}
			best := near{min(old.depth, n.depth), min(old.hops, n.hops)}
			if best != old {
				found[u], changed = best, true
			}
		}
		for _, u := range slices.Sorted(maps.Keys(found)) {
			n := found[u]
			if n.depth > maxDepth || n.hops > maxHops {
				continue
			}
			if to, ok := w.redirect[u]; ok && to != u {
				improve(to, near{max(1, n.depth), n.hops + 1})
			}
			for _, to := range w.links[u] {
				if to != u {
					improve(to, near{n.depth + 1, 0})
				}
			}
		}
	}
	return found
}

// A paperCrawl drives a recorder by hand: steps are answered from a paper web, in
// any order and in batches of any size.
type paperCrawl struct {
	t     testing.TB
	r     *rand.Rand
	web   *paperWeb
	cfg   *config.Config
	path  string
	store *kv.Store
	rec   *recorder
	steps []Step
	wakes []Wake
	asked map[string]int
}

func (p *paperCrawl) start() {
	p.t.Helper()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	set, err := newSettings(p.cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.store, p.rec = store, newRecorder(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	if _, err := p.rec.begin(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	initial, err := p.rec.waiting()
	if err != nil {
		p.t.Fatal(err)
	}
	p.steps, p.wakes = nil, nil
	p.publish(initial)
}

func (p *paperCrawl) kill() {
	p.rec.set.client.Close()
	if err := p.store.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *paperCrawl) publish(list []Effect) {
	for _, e := range list {
		p.steps = append(p.steps, e.Steps...)
		if e.Wake {
			p.wakes = append(p.wakes, Wake{Host: e.Host})
		}
	}
}

func (p *paperCrawl) turnRound() {
	b := &batch{}
	for range 1 + p.r.IntN(6) {
		if len(p.steps) > 0 {
			i := p.r.IntN(len(p.steps))
			b.outcomes = append(b.outcomes, p.answer(p.steps[i]))
			p.steps = slices.Delete(p.steps, i, i+1)
		}
	}
	b.wakes, p.wakes = p.wakes, nil
	effects := make(chan Effects, 1)
	if err := p.rec.commit(p.t.Context(), b, effects); err != nil {
		p.t.Fatal(err)
	}
	p.publish((<-effects).List)
}

func (p *paperCrawl) answer(step Step) Outcome {
	now := time.Now()
	o := Outcome{Step: step, Status: 200, ContentType: "text/html", FirstByte: now, Done: now, RetryAfter: -1, Length: -1}
	if step.Kind == StepRobots {
		o.Status = 404
		return o
	}
	p.asked[step.Norm]++
	target := func(u string) Target {
		return Target{URL: weburl.URL{Norm: u, Form: u}, Hash: p.store.Hash(schema.KindPage, u)}
	}
	if to, ok := p.web.redirect[step.Norm]; ok {
		location := target(to)
		o.Status, o.Location = 301, &location
		return o
	}
	o.Page, o.Length = &page.Page{}, 1
	for _, to := range slices.Compact(slices.Sorted(slices.Values(p.web.links[step.Norm]))) {
		link := page.Link{URL: weburl.URL{Norm: to, Form: to}, Kind: schema.LinkAnchor, Kinds: schema.Kinds(0).Add(schema.LinkAnchor)}
		o.Page.Links = append(o.Page.Links, link)
		o.Hashes = append(o.Hashes, target(to).Hash)
	}
	return o
}

// run crawls to the end and kills on the way. It returns the distances and what
// was visited.
func (p *paperCrawl) run(kills int) (map[string]near, map[string]bool) {
	p.start()
	for round := 0; len(p.steps)+len(p.wakes) > 0; round++ {
		if round > 5000 {
			p.t.Fatal("the crawl does not end")
		}
		if kills > 0 && p.r.IntN(8) == 0 {
			kills--
			p.kill()
			p.start()
			continue
		}
		p.turnRound()
	}
	defer p.kill()
	depths, visited := map[string]near{}, map[string]bool{}
	err := p.store.View(func(tx *kv.Tx) error {
		return tx.EachURL(1, func(u schema.URL) (bool, error) {
			norm, err := tx.Norm(u.ID)
			if d, h := p.store.Depth(u.ID); d != kv.NoDepth {
				depths[norm] = near{int(d), int(h)}
			}
			if p.store.Latest(u.ID) != 0 {
				visited[norm] = true
			}
			return true, err
		})
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return depths, visited
}

// TestDepthsAreShortestDistances crawls random webs in random orders, with random
// batches and kills, and compares with breadth-first search.
func TestDepthsAreShortestDistances(t *testing.T) {
	seed, webs := uint64(time.Now().UnixNano()), 60
	if os.Getenv("RIPPLE_PROOF") == "full" {
		webs = 1500
	}
	t.Logf("seed %d, %d webs", seed, webs)
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		web, maxDepth := randomWeb(r), r.IntN(4)
		cfg, _, err := config.Parse(fmt.Appendf(nil, paperConfig, maxDepth), t.TempDir(), os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		p := &paperCrawl{t: t, r: r, web: web, cfg: cfg, path: filepath.Join(t.TempDir(), "state.bolt"), asked: map[string]int{}}
		got, visited := p.run(r.IntN(4))
		want := web.search(maxDepth)
		if !maps.Equal(got, want) {
			t.Fatalf("web %d of seed %d, max-depth %d: %s", i, seed, maxDepth, difference(got, want))
		}
		for u, n := range want {
			if should := n.depth <= maxDepth && n.hops <= maxHops; visited[u] != should {
				t.Fatalf("web %d of seed %d: %s at %v: visited %t", i, seed, u, n, visited[u])
			}
		}
	}
}

func difference(got, want map[string]near) string {
	var b strings.Builder
	for _, u := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[u]; !ok || g != want[u] {
			fmt.Fprintf(&b, "\n%s: %v, want %v", u, g, want[u])
		}
	}
	for u, g := range got {
		if _, ok := want[u]; !ok {
			fmt.Fprintf(&b, "\n%s: %v, want none", u, g)
		}
	}
	return b.String()
}
