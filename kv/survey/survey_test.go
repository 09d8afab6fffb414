package survey_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const minimal = `[user-agent]
crawler-name = "Test"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`

// A world is a store that a test fills, one transaction a step.
type world struct {
	t     testing.TB
	store *kv.Store
	cfg   *config.Config
	run   schema.Run
	ids   map[string]schema.ID
	at    time.Time
}

// newWorld makes a store with a running run under a configuration.
func newWorld(t testing.TB, text string) *world {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(filepath.Join(t.TempDir(), "state.bolt"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &world{t: t, store: store, cfg: cfg, ids: map[string]schema.ID{}, at: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)}
	w.update(func(tx *kv.Tx) error { return tx.PutConfig(cfg.Hash(), cfg.Effective()) })
	w.begin()
	return w
}

func (w *world) update(f func(tx *kv.Tx) error) {
	w.t.Helper()
	if err := w.store.Update(f); err != nil {
		w.t.Fatal(err)
	}
}

// begin begins the next run in a new generation.
func (w *world) begin() {
	w.t.Helper()
	w.update(func(tx *kv.Tx) error {
		generation := w.store.Generation()
		if w.run.ID > 0 {
			var err error
			if generation, err = tx.NewGeneration(); err != nil {
				return err
			}
		}
		w.run = schema.Run{
			ID: w.run.ID + 1, Started: w.at, Config: w.cfg.Hash(), FirstVisit: w.store.LastSeq() + 1, Generation: generation,
		}
		return tx.PutRun(w.run)
	})
}

// change changes the run's record.
func (w *world) change(f func(run *schema.Run)) {
	w.t.Helper()
	f(&w.run)
	w.update(func(tx *kv.Tx) error { return tx.PutRun(w.run) })
}

// page returns the id of a page, "a.test/x", added if it is new.
func (w *world) page(name string) schema.ID { return w.url(schema.KindPage, name, 0) }

func (w *world) url(kind schema.URLKind, name string, referrer schema.ID) schema.ID {
	w.t.Helper()
	if id, ok := w.ids[name]; ok {
		return id
	}
	host, pathQuery := weburl.Split("https://" + name)
	w.update(func(tx *kv.Tx) error {
		h, ok, err := tx.HostByName(host)
		if err == nil && !ok {
			var added *schema.Host
			if added, err = tx.AddHost(host); err == nil {
				h = added.ID
			}
		}
		if err != nil {
			return err
		}
		u := schema.URL{Kind: kind, Host: h, PathQuery: pathQuery, Referrer: referrer, FirstSeen: w.at, FirstRun: w.run.ID}
		id, err := tx.AddURL(u, w.store.Hash(kind, "https://"+name))
		if err != nil {
			return err
		}
		w.ids[name] = id
		_, err = tx.AddForm(id, "https://"+name, "https://"+name)
		return err
	})
	return w.ids[name]
}

func (w *world) depth(name string, depth, hops uint8) schema.ID {
	w.t.Helper()
	id := w.page(name)
	w.update(func(tx *kv.Tx) error { tx.SetDepth(id, depth, hops); return nil })
	return id
}

// visit records a visit of a page, which belongs to the run at depth 0 unless it
// does so already, processed unless f says otherwise.
func (w *world) visit(name string, f func(v *schema.Visit)) schema.Seq {
	w.t.Helper()
	id := w.page(name)
	if d, _ := w.store.Depth(id); d == kv.NoDepth {
		w.depth(name, 0, 0)
	}
	w.at = w.at.Add(time.Second)
	v := &schema.Visit{
		URL: id, Run: w.run.ID, At: w.at, State: schema.Processed, Status: 200, Requests: 1, FormsKnown: 1,
		Form: "https://" + name, ContentType: "text/html", Charset: "utf-8", Length: 10, ResponseTime: 30 * time.Millisecond,
	}
	if f != nil {
		f(v)
	}
	w.update(func(tx *kv.Tx) error { _, err := tx.AddVisit(v); return err })
	return v.Seq
}

// links are anchors to pages.
func (w *world) links(names ...string) func(v *schema.Visit) {
	return func(v *schema.Visit) {
		for _, name := range names {
			v.Links = append(v.Links, schema.Link{To: w.url(schema.KindPage, name, v.URL), Kinds: kinds(schema.LinkAnchor), Anchor: "to " + name})
		}
	}
}

// redirect makes a visit one that was redirected.
func (w *world) redirect(to string) func(v *schema.Visit) {
	return func(v *schema.Visit) {
		v.Status, v.Charset, v.RedirectTo = 301, "", w.url(schema.KindPage, to, v.URL)
		v.Links = []schema.Link{{To: v.RedirectTo, Kinds: kinds(schema.LinkRedirect), Place: schema.PlaceBody}}
	}
}

// host changes the host of a page, whose counters become those of the run.
func (w *world) host(name string, f func(h *schema.Host)) {
	w.t.Helper()
	id := w.store.HostOf(w.page(name))
	w.update(func(tx *kv.Tx) error {
		h, err := tx.Host(id)
		if err == nil {
			h.Run = w.run.ID
			f(h)
			tx.PutHost(h)
		}
		return err
	})
}

func (w *world) survey() *survey.Survey {
	w.t.Helper()
	s, err := survey.New(w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) look(name string) *survey.Page {
	w.t.Helper()
	p, err := w.survey().Page(w.page(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func kinds(all ...schema.LinkKind) schema.Kinds {
	k := schema.Kinds(0)
	for _, one := range all {
		k = k.Add(one)
	}
	return k
}

func TestNoRun(t *testing.T) {
	store, err := kv.Open(filepath.Join(t.TempDir(), "state.bolt"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := survey.New(store); !errors.Is(err, survey.ErrNoRun) {
		t.Errorf("New of an empty store: %v", err)
	}
}

// TestState has a case for every row of the precedence, each of which the next
// row would contradict.
func TestState(t *testing.T) {
	const lists = minimal + `exclude = ["^/private"]
[[blacklist]]
domain = "bad.test"
[[stub]]
domain = "stub.test"
[[blacklist]]
url = '/logout$'
[[page-type]]
name = "issues"
path = '^/issues'
max-per-group = 1
`
	tests := []struct {
		name   string
		config string
		page   string
		make   func(w *world)
		state  schema.State
		err    string // a part of it
		rule   string
	}{
		{"blacklisted, visited before", lists, "bad.test/", func(w *world) { w.visit("bad.test/", nil) }, schema.Blacklisted, "", `blacklist "bad.test"`},
		{"stub", lists, "stub.test/x", func(w *world) { w.depth("stub.test/x", 9, 0) }, schema.Stubbed, "", `stub "stub.test"`},
		{"blacklisted URL", lists, "a.test/logout", func(w *world) { w.depth("a.test/logout", 0, 0) }, schema.Blacklisted, "", `blacklist url '/logout$'`},
		{"visited, too deep now", minimal, "b.test/", func(w *world) { w.depth("b.test/", 4, 0); w.visit("b.test/", nil) }, schema.Processed, "", ""},
		{"visited, failed", minimal, "a.test/", func(w *world) {
			w.visit("a.test/", func(v *schema.Visit) { v.State, v.Status, v.Error = schema.Failed, 0, "truncated body" })
		}, schema.Failed, "truncated body", `quality "a.test"`},
		{"denied by robots.txt", minimal, "a.test/x", func(w *world) {
			w.visit("a.test/x", func(v *schema.Visit) {
				v.State, v.Status, v.Requests, v.Error, v.Rule = schema.Failed, 0, 0, "denied by robots.txt", "robots.txt line 2: Disallow: /x"
			})
		}, schema.Failed, "denied by robots.txt", "robots.txt line 2: Disallow: /x"},
		{"reopened by another form", minimal, "a.test/x", func(w *world) {
			w.visit("a.test/x", func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
			w.update(func(tx *kv.Tx) error {
				_, err := tx.AddForm(w.page("a.test/x"), "https://a.test/x", "https://a.test/x/")
				return err
			})
		}, schema.Queued, "", ""},
		{"reopened, but over budget", minimal, "a.test/x", func(w *world) {
			w.visit("a.test/x", func(v *schema.Visit) { v.State, v.Status, v.Error = schema.DeadLink, 404, "404 Not Found" })
			w.host("a.test/x", func(h *schema.Host) { h.RunRequests = 500 })
			w.update(func(tx *kv.Tx) error {
				_, err := tx.AddForm(w.page("a.test/x"), "https://a.test/x", "https://a.test/x/")
				return err
			})
		}, schema.DeadLink, "404 Not Found", ""},
		{"no depth: nofollow", "[crawler]\nrespect-nofollow = true\n" + minimal, "b.test/", func(w *world) {
			w.visit("a.test/", func(v *schema.Visit) {
				v.Links = []schema.Link{{To: w.url(schema.KindPage, "b.test/", v.URL), Kinds: kinds(schema.LinkAnchor), Rel: schema.RelNofollow}}
			})
		}, schema.Discovered, "respect-nofollow = true", "respect-nofollow = true"},
		{"no depth: canonical only", "[crawler]\nfollow-canonical = false\n" + minimal, "b.test/", func(w *world) {
			w.visit("a.test/", func(v *schema.Visit) {
				v.Links = []schema.Link{{To: w.url(schema.KindPage, "b.test/", v.URL), Kinds: kinds(schema.LinkCanonical)}}
			})
		}, schema.Discovered, "follow-canonical = false", "follow-canonical = false"},
		{"no depth: of an earlier run", minimal, "b.test/", func(w *world) { w.page("b.test/"); w.begin() }, schema.Discovered, "not reached by run 2", ""},
		{"visited by an earlier run, not met again", minimal, "b.test/", func(w *world) { w.visit("b.test/", nil); w.begin() }, schema.Processed, "", ""},
		{"visited by an earlier run, waits again", minimal, "a.test/", func(w *world) { w.visit("a.test/", nil); w.begin(); w.depth("a.test/", 0, 0) }, schema.Queued, "", ""},
		{"too deep, refused, over budget", lists, "b.test/private", func(w *world) {
			w.depth("b.test/private", 4, 0)
			w.host("b.test/private", func(h *schema.Host) { h.RunRequests = 500 })
		}, schema.DepthExceeded, "max-depth = 3", ""},
		{"excluded, over budget", lists, "a.test/private", func(w *world) {
			w.depth("a.test/private", 0, 0)
			w.host("a.test/private", func(h *schema.Host) { h.RunRequests = 500 })
		}, schema.Discovered, `exclude "^/private"`, `exclude "^/private"`},
		{"trap", minimal, "a.test/x/x/x/x", func(w *world) { w.depth("a.test/x/x/x/x", 0, 0) }, schema.Discovered, "trap: max-repeated-segments = 3", "trap: max-repeated-segments = 3"},
		{"too many redirects on the way", minimal, "b.test/", func(w *world) { w.depth("b.test/", 1, 11) }, schema.Discovered, "more than 10 redirects", ""},
		{"page type", lists, "a.test/issues/2", func(w *world) {
			w.depth("a.test/issues/2", 0, 0)
			w.update(func(tx *kv.Tx) error { return tx.AddCap(`page-type "issues": max-per-group = 1`, "a.test", 1) })
		}, schema.Discovered, "max-per-group = 1", `page-type "issues": max-per-group = 1`},
		{"max-subdomains", "[crawler]\nmax-subdomains = 1\n" + minimal, "x.b.test/", func(w *world) {
			w.depth("x.b.test/", 1, 0)
			w.update(func(tx *kv.Tx) error { return tx.AddCap("max-subdomains = 1", "b.test", 1) })
		}, schema.Discovered, "max-subdomains = 1", "max-subdomains = 1"},
		{"Crawl-delay", minimal, "b.test/", func(w *world) {
			w.depth("b.test/", 1, 0)
			w.host("b.test/", func(h *schema.Host) { h.CrawlDelay = 10 * time.Minute })
		}, schema.Discovered, "Crawl-delay 10m0s > max-crawl-delay = 5m0s", ""},
		{"Crawl-delay, seed", minimal, "a.test/", func(w *world) {
			w.depth("a.test/", 0, 0)
			w.host("a.test/", func(h *schema.Host) { h.CrawlDelay = 10 * time.Minute })
		}, schema.Queued, "", ""},
		{"in no sitemap", "[crawler]\nsitemaps = \"only\"\n" + minimal, "a.test/x", func(w *world) { w.depth("a.test/x", 0, 0) }, schema.Discovered, `sitemaps = "only"`, ""},
		{"in a sitemap", "[crawler]\nsitemaps = \"only\"\n" + minimal, "a.test/x", func(w *world) {
			to := w.depth("a.test/x", 0, 0)
			w.url(schema.KindSitemap, "a.test/sitemap.xml", 0)
			w.visit("a.test/sitemap.xml", func(v *schema.Visit) { v.Sitemap = []schema.SitemapEntry{{To: to}} })
		}, schema.Queued, "", ""},
		{"budget, given up", minimal, "a.test/x", func(w *world) {
			w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) { h.RunRequests, h.RunGivenUp = 500, schema.GaveUpConnection })
		}, schema.RequestLimitHit, "max-domain-requests = 500", ""},
		{"budget of the entry", minimal + "max-requests = 5\n", "a.test/x", func(w *world) {
			w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) { h.RunRequests = 5 })
		}, schema.RequestLimitHit, "max-requests = 5", ""},
		{"budget of an earlier run", minimal, "a.test/x", func(w *world) {
			w.host("a.test/x", func(h *schema.Host) { h.RunRequests = 500 })
			w.begin()
			w.depth("a.test/x", 0, 0)
		}, schema.Queued, "", ""},
		{"given up: connection, suspended", minimal, "a.test/x", func(w *world) {
			w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) { h.RunGivenUp, h.RunGivenUpWhy, h.Throttles = schema.GaveUpConnection, "refused", 1 })
		}, schema.Unreachable, "refused", ""},
		{"given up: rate limit", minimal, "a.test/x", func(w *world) {
			w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) { h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpRateLimit, "429" })
		}, schema.RateLimited, "429", ""},
		{"given up: robots.txt", minimal, "a.test/x", func(w *world) {
			w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpRobots, "robots.txt unavailable: 503"
			})
		}, schema.Failed, "robots.txt unavailable", ""},
		{"suspended", minimal, "a.test/x", func(w *world) {
			w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) { h.Throttles, h.SuspendedTo = 1, w.at })
		}, schema.RateLimited, "suspended until 2026-01-15T10:30:00Z", ""},
		{"waits for another try", minimal, "a.test/x", func(w *world) {
			id := w.depth("a.test/x", 0, 0)
			w.host("a.test/x", func(h *schema.Host) { h.Retries = []schema.Retry{{URL: id, Attempts: 2, Error: "timeout"}} })
		}, schema.Queued, "timeout", ""},
		{"queued", minimal, "a.test/x", func(w *world) { w.depth("a.test/x", 0, 0) }, schema.Queued, "", `quality "a.test"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.config)
			tt.make(w)
			p := w.look(tt.page)
			if p.State != tt.state || !strings.Contains(p.Error, tt.err) || tt.rule != "" && p.Rule != tt.rule {
				t.Errorf("state %s, error %q, rule %q; want %s, %q, %q", p.State, p.Error, p.Rule, tt.state, tt.err, tt.rule)
			}
			if tt.err == "" && p.Error != "" {
				t.Errorf("error %q; want none", p.Error)
			}
			all := 0
			err := w.survey().EachPage(func(q *survey.Page) error {
				all++
				if q.ID == p.ID && (q.State != p.State || q.Error != p.Error) {
					t.Errorf("EachPage: %s, %q", q.State, q.Error)
				}
				return nil
			})
			counts, err2 := w.survey().Counts()
			if err != nil || err2 != nil || counts.Pages != all || counts.ByState[p.State] == 0 {
				t.Errorf("%d pages, counted %+v, %v, %v", all, counts, err, err2)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	w := newWorld(t, minimal)
	name := func(i int) string { return "a.test/" + strings.Repeat("r", i+1) }
	for i := range 11 { // 11 redirects from the first page, 10 from the second
		w.visit(name(i), w.redirect(name(i+1)))
	}
	w.visit("a.test/x", w.redirect("a.test/y"))
	w.visit("a.test/y", w.redirect("a.test/z"))
	w.visit("a.test/z", w.redirect("a.test/y"))
	tests := []struct {
		page  string
		state schema.State
		err   string
		count int
	}{
		{name(0), schema.Failed, "more than 10 redirects", 11},
		{name(1), schema.Processed, "", 10},
		{name(10), schema.Processed, "", 1},
		{"a.test/x", schema.Failed, "redirect loop", 3},
		{"a.test/y", schema.Failed, "redirect loop", 2},
	}
	for _, tt := range tests {
		p := w.look(tt.page)
		if p.State != tt.state || p.Error != tt.err || p.RedirectCount != tt.count || p.RedirectTo == 0 {
			t.Errorf("%s: %s, %q, %d redirects to %d; want %s, %q, %d", tt.page, p.State, p.Error, p.RedirectCount, p.RedirectTo, tt.state, tt.err, tt.count)
		}
	}
}
