package crawl

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// laterHead is the beginning of every configuration for runs over an old terrain.
const laterHead = `
[crawler]
minimum-time-on-page = 5000
head-check = "never"
sitemaps = "off"
[politeness]
minimum-time-per-address = "0s"
[user-agent]
crawler-name = "T"
`

// complete is [Crawl.Complete] for the last run.
func (s *paperServers) complete() {
	s.t.Helper()
	(&paperCrawl{t: s.t, path: s.path}).complete()
}

// surveyed reads the store after a crawl.
func (s *paperServers) surveyed(f func(*survey.Survey) error) {
	s.t.Helper()
	crawltest.Surveyed(s.t, s.path, f)
}

// lastRun returns the last run as a survey sees it.
func (s *paperServers) lastRun() (run schema.Run) {
	s.t.Helper()
	s.surveyed(func(sv *survey.Survey) error {
		run = sv.Run()
		return nil
	})
	return run
}

// TestFinishedWithTheWalk: a run is finished when its walk is, even while its outputs are being
// written, and even if its last visit was kept from another run.
func TestFinishedWithTheWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const origin = "[[quality]]\ndomain = \"a.test\"\n"
		s := newPaperServers(t)
		s.host["a.test"] = pages(map[string]reply{"/1": links()})
		s.crawl(laterHead+origin+"seeds = [\"https://a.test/1\"]\n", 0)
		s.complete()
		time.Sleep(time.Hour)
		s.host["a.test"] = pages(map[string]reply{"/": links("/1")})
		s.crawl(laterHead+origin+"seeds = [\"https://a.test/\"]\n", 0)
		ended := time.Now().Truncate(time.Second)
		if v := s.visits()["https://a.test/1"]; !v.Kept {
			t.Fatalf("/1 was not kept: %+v", v)
		}
		time.Sleep(time.Minute)
		if run := s.lastRun(); !run.Finished.Equal(ended) || run.Status != schema.RunCompleted ||
			ended.Sub(run.Started) < 5*time.Second {
			t.Errorf("run %d is %s, began %s, finished %s; its walk ended %s", run.ID, run.Status, run.Started,
				run.Finished, ended)
		}
		s.complete()
		if run := s.lastRun(); !run.Finished.Equal(ended) {
			t.Errorf("completed: run %d finished %s; its walk ended %s", run.ID, run.Finished, ended)
		}
	})
}

// linked answers with pages that have the given links, and 404 for the rest.
func linked(of map[string][]string) func(question) reply {
	return func(q question) reply {
		if to, ok := of[q.host+q.path]; ok {
			return links(to...)
		}
		return reply{status: http.StatusNotFound}
	}
}

// TestCompletedOverRuns crawls hosts that are larger than their budget run after run, when all
// pages are old enough to be requested again. No page is requested again before all pages of its
// host were visited, no visited page is lost from the map, and kills change nothing, whether or not
// the configuration is the same afterwards.
func TestCompletedOverRuns(t *testing.T) {
	t.Parallel()
	tree, chain, outside := map[string][]string{}, map[string][]string{},
		map[string][]string{"a.test/": {"https://b.test/"}, "b.test/": nil}
	for i := range 40 {
		name := fmt.Sprintf("/%d", i)
		if i == 0 {
			name = "/"
		}
		tree["a.test"+name], chain["a.test"+name] = nil, nil
		for c := 3*i + 1; c <= 3*i+3 && c < 40; c++ {
			tree["a.test"+name] = append(tree["a.test"+name], fmt.Sprintf("/%d", c))
		}
		if i < 19 {
			chain["a.test"+name] = []string{fmt.Sprintf("/%d", i+1)}
		}
	}
	maps.DeleteFunc(chain, func(u string, to []string) bool { return to == nil && u != "a.test/19" })
	for i := range 6 {
		at := fmt.Sprintf("/%d", i)
		outside["b.test/"] = append(outside["b.test/"], at)
		for j := range 5 {
			to := fmt.Sprintf("/%d%d", i, j)
			outside["b.test"+at], outside["b.test"+to] = append(outside["b.test"+at], to), nil
		}
	}
	for _, tt := range []struct {
		name   string
		web    map[string][]string
		large  string
		key    string
		limit  int // requests to the large host per run
		spared int // requests of a run to other hosts
	}{
		{"tree", tree, "a.test", "max-domain-requests", 7, 0},
		{"chain", chain, "a.test", "max-domain-requests", 5, 0},
		{"no origin", outside, "b.test", "max-domain-requests", 8, 0},
		{"tree, max-pages", tree, "a.test", "max-pages", 7, 0},
		{"no origin, max-pages", outside, "b.test", "max-pages", 8, 1},
	} {
		for _, kills := range []string{"none", "same", "changed"} {
			t.Run(tt.name+"/"+kills, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newPaperServers(t)
					s.other = linked(tt.web)
					text := strings.Replace(laterHead, "[crawler]", fmt.Sprintf("[crawler]\n%s = %d", tt.key, tt.limit),
						1) +
						"[recrawl]\nmin-age = \"1h\"\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
					s.overRuns(text, tt.web, tt.large, tt.limit-tt.spared, kills)
				})
			})
		}
	}
}

