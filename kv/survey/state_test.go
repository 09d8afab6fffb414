package survey_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// lists is a configuration with a list and a rule of every kind.
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

// A stateRow makes a page and states the result.
type stateRow struct {
	name   string
	config string
	page   string
	make   func(w *surveytest.World)
	state  schema.State
	err    string // a part of it
	rule   string
}

// listedRows have pages that a list names, and pages that this run has visited.
func listedRows() []stateRow {
	return []stateRow{
		{"blacklisted, visited before", lists, "bad.test/", func(w *surveytest.World) { w.Visit("bad.test/", nil) },
			schema.Blacklisted, "", `blacklist "bad.test"`},
		{"stub", lists, "stub.test/x", func(w *surveytest.World) { w.Depth("stub.test/x", 9, 0) }, schema.Stubbed, "",
			`stub "stub.test"`},
		{"blacklisted URL", lists, "a.test/logout", func(w *surveytest.World) { w.Depth("a.test/logout", 0, 0) },
			schema.Blacklisted, "", `blacklist url '/logout$'`},
		{"visited, too deep now", minimal, "b.test/",
			func(w *surveytest.World) { w.Depth("b.test/", 4, 0); w.Visit("b.test/", nil) }, schema.Processed, "", ""},
		{"visited, failed", minimal, "a.test/", func(w *surveytest.World) {
			w.Visit("a.test/", func(v *schema.Visit) {
				v.State, v.Status, v.Reason = schema.Failed, 0, schema.Reason{Cause: schema.CauseTruncated}
			})
		}, schema.Failed, "truncated response", `quality "a.test"`},
		{"refused by HEAD, which is not believed any more", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) { h.Heads = schema.HeadPageType | schema.HeadsLie })
			w.Visit("a.test/x", func(v *schema.Visit) { v.State, v.ByHead = schema.ContentMismatch, true })
		}, schema.Queued, "", ""},
		{"refused by HEAD, which is believed", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) { h.Heads = schema.HeadPageType })
			w.Visit("a.test/x", func(v *schema.Visit) { v.State, v.ByHead = schema.ContentMismatch, true })
		}, schema.ContentMismatch, "", ""},
		{"denied by robots.txt", minimal, "a.test/x", func(w *surveytest.World) {
			w.Visit("a.test/x", func(v *schema.Visit) {
				v.State, v.Status, v.Requests, v.Rule = schema.Failed, 0, 0, "robots.txt line 2: Disallow: /x"
				v.Reason.Cause = schema.CauseDenied
			})
		}, schema.Failed, "denied by robots.txt", "robots.txt line 2: Disallow: /x"},
		{"reopened by another form", minimal, "a.test/x", func(w *surveytest.World) {
			w.Visit("a.test/x", func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
			w.Update(func(tx *kv.Tx) error {
				_, err := tx.URLs.AddForm(w.Page("a.test/x"), "https://a.test/x", "https://a.test/x/", false)
				return err
			})
		}, schema.Queued, "", ""},
		{"reopened by another form in a group that it fills", minimal + "[[page-type]]\nname = \"x\"\npath = \"^/x\"\n" +
			"max-per-group = 1\n", "a.test/x", func(w *surveytest.World) {
			w.Visit("a.test/x", func(v *schema.Visit) { v.State, v.Status = schema.Failed, 500 })
			w.Update(func(tx *kv.Tx) error {
				_, err := tx.URLs.AddForm(w.Page("a.test/x"), "https://a.test/x", "https://a.test/x/", false)
				return errors.Join(err, tx.Runs.CountUp("page-type \"x\": max-per-group, of others", "a.test", w.Run.ID))
			})
		}, schema.Queued, "", ""},
		{"reopened after silence", minimal, "a.test/x", func(w *surveytest.World) {
			w.Visit("a.test/x", func(v *schema.Visit) {
				v.State, v.Status, v.Reason.Cause = schema.Failed, 0, schema.CauseTimeout
			})
			w.Update(func(tx *kv.Tx) error {
				_, err := tx.URLs.AddForm(w.Page("a.test/x"), "https://a.test/x", "https://a.test/x/", false)
				return err
			})
		}, schema.Queued, "", ""},
		{"reopened, but over budget", minimal, "a.test/x", func(w *surveytest.World) {
			w.Visit("a.test/x", func(v *schema.Visit) {
				v.State, v.Status, v.Reason = schema.DeadLink, 404,
					schema.StatusReason(404)
			})
			w.Host("a.test/x", func(h *schema.Host) { h.RunRequests = 500 })
			w.Update(func(tx *kv.Tx) error {
				_, err := tx.URLs.AddForm(w.Page("a.test/x"), "https://a.test/x", "https://a.test/x/", false)
				return err
			})
		}, schema.DeadLink, "404 Not Found", ""},
	}
}

