package crawl

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// near is what breadth-first search says about a page: its smallest depth, its distance by
// redirects, and whether its own host names it.
type near struct {
	depth, hops int
	own         bool
}

// search is the oracle without sitemaps, see [oracle].
func (w *paperWeb) search(maxDepth int) map[string]near {
	found, _ := w.searchWith(maxDepth, config.SitemapsOff)
	return found
}

// searchWith returns what the oracle says about the pages of a run, and which of them are visited.
func (w *paperWeb) searchWith(maxDepth int, sitemaps config.Sitemaps) (map[string]near, map[string]bool) {
	o := &oracle{web: w, maxDepth: maxDepth, sitemaps: sitemaps, found: map[string]near{},
		listed: map[string]bool{"https://h0.test/p0": true, "https://h1.test/p0": true}, vouchers: map[string]map[string]bool{}}
	for seed := range o.listed {
		o.improve(seed, near{own: true})
	}
	for o.changed {
		o.changed = false
		o.follow()
		o.read()
	}
	visited := map[string]bool{}
	for u := range o.found {
		if o.visits(u) {
			visited[u] = true
		}
	}
	return o.found, visited
}

// An oracle finds depths, hops and own pages as independent facts. Each is the best over the
// visited pages and the sitemaps that are read, and all are computed until nothing changes.
type oracle struct {
	web      *paperWeb
	maxDepth int
	sitemaps config.Sitemaps
	found    map[string]near
	listed   map[string]bool            // seeds, and pages that count because of a sitemap
	vouchers map[string]map[string]bool // hosts, by sitemap
	changed  bool
}

// originOf returns the origin of a host; "": none.
func originOf(host string) string {
	if name := strings.TrimPrefix(host, "s."); name == "h0.test" || host == "h1.test" {
		return name
	}
	return ""
}

// visits reports whether a page is visited.
func (o *oracle) visits(u string) bool {
	n, ok := o.found[u]
	return ok && n.depth <= o.maxDepth && n.hops <= schema.MaxRedirects && (o.sitemaps != config.SitemapsOnly || o.listed[u])
}

func (o *oracle) improve(u string, n near) {
	if originOf(weburl.Host(u)) != "" {
		n.depth = 0
	}
	if n.depth > o.maxDepth+1 {
		return
	}
	old, ok := o.found[u]
	if !ok {
		old = near{255, 255, weburl.PathQuery(u) == "/"}
	}
	best := near{min(old.depth, n.depth), min(old.hops, n.hops), old.own || n.own}
	if !ok || best != old {
		o.found[u], o.changed = best, true
	}
}

// follow follows the links of visited pages.
func (o *oracle) follow() {
	for _, u := range slices.Sorted(maps.Keys(o.found)) {
		if !o.visits(u) || o.web.gone[u] {
			continue
		}
		n, from := o.found[u], weburl.Host(u)
		vouches := func(to string) bool {
			host := weburl.Host(to)
			return host == from && n.own || host != from && originOf(from) != "" && originOf(host) == ""
		}
		if to, ok := o.web.redirect[u]; ok && to != u {
			o.improve(to, near{max(1, n.depth), n.hops + 1, vouches(to)})
			continue
		}
		for _, to := range o.web.links[u] {
			if to != u {
				o.improve(to, near{n.depth + 1, 0, vouches(to)})
			}
		}
	}
}

// read reads the sitemaps that the robots.txt files of origins' hosts name, once such a host has a
// request.
func (o *oracle) read() {
	if o.sitemaps == config.SitemapsOff {
		return
	}
	asked := map[string]bool{}
	for u := range o.found {
		asked[weburl.Host(u)] = asked[weburl.Host(u)] || o.visits(u)
	}
	for file := range o.vouchers {
		asked[weburl.Host(file)] = true
	}
	for host := range asked {
		if asked[host] && originOf(host) != "" {
			for _, file := range slices.Concat(o.web.named[host], o.web.usual(host)) {
				o.vouch(file, host)
			}
		}
	}
	for file, by := range o.vouchers {
		for _, next := range o.web.sitemaps[file].files {
			for host := range by {
				o.vouch(next, host)
			}
		}
		for _, u := range o.web.sitemaps[file].pages {
			host := weburl.Host(u)
			origin, own := originOf(host), host == weburl.Host(file) || by[host]
			if origin == "" || !own && origin != originOf(weburl.Host(file)) {
				continue
			}
			o.changed = o.changed || !o.listed[u]
			o.listed[u] = true
			o.improve(u, near{own: own})
		}
	}
}

// usual returns the sitemaps that are requested at the usual paths of an origin's host: all, unless
// one that its robots.txt names on its own site exists.
func (w *paperWeb) usual(host string) (files []string) {
	for _, file := range w.named[host] {
		if _, ok := w.sitemaps[file]; ok && originOf(weburl.Host(file)) == originOf(host) {
			return nil
		}
	}
	for _, path := range []string{"/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml"} {
		files = append(files, "https://"+host+path)
	}
	return files
}

func (o *oracle) vouch(file, host string) {
	if o.vouchers[file] == nil {
		o.vouchers[file] = map[string]bool{}
	}
	o.changed = o.changed || !o.vouchers[file][host]
	o.vouchers[file][host] = true
}

// randomSitemaps returns a random value of the key sitemaps.
func randomSitemaps(r *rand.Rand) config.Sitemaps {
	return []config.Sitemaps{config.SitemapsOff, config.SitemapsQuality, config.SitemapsQuality, config.SitemapsOnly}[r.IntN(4)]
}

// TestDepthsAreShortestDistances crawls random webs in random orders, with random
// batches and kills, and compares with breadth-first search.
func TestDepthsAreShortestDistances(t *testing.T) {
	t.Parallel()
	seed, webs := crawltest.Seed(t), 60
	if crawltest.Full() {
		webs = 350
	}
	t.Logf("%d webs", webs)
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		web, maxDepth, sitemaps := randomVoices(r), r.IntN(4), randomSitemaps(r)
		p := newPaper(t, r, web, twoOriginsWith(maxDepth, sitemaps))
		got, visited := p.run(r.IntN(4))
		want, wantVisited := web.searchWith(maxDepth, sitemaps)
		if !maps.Equal(got, want) {
			t.Fatalf("web %d of seed %d, max-depth %d, sitemaps %s: %s", i, seed, maxDepth, sitemaps, difference(got, want))
		}
		if !maps.Equal(visited, wantVisited) {
			t.Fatalf("web %d of seed %d, max-depth %d, sitemaps %s: visited %v, want %v", i, seed, maxDepth, sitemaps, visited,
				wantVisited)
		}
		crawltest.Verify(t, p.path)
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