// overRuns crawls until all pages of a host were visited. That must happen as soon as its budget
// allows.
func (s *paperServers) overRuns(text string, web map[string][]string, large string, budget int, kills string) {
	cfg := crawltest.Parse(s.t, text)
	pages, seen := 0, map[string]bool{}
	for u := range web {
		if strings.HasPrefix(u, large) {
			pages++
		}
	}
	for run := 1; len(seen) < pages; run++ {
		s.log = nil
		for _, kill := range []time.Duration{12 * time.Second, 23 * time.Second, 0} {
			switch {
			case kills == "same", kill == 0 && kills == "none":
				s.crawlWith(cfg, kill)
			case kills == "changed": // a path
				s.crawl(text, kill)
			}
		}
		asked := s.requests(large)
		for _, line := range asked {
			path := large + strings.TrimPrefix(line, "GET ")
			if _, ok := web[path]; !ok {
				continue
			}
			if seen[path] && len(seen) < pages && kills == "none" {
				s.t.Errorf("run %d asked for %s again, when %d of %d pages were visited", run, path, len(seen), pages)
			}
			seen[path] = true
		}
		if run > (pages+budget-1)/budget+1 {
			s.t.Fatalf("%d of %d pages visited after run %d: %q", len(seen), pages, run, asked)
		}
		for u, p := range s.survey() {
			want := surveyed{schema.Processed.String(), p.depth, true}
			if strings.HasPrefix(u, large) && !seen[u] {
				want = surveyed{p.state, p.depth, false}
			}
			if p.depth > 3 || p != want || !want.visited && p.state != schema.RequestLimitHit.String() &&
				p.state != schema.Queued.String() {
				s.t.Errorf("run %d: %s is %+v, want %+v", run, u, p, want)
			}
		}
		crawltest.Verify(s.t, s.path)
		s.complete()
		time.Sleep(2 * time.Hour)
	}
}

// TestLeftWaiting begins a run over a terrain where budgets have cut the first one. The pages left
// waiting are requested first, if the new configuration allows it, but not if they are found to be
// out of reach before their turn.
func TestLeftWaiting(t *testing.T) {
	const origin = "[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
	first := map[string][]string{"a.test/": {"https://b.test/"}, "b.test/": {"/1", "/2", "/3", "/4", "/5", "/6", "/7"}}
	for i := range 7 {
		first[fmt.Sprintf("b.test/%d", i+1)] = nil
	}
	for _, tt := range []struct {
		name   string
		config string
		change map[string][]string
		asked  string            // of b.test, in order
		states map[string]string // of pages of b.test, with their depths
	}{
		{"as before", origin, nil, "2 3 4 5 6 7  1", map[string]string{"2": "processed 2", "": "processed 1"}},
		{"smaller max-depth", "[crawler]\nmax-depth = 1\n" + origin, nil, "",
			map[string]string{"2": "depth_exceeded 2"}},
		{"max-depth 0", "[crawler]\nmax-depth = 0\n" + origin, nil, "none",
			map[string]string{"2": "discovered 255", "1": "discovered 255"}},
		{"blacklisted", origin + "[[blacklist]]\nurl = '/[23]$'\n", nil, "4 5 6 7  1",
			map[string]string{"2": "blacklisted 2"}},
		{"in a trap", origin + "[traps]\nmax-path-depth = 1\n", map[string][]string{"b.test/1": {"/x/y"}},
			"2 3 4 5 6 7  1", map[string]string{"x/y": "discovered 3"}},
		{"another origin", strings.ReplaceAll(origin, "a.test", "c.test"), nil, "none",
			map[string]string{"2": "discovered 255"}},
		{"an origin itself", origin + strings.ReplaceAll(origin, "a.test", "b.test"), nil, "2 3 4 5 6 7  1",
			map[string]string{"2": "processed 0"}},
		{"no longer linked", origin, map[string][]string{"a.test/": nil}, "2 3 4 5 6 7",
			map[string]string{"2": "processed 255", "1": "discovered 255"}},
		{"linked again", origin, map[string][]string{"a.test/": {"https://c.test/"}, "c.test/": {"/2"},
			"c.test/2": {"https://b.test/2"}}, "2 3 4 5 6 7",
			map[string]string{"2": "processed 3", "3": "processed 255"}},
		{"too deep now", origin, map[string][]string{
			"a.test/": {"https://c.test/"}, "c.test/": {"/2"}, "c.test/2": {"/3"},
			"c.test/3": {"https://b.test/2", "https://b.test/7"},
		}, "2 3 4 5 6", map[string]string{"2": "processed 4", "5": "processed 255", "7": "depth_exceeded 4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.other = linked(first)
				head := laterHead + "[recrawl]\nmin-age = \"1h\"\n"
				s.crawl(strings.Replace(head, "[crawler]", "[crawler]\nmax-domain-requests = 2", 1)+origin, 0)
				s.complete()
				time.Sleep(2 * time.Hour)

				second := maps.Clone(first)
				maps.Copy(second, tt.change)
				s.other, s.log = linked(second), nil
				text := head + tt.config
				if more, ok := strings.CutPrefix(tt.config, "[crawler]\n"); ok {
					key, rest, _ := strings.Cut(more, "\n")
					text = strings.Replace(head, "[crawler]", "[crawler]\n"+key, 1) + rest
				}
				s.crawl(text, 0)
				crawltest.Verify(s.t, s.path)
				asked := strings.ReplaceAll(strings.Join(s.requests("b.test"), " "), "GET /", "")
				if asked != tt.asked && !(asked == "" && tt.asked == "none") {
					t.Errorf("asked for %q, want %q", asked, tt.asked)
				}
				got := s.survey()
				for path, want := range tt.states {
					p := got["b.test/"+path]
					if state := fmt.Sprint(p.state, " ", p.depth); state != want {
						t.Errorf("/%s is %s, want %s", path, state, want)
					}
				}
			})
		})
	}
}