// earlierRows have pages without a depth, and pages that an earlier run has left.
func earlierRows() []stateRow {
	return []stateRow{
		{"no depth: nofollow", "[crawler]\nrespect-nofollow = true\n" + minimal, "b.test/", func(w *surveytest.World) {
			w.Visit("a.test/", func(v *schema.Visit) {
				v.Links = []schema.Link{{To: w.URL(schema.KindPage, "b.test/", v.URL), Kinds: surveytest.Kinds(schema.LinkAnchor),
					Rel: schema.RelNofollow}}
			})
		}, schema.Discovered, "respect-nofollow = true", "respect-nofollow = true"},
		{"no depth: canonical only", "[crawler]\nfollow-canonical = false\n" + minimal, "b.test/", func(w *surveytest.World) {
			w.Visit("a.test/", func(v *schema.Visit) {
				v.Links = []schema.Link{{To: w.URL(schema.KindPage, "b.test/", v.URL),
					Kinds: surveytest.Kinds(schema.LinkCanonical)}}
			})
		}, schema.Discovered, "follow-canonical = false", "follow-canonical = false"},
		{"no depth: a feed alone", minimal, "b.test/", func(w *surveytest.World) {
			w.Visit("a.test/", func(v *schema.Visit) {
				v.Links = []schema.Link{{To: w.URL(schema.KindPage, "b.test/", v.URL), Kinds: surveytest.Kinds(schema.LinkFeed)}}
			})
		}, schema.Discovered, "a feed, not a page", ""},
		{"no depth: of an earlier run", minimal, "b.test/", func(w *surveytest.World) { w.Page("b.test/"); w.Begin() },
			schema.Discovered, "not reached by run 2", ""},
		{"visited by an earlier run, not met again", minimal, "b.test/",
			func(w *surveytest.World) { w.Visit("b.test/", nil); w.Begin() }, schema.Processed, "", ""},
		{"visited by an earlier run, waits again", minimal, "a.test/",
			func(w *surveytest.World) { w.Visit("a.test/", nil); w.Begin(); w.Depth("a.test/", 0, 0) }, schema.Queued, "", ""},
		{"visited by an earlier run, over budget", minimal, "a.test/", func(w *surveytest.World) {
			w.Visit("a.test/", nil)
			w.Begin()
			w.Depth("a.test/", 0, 0)
			w.Host("a.test/", func(h *schema.Host) { h.RunRequests = 500 })
		}, schema.Processed, "", ""},
		{"visited by an earlier run, max-pages", "[crawler]\nmax-pages = 5\n" + minimal, "a.test/",
			func(w *surveytest.World) {
				w.Visit("a.test/", func(v *schema.Visit) {
					v.State, v.Status, v.Reason = schema.DeadLink, 404,
						schema.StatusReason(404)
				})
				w.Begin()
				w.Depth("a.test/", 0, 0)
				w.Change(func(run *schema.Run) { run.Pages = 5 })
			}, schema.DeadLink, "404 Not Found", ""},
		{"left waiting by an earlier run", minimal, "b.test/x",
			func(w *surveytest.World) { w.Page("b.test/x"); w.Begin(); w.Push("b.test/x") }, schema.Queued, "", ""},
		{"left waiting by an earlier run, over budget", minimal, "b.test/x", func(w *surveytest.World) {
			w.Page("b.test/x")
			w.Begin()
			w.Push("b.test/x")
			w.Host("b.test/x", func(h *schema.Host) { h.RunRequests = 500 })
		}, schema.RequestLimitHit, "max-domain-requests = 500", ""},
		{"left waiting by an earlier run, excluded", minimal + "[traps]\nmax-path-depth = 1\n", "b.test/x/y",
			func(w *surveytest.World) { w.Page("b.test/x/y"); w.Begin(); w.Push("b.test/x/y") }, schema.Discovered,
			"trap: max-path-depth = 1", ""},
	}
}

