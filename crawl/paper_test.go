package crawl

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A paperWeb is a web without servers: pages by identity, each with links or one redirect, or gone.
type paperWeb struct {
	links    map[string][]string
	redirect map[string]string
	gone     map[string]bool
	named    map[string][]string // sitemaps, by the host whose robots.txt names them
	sitemaps map[string]paperSitemap
	robots   map[string]string // by URL: the text of a robots.txt, the URL that it redirects to, or a status; otherwise 404
}

// A paperSitemap names pages and further sitemaps.
type paperSitemap struct{ pages, files []string }

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
	if r.IntN(3) == 0 { // a chain about as long as the limit
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

// randomVoices returns a random web in which hosts make statements about each other: they have
// front pages, an origin has two hosts, robots.txt files name sitemaps, including those of other
// hosts and missing ones where one at a usual path exists, and pages and sitemaps name pages that
// do not exist.
func randomVoices(r *rand.Rand) *paperWeb {
	w := randomWeb(r)
	all := slices.Sorted(maps.Keys(w.links))
	all = append(all, "https://s.h0.test/p0", "https://s.h0.test/p1")
	for h := range 4 {
		all = append(all, fmt.Sprintf("https://h%d.test/", h))
	}
	pick := func() string { return all[r.IntN(len(all))] }
	w.gone, w.named, w.sitemaps = map[string]bool{}, map[string][]string{}, map[string]paperSitemap{}
	for i := range 3 * len(all) / 2 {
		from, to := pick(), pick()
		if r.IntN(4) == 0 {
			to = fmt.Sprintf("https://%s/invented%d", weburl.Host(to), i)
			w.gone[to] = true
		}
		if w.redirect[from] == "" {
			w.links[from] = append(w.links[from], to)
		}
	}
	origins := []string{"h0.test", "s.h0.test", "h1.test"}
	var files []string
	for i := range r.IntN(6) {
		file := fmt.Sprintf("https://%s/m%d.xml", origins[r.IntN(len(origins))], i)
		if r.IntN(4) == 0 {
			file = fmt.Sprintf("https://maps.test/m%d.xml", i)
		}
		var s paperSitemap
		for j := range r.IntN(5) {
			if s.pages = append(s.pages, pick()); r.IntN(3) == 0 {
				s.pages = append(s.pages, fmt.Sprintf("https://%s/listed%d-%d", origins[r.IntN(len(origins))], i, j))
			}
		}
		if len(files) > 0 && r.IntN(2) == 0 {
			s.files = []string{files[r.IntN(len(files))]}
		}
		if r.IntN(4) > 0 {
			w.sitemaps[file] = s
		}
		if weburl.Host(file) != "maps.test" { // no index leads out of its site and the origins
			files = append(files, file)
		}
		for _, host := range append(origins, "h2.test") {
			if r.IntN(3) == 0 {
				w.named[host] = append(w.named[host], file)
			}
		}
	}
	for _, host := range origins {
		if r.IntN(2) == 0 {
			w.sitemaps["https://"+host+"/sitemap.xml"] = paperSitemap{pages: []string{pick(), "https://" + host + "/usual"}}
		}
	}
	return w
}

// twoSteps is the configuration of a crawl of paper to depth 2, with further tables.
func twoSteps(text string) string { return crawltest.Paper("[crawler]\nmax-depth = 2\n" + text) }

// twoOrigins is the configuration of a crawl of a random web from two of its hosts.
func twoOrigins(maxDepth int) string { return twoOriginsWith(maxDepth, config.SitemapsOff) }

// twoOriginsWith is twoOrigins with sitemaps.
func twoOriginsWith(maxDepth int, sitemaps config.Sitemaps) string {
	return crawltest.Paper(fmt.Sprintf(`[crawler]
max-depth = %d
sitemaps = %q
max-concurrent-pages-open = 4
[[quality]]
domain = "*.h0.test"
seeds = ["https://h0.test/p0"]
[[quality]]
domain = "h1.test"
seeds = ["https://h1.test/p0"]
`, maxDepth, sitemaps))
}

// A paperCrawl drives a recorder by hand: steps are answered from a paper web, in
// any order and in batches of any size.
type paperCrawl struct {
	t     testing.TB
	r     *rand.Rand
	web   *paperWeb
	cfg   *config.Config
	path  string
	part  schema.Part // zero: the whole terrain
	store *kv.Store
	rec   *committer
	steps []ring.Step
	wakes []ring.Wake
	asked map[string]int

	entrust func(ring.Step) ring.Outcome // to another shard
}

// newPaper returns a crawl of a web, in an order that r chooses.
func newPaper(t testing.TB, r *rand.Rand, web *paperWeb, text string) *paperCrawl {
	t.Helper()
	return &paperCrawl{
		t: t, r: r, web: web, cfg: crawltest.Parse(t, text),
		path: filepath.Join(t.TempDir(), "state.bolt"), asked: map[string]int{},
	}
}

// newEmptyPaper returns a crawl of a web without pages, under [twoSteps].
func newEmptyPaper(t testing.TB, text string) *paperCrawl {
	t.Helper()
	web := &paperWeb{links: map[string][]string{}, redirect: map[string]string{}}
	return newPaper(t, rand.New(rand.NewPCG(1, 2)), web, twoSteps(text))
}

func (p *paperCrawl) start() {
	p.t.Helper()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.part != (schema.Part{}) && store.Part() == (schema.Part{}) {
		p.divide(store)
	}
	set, err := ring.NewSettings(p.cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.store, p.rec = store, newCommitter(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	if _, err := p.rec.recorder.Begin(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	var initial []ring.Effect
	if err := p.rec.recorder.EachWaiting(func(e *ring.Effect) { initial = append(initial, *e) }); err != nil {
		p.t.Fatal(err)
	}
	p.steps, p.wakes = nil, nil
	p.publish(initial)
}

func (p *paperCrawl) kill() {
	p.rec.set.Client.Close()
	if err := p.store.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *paperCrawl) publish(list []ring.Effect) {
	for _, e := range list {
		p.steps = append(p.steps, e.Steps...)
		if e.Wake {
			p.wakes = append(p.wakes, ring.Wake{Host: e.Host})
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
	effects := make(chan ring.Effects, 1)
	if err := p.rec.commit(p.t.Context(), b, effects); err != nil {
		p.t.Fatal(err)
	}
	p.publish((<-effects).List)
}

func (p *paperCrawl) answer(step ring.Step) ring.Outcome {
	now := time.Now()
	o := ring.Outcome{Step: step, Status: 200, ContentType: "text/html", FirstByte: now, Done: now, RetryAfter: -1,
		Length: -1}
	switch {
	case step.Entrusted():
		return p.entrust(step)
	case step.Kind == ring.Robots:
		p.sayRobots(&o)
		return o
	}
	p.asked[step.Norm]++
	if step.URLKind == schema.KindSitemap {
		p.answerSitemap(&o)
		return o
	}
	if p.web.gone[step.Norm] {
		o.Status = 404
		return o
	}
	target := func(u string) ring.Target { return p.target(schema.KindPage, u) }
	if to, ok := p.web.redirect[step.Norm]; ok {
		location := target(to)
		o.Status, o.Location = 301, &location
		return o
	}
	o.Page, o.Length = &page.Page{}, 1
	for _, to := range slices.Compact(slices.Sorted(slices.Values(p.web.links[step.Norm]))) {
		link := page.Link{URL: weburl.URL{Norm: to, Form: to}, Kinds: schema.Kinds(0).Add(schema.LinkAnchor)}
		o.Page.Links = append(o.Page.Links, link)
		o.Hashes = append(o.Hashes, target(to).Hash)
	}
	return o
}

func (p *paperCrawl) target(kind schema.URLKind, u string) ring.Target {
	return ring.Target{URL: weburl.URL{Norm: u, Form: u}, Hash: p.store.Hash(kind, u)}
}

// answerSitemap answers a request for a sitemap.
func (p *paperCrawl) answerSitemap(o *ring.Outcome) {
	s, ok := p.web.sitemaps[o.Step.Norm]
	if !ok {
		o.Status = 404
		return
	}
	o.ContentType, o.Length, o.Sitemap = "application/xml", 1, &sitemap.File{}
	for _, u := range s.pages {
		o.Sitemap.Entries = append(o.Sitemap.Entries, sitemap.Entry{Loc: u})
		o.Entries = append(o.Entries, p.target(schema.KindPage, u))
	}
	for _, u := range s.files {
		o.Sitemap.Children = append(o.Sitemap.Children, sitemap.Entry{Loc: u})
		o.Files = append(o.Files, p.target(schema.KindSitemap, u))
	}
}

// sayRobots answers a request for a robots.txt, or for the target of its redirect.
func (p *paperCrawl) sayRobots(o *ring.Outcome) {
	p.asked[o.Step.URL]++
	said, ok := p.web.robots[o.Step.URL]
	for _, file := range p.web.named[weburl.Host(o.Step.URL)] {
		said, ok = fmt.Sprintf("%sSitemap: %s\n", said, file), true
	}
	status, err := strconv.Atoi(said)
	switch {
	case !ok:
		o.Status = 404
	case err == nil:
		o.Status = status
	case strings.HasPrefix(said, "https://"):
		to, err := p.rec.set.Rules.Parse(said)
		if err != nil {
			p.t.Fatal(err)
		}
		o.Status, o.Location = 302, &ring.Target{URL: to}
	default:
		o.Robots = []byte(said)
	}
}

// run crawls to the end, with kills. It returns the distances and the visited pages.
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
		return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			norm, err := tx.URLs.Norm(u.ID)
			if u.Kind != schema.KindPage {
				return true, err
			}
			if d, h := p.store.Depth(u.ID); d != kv.NoDepth {
				depths[norm] = near{int(d), int(h), p.store.Own(u.ID)}
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

// id returns the id of a known page.
func (p *paperCrawl) id(norm string) (id schema.ID) {
	p.t.Helper()
	err := p.store.View(func(tx *kv.Tx) error {
		name, pathQuery := weburl.Split(norm)
		host, _, err := tx.Hosts.Lookup(name)
		if err == nil {
			id, _, err = tx.URLs.Lookup(p.store.Hash(schema.KindPage, norm), host, schema.KindPage, pathQuery)
		}
		return err
	})
	if err != nil || id == 0 {
		p.t.Fatalf("%s is not known (%v)", norm, err)
	}
	return id
}

// addSitemap records a sitemap as read in the present run.
func (p *paperCrawl) addSitemap(norm string, entries ...schema.SitemapEntry) {
	p.t.Helper()
	name, pathQuery := weburl.Split(norm)
	err := p.store.Update(func(tx *kv.Tx) error {
		host, _, err := tx.Hosts.Lookup(name)
		if err != nil {
			return err
		}
		u := schema.URL{Kind: schema.KindSitemap, Host: host, PathQuery: pathQuery}
		id, err := tx.URLs.Add(u, p.store.Hash(schema.KindSitemap, norm))
		if err != nil {
			return err
		}
		tx.Depths.Lower(id, 0, 0)
		_, err = tx.Visits.Add(&schema.Visit{
			URL: id, Run: p.rec.recorder.Run().ID, State: schema.Processed, Status: 200, Requests: 1,
			Sitemap: entries, Content: schema.Content{Distinct: len(entries)}, At: time.Now(),
		})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// complete completes the last run, as when its outputs are in place.
func (p *paperCrawl) complete() {
	p.t.Helper()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	err = store.Update(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		last := runs[len(runs)-1]
		last.Status, last.Walked = schema.RunCompleted, true
		return tx.Runs.Put(last)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