// TestSpentBudgetKeeps leaves one request for a host with many pages that were visited before: all
// of them are kept, however many before them had no answer.
func TestSpentBudgetKeeps(t *testing.T) {
	const verdicts = 256 // decided without a request, for one host and commit
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		web := map[string][]string{"a.test/": nil, "b.test/": {"https://b.test/deep"}, "b.test/deep": nil}
		for i := range 2*verdicts + 10 {
			web["a.test/"] = append(web["a.test/"], fmt.Sprintf("/dead%d", i))
		}
		web["a.test/"] = append(web["a.test/"], "/out")
		web["a.test/out"] = []string{"https://b.test/"}
		s.other = linked(web)
		text := strings.Replace(laterHead, "5000", "100", 1) +
			"[recrawl]\nmin-age = \"1h\"\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
		s.crawl(strings.Replace(text, "[crawler]", "[crawler]\nmax-domain-requests = 1000", 1), 0)
		s.complete()
		before := s.survey()
		time.Sleep(2 * time.Hour)
		s.log = nil
		s.crawl(strings.Replace(text, "[crawler]", "[crawler]\nmax-domain-requests = 1", 1), 0)
		if asked := s.requests("a.test"); !slices.Equal(asked, []string{"GET /"}) {
			t.Errorf("asked for %q", asked)
		}
		for u, p := range s.survey() {
			if want := before[u]; p.state != want.state || p.depth != want.depth {
				t.Errorf("%s is %s at %d, was %s at %d", u, p.state, p.depth, want.state, want.depth)
			}
		}
		if run := s.lastRun(); run.End.Kind != schema.EndFrontier {
			t.Errorf("the run ended: %s", run.End)
		}
		crawltest.Verify(s.t, s.path)
	})
}

// TestCapsLeaveKept crawls twice under a cap, before and after pages are old enough to be requested
// again: pages that an earlier run has visited are kept, with their links, whatever the cap is
// spent on.
func TestCapsLeaveKept(t *testing.T) {
	web := map[string][]string{
		"a.test/": {"/t1", "/t2", "/two", "https://x.b.test/", "https://y.b.test/"}, "a.test/two": {"/three"},
		"a.test/three": nil, "a.test/t1": nil, "a.test/t2": nil, "x.b.test/": {"/deep"}, "x.b.test/deep": nil,
		"y.b.test/": nil,
	}
	text := strings.Replace(laterHead, "[crawler]", "[crawler]\nmax-subdomains = 1", 1) + `
[recrawl]
min-age = "1h"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/two", "https://a.test/"]
[[page-type]]
name = "ts"
path = "^/t[0-9w]"
max-per-group = 1
`
	for _, age := range []time.Duration{time.Minute, 2 * time.Hour} {
		t.Run(age.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.other = linked(web)
				s.crawl(text, 0)
				s.complete()
				before := s.survey()
				if before["a.test/two"].state != "processed" || before["a.test/t1"].state != "discovered" {
					t.Fatalf("first run: %v", before)
				}
				time.Sleep(age)
				s.log = nil
				s.crawl(text, 0)
				crawltest.Verify(s.t, s.path)
				after := s.survey()
				for u, was := range before {
					if p := after[u]; was.visited && p != was {
						t.Errorf("%s is %+v, was %+v", u, p, was)
					}
				}
				if asked := s.requests("a.test"); !slices.Contains(asked, "GET /t1") ||
					slices.Contains(asked, "GET /two") ||
					slices.Contains(asked, "GET /t2") {
					t.Errorf("asked for %q", asked)
				}
				if after["a.test/t1"].state != "processed" || after["a.test/t2"].state != "discovered" {
					t.Errorf("second run: %v", after)
				}
			})
		})
	}
}