// refusedRows have pages that a rule refuses.
func refusedRows() []stateRow {
	return []stateRow{
		{"too deep, refused, over budget", lists, "b.test/private", func(w *surveytest.World) {
			w.Depth("b.test/private", 4, 0)
			w.Host("b.test/private", func(h *schema.Host) { h.RunRequests = 500 })
		}, schema.DepthExceeded, "max-depth = 3", ""},
		{"excluded, over budget", lists, "a.test/private", func(w *surveytest.World) {
			w.Depth("a.test/private", 0, 0)
			w.Host("a.test/private", func(h *schema.Host) { h.RunRequests = 500 })
		}, schema.Discovered, `exclude "^/private"`, `exclude "^/private"`},
		{"trap", minimal, "a.test/x/x/x/x", func(w *surveytest.World) { w.Depth("a.test/x/x/x/x", 0, 0) }, schema.Discovered,
			"trap: max-repeated-segments = 3", "trap: max-repeated-segments = 3"},
		{"too many redirects on the way", minimal, "b.test/", func(w *surveytest.World) { w.Depth("b.test/", 1, 11) },
			schema.Discovered, "more than 10 redirects", ""},
		{"page type", lists, "a.test/issues/2", func(w *surveytest.World) {
			w.Depth("a.test/issues/2", 0, 0)
			w.Update(func(tx *kv.Tx) error {
				return tx.Runs.CountUp(`page-type "issues": max-per-group, of others`, "a.test", 1)
			})
		}, schema.Discovered, "max-per-group = 1", `page-type "issues": max-per-group = 1`},
		{"page type, visited by an earlier run", lists, "a.test/issues/2", func(w *surveytest.World) {
			w.Visit("a.test/issues/2", nil)
			w.Begin()
			w.Depth("a.test/issues/2", 0, 0)
			w.Update(func(tx *kv.Tx) error {
				return tx.Runs.CountUp(`page-type "issues": max-per-group, of others`, "a.test", 2)
			})
		}, schema.Processed, "", ""},
		{"excluded, visited by an earlier run", lists, "a.test/private", func(w *surveytest.World) {
			w.Visit("a.test/private", nil)
			w.Begin()
			w.Depth("a.test/private", 0, 0)
		}, schema.Discovered, `exclude "^/private"`, ""},
		{"max-subdomains", "[crawler]\nmax-subdomains = 1\n" + minimal, "x.b.test/", func(w *surveytest.World) {
			w.Depth("x.b.test/", 1, 0)
			w.Update(func(tx *kv.Tx) error { return tx.Runs.CountUp("max-subdomains", "b.test", 1) })
		}, schema.Discovered, "max-subdomains = 1", "max-subdomains = 1"},
		{"Crawl-delay", minimal, "b.test/", func(w *surveytest.World) {
			w.Depth("b.test/", 1, 0)
			w.Host("b.test/", func(h *schema.Host) { h.CrawlDelay = 10 * time.Minute })
		}, schema.Discovered, "Crawl-delay 10m0s > max-crawl-delay = 5m0s", ""},
		{"Crawl-delay, seed", minimal, "a.test/", func(w *surveytest.World) {
			w.Depth("a.test/", 0, 0)
			w.Host("a.test/", func(h *schema.Host) { h.CrawlDelay = 10 * time.Minute })
		}, schema.Queued, "", ""},
		{"in no sitemap", "[crawler]\nsitemaps = \"only\"\n" + minimal, "a.test/x",
			func(w *surveytest.World) { w.Depth("a.test/x", 0, 0) }, schema.Discovered, `sitemaps = "only"`, ""},
		{"in a sitemap", "[crawler]\nsitemaps = \"only\"\n" + minimal, "a.test/x", func(w *surveytest.World) {
			to := w.Depth("a.test/x", 0, 0)
			w.URL(schema.KindSitemap, "a.test/sitemap.xml", 0)
			w.Visit("a.test/sitemap.xml", func(v *schema.Visit) { v.Sitemap = []schema.SitemapEntry{{To: to}} })
		}, schema.Queued, "", ""},
		{"in a sitemap of another origin", "[crawler]\nsitemaps = \"only\"\n" + minimal +
			"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n", "a.test/x", func(w *surveytest.World) {
			to := w.Depth("a.test/x", 0, 0)
			w.URL(schema.KindSitemap, "b.test/sitemap.xml", 0)
			w.Visit("b.test/sitemap.xml", func(v *schema.Visit) { v.Sitemap = []schema.SitemapEntry{{To: to}} })
		}, schema.Discovered, `sitemaps = "only"`, ""},
		{"in a sitemap, of a former origin", "[crawler]\nsitemaps = \"only\"\n" + minimal, "b.test/x",
			func(w *surveytest.World) {
				to := w.Depth("b.test/x", 1, 0)
				w.URL(schema.KindSitemap, "a.test/sitemap.xml", 0)
				w.Visit("a.test/sitemap.xml", func(v *schema.Visit) { v.Sitemap = []schema.SitemapEntry{{To: to}} })
			}, schema.Discovered, `sitemaps = "only"`, ""},
	}
}