// TestLeftTriedAgain has a page that was left waiting, that nothing links to any more, and that
// fails at first: it is retried in its run.
func TestLeftTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.other = linked(map[string][]string{"a.test/": {"/1", "/2", "/3"}, "a.test/1": nil})
		text := laterHead + "[recrawl]\nmin-age = \"1h\"\n" +
			"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
		s.crawl(strings.Replace(text, "[crawler]", "[crawler]\nmax-domain-requests = 2", 1), 0)
		s.complete()
		time.Sleep(48 * time.Hour)
		s.log = nil
		s.other = func(q question) reply {
			if q.path == "/2" && q.n == 0 {
				return reply{status: 500}
			}
			return links()
		}
		s.crawl(text, 0)
		if got := s.survey()["a.test/2"]; got.state != "processed" {
			t.Errorf("a.test/2 is %v; asked: %q", got, s.requests("a.test"))
		}
		crawltest.Verify(s.t, s.path)
	})
}

// TestLeftInAnotherForm visits a page that was left waiting before a link in the form that answers
// is met, and before the run reaches either: it is requested in that form.
func TestLeftInAnotherForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.other = linked(map[string][]string{"a.test/": {"https://b.test/"}, "b.test/": {"/x", "/y"},
			"b.test/y": {"/x/"}, "b.test/x/": nil})
		text := laterHead + "[recrawl]\nmin-age = \"1h\"\n" +
			"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
		s.crawl(strings.Replace(text, "[crawler]", "[crawler]\nmax-domain-requests = 1", 1), 0)
		s.complete()
		time.Sleep(48 * time.Hour)
		web := s.other
		s.host["a.test"] = func(q question) reply { // so slow that b.test's pages are requested before the run reaches them
			r := web(q)
			r.wait = time.Minute
			return r
		}
		s.crawl(text, 0)
		if got := s.survey()["b.test/x"]; got.state != "processed" {
			t.Errorf("b.test/x is %v", got)
		}
		crawltest.Verify(s.t, s.path)
	})
}

// TestFormMetWhileRetried meets another form of a page while the page is being retried: it is then
// requested in that form, too.
func TestFormMetWhileRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			switch {
			case q.path == "/":
				return links("https://a.test/p", "https://b.test/")
			case q.path == "/p" && q.n == 0:
				return reply{status: 503}
			case q.path == "/p":
				return reply{status: 404, wait: 100 * time.Second}
			case q.path == "/p/":
				return reply{status: 200, body: "found"}
			}
			return reply{status: 404}
		}
		s.host["b.test"] = func(q question) reply {
			r := links("https://a.test/p/")
			if q.path == "/robots.txt" {
				r = reply{status: 404}
			}
			r.wait = 20 * time.Second
			return r
		}
		s.crawl(politeConfig(nil), 0)
		if got := s.survey()["a.test/p"]; got.state != "processed" {
			t.Errorf("a.test/p is %v", got)
		}
		crawltest.Verify(s.t, s.path)
	})
}

// TestSitemapOfFormerOrigin removes an origin: pages that its sitemap names, and that were left
// waiting, are not requested.
func TestSitemapOfFormerOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			switch q.path {
			case "/sitemap.xml":
				var b strings.Builder
				b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
				for i := range 10 {
					fmt.Fprintf(&b, "<url><loc>https://a.test/s%d</loc></url>", i)
				}
				b.WriteString("</urlset>")
				return reply{status: 200, header: http.Header{"Content-Type": {"application/xml"}}, body: b.String()}
			case "/robots.txt", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml":
				return reply{status: 404}
			}
			return links()
		}
		s.host["c.test"] = pages(map[string]reply{"/": links()})
		head := strings.Replace(laterHead, `sitemaps = "off"`, `sitemaps = "quality"`, 1)
		s.crawl(strings.Replace(head, "[crawler]", "[crawler]\nmax-domain-requests = 3", 1)+
			"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n", 0)
		s.complete()
		time.Sleep(48 * time.Hour)
		s.log = nil
		s.crawl(head+"[[quality]]\ndomain = \"c.test\"\nseeds = [\"https://c.test/\"]\n", 0)
		if got := s.requests("a.test"); len(got) > 0 || len(s.requests("c.test")) == 0 {
			t.Errorf("asked of a.test: %q, of c.test: %q", got, s.requests("c.test"))
		}
		crawltest.Verify(s.t, s.path)
	})
}