// waitingRows have pages that wait, and pages whose host keeps them from being visited.
func waitingRows() []stateRow {
	return []stateRow{
		{"budget, given up", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) { h.RunRequests, h.RunGivenUp = 500, schema.GaveUpConnection })
		}, schema.RequestLimitHit, "max-domain-requests = 500", ""},
		{"budget of the entry", minimal + "max-requests = 5\n", "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) { h.RunRequests = 5 })
		}, schema.RequestLimitHit, "max-requests = 5", ""},
		{"budget of an earlier run", minimal, "a.test/x", func(w *surveytest.World) {
			w.Host("a.test/x", func(h *schema.Host) { h.RunRequests = 500 })
			w.Begin()
			w.Depth("a.test/x", 0, 0)
		}, schema.Queued, "", ""},
		{"given up: connection, suspended", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy, h.Throttles = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}, 1
			})
		}, schema.Unreachable, "connection refused", ""},
		{"given up: rate limit", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpRateLimit, schema.StatusReason(429)
			})
		}, schema.RateLimited, "429 Too Many Requests", ""},
		{"given up: robots.txt", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpRobots, schema.Reason{Cause: schema.CauseRobots, Detail: "503"}
			})
		}, schema.Failed, "robots.txt unavailable", ""},
		{"suspended", minimal, "a.test/x", func(w *surveytest.World) {
			w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) { h.Throttles, h.SuspendedTo = 1, w.At })
		}, schema.RateLimited, "suspended until 2026-01-15T10:30:00Z", ""},
		{"waits for another try", minimal, "a.test/x", func(w *surveytest.World) {
			id := w.Depth("a.test/x", 0, 0)
			w.Host("a.test/x", func(h *schema.Host) {
				h.Retries = []schema.Retry{{URL: id, Attempts: 2, Reason: schema.Reason{Cause: schema.CauseTimeout}}}
			})
		}, schema.Queued, "timeout", ""},
		{"queued", minimal, "a.test/x", func(w *surveytest.World) { w.Depth("a.test/x", 0, 0) }, schema.Queued, "",
			`quality "a.test"`},
	}
}

// TestState has a case for every row of the precedence, each of which the next row would
// contradict.
func TestState(t *testing.T) {
	for _, tt := range slices.Concat(listedRows(), earlierRows(), refusedRows(), waitingRows()) {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, tt.config)
			tt.make(w)
			p := look(t, w, tt.page)
			if p.State != tt.state || !strings.Contains(p.Error, tt.err) || tt.rule != "" && p.Rule != tt.rule {
				t.Errorf("state %s, error %q, rule %q; want %s, %q, %q", p.State, p.Error, p.Rule, tt.state, tt.err, tt.rule)
			}
			if tt.err == "" && p.Error != "" {
				t.Errorf("error %q; want none", p.Error)
			}
			all := 0
			err := w.Survey().EachPage(func(q *survey.Page) error {
				all++
				if q.ID == p.ID && (q.State != p.State || q.Error != p.Error) {
					t.Errorf("EachPage: %s, %q", q.State, q.Error)
				}
				return nil
			})
			counts, err2 := w.Survey().Counts()
			if err != nil || err2 != nil || counts.Pages != all || counts.ByState[p.State] == 0 {
				t.Errorf("%d pages, counted %+v, %v, %v", all, counts, err, err2)
			}
		})
	}
}
