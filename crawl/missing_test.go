package crawl

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// prose returns n words that differ from those of other seeds.
func prose(seed string, n int) string {
	words := strings.Fields("river stone harbour lantern meadow timber orchard bridge winter garden copper market " +
		"kettle window thunder marble forest island candle railway journal village mirror paper silver")
	var b strings.Builder
	h := uint32(2166136261)
	for _, c := range []byte(seed) {
		h = (h ^ uint32(c)) * 16777619
	}
	for range n {
		h ^= h << 13
		h ^= h >> 17
		h ^= h << 5
		b.WriteString(words[h%uint32(len(words))] + " ")
	}
	return b.String()
}

// page returns a page with the frame that all pages of a site share.
func framed(title, text string) reply {
	return reply{status: http.StatusOK, body: "<title>" + title + "</title><header><a href=/>Our House</a><nav>" +
		prose("navigation", 30) + "</nav></header><main><h1>" + title + "</h1><p>" + text + "</p></main><footer>" +
		prose("footer", 20) + "</footer>"}
}

func moved(to string) reply {
	return reply{status: http.StatusFound, header: http.Header{"Location": {to}}}
}

// A missingSite is a host with pages that exist and links to pages that do not.
type missingSite struct {
	name    string
	exists  func(path string, n int) reply // a page, requested for the n-th time
	missing func(path string, n int) reply
	finds   int            // of 10 links to pages that do not exist; the word "s" is too short to be told from text
	manner  missing.Manner // of the host
}

// article is a page that exists.
func article(path string, _ int) reply { return framed("About "+path[1:], prose(path, 120)) }

const notFound = "Page not found"

// softSites are the ways in which hosts say that a page does not exist, and hosts that say so with a status.
func softSites() []missingSite {
	sorry := "Sorry, the page that you are looking for is not here. It may have been moved or removed."
	same := func(string, int) reply { return framed(notFound, sorry) }
	return []missingSite{
		{"the same page", article, same, 10, missing.Soft},
		{"with the path in it", article, func(p string, _ int) reply {
			return framed(notFound, "The address <code>"+p+"</code> is not known here: https://a.test"+p+" "+sorry)
		}, 10, missing.Soft},
		{"with the words of the path in it", article, func(p string, _ int) reply {
			words := strings.ReplaceAll(p[1:], "-", " ")
			return framed("Nothing about "+words, "We looked for “"+words+"” and found nothing.")
		}, 9, missing.Soft},
		{"with a logo in a folder that begins like a path", article, func(string, int) reply {
			r := framed(notFound, "It's not here. "+sorry)
			r.body += "<img src=/ga/logo.png><img src=/static/logo.png><img src=/close/x.png>"
			return r
		}, 10, missing.Soft},
		{"to the front page", article, func(string, int) reply { return moved("/") }, 10, missing.Soft},
		{"to a search", article, func(p string, _ int) reply {
			return moved("/search?q=" + url.QueryEscape(p[1:]))
		}, 10, missing.Soft},
		{"to a page for this", article, func(p string, _ int) reply {
			return moved("/error?from=" + url.QueryEscape(p))
		}, 10, missing.Soft},
		{"in the language of the path", article, func(p string, _ int) reply {
			if strings.HasPrefix(p, "/de-") {
				return framed("Seite nicht gefunden", "Diese Seite gibt es hier leider nicht, und es gab sie vielleicht nie.")
			}
			return framed(notFound, sorry)
		}, 5, missing.Soft},
		{"with an advertisement beside it", article, func(p string, n int) reply {
			r := framed(notFound, sorry)
			r.body += "<aside>" + prose(fmt.Sprint(p, n, "ad"), 12) + "<img src=/ads/" + fmt.Sprint(len(p)+n) + ".png></aside>"
			return r
		}, 10, missing.Soft},
		{"with an advertisement in a long text", article, func(p string, n int) reply {
			return framed(notFound, sorry+prose("help", 160)+prose(fmt.Sprint(p, n, "ad"), 6))
		}, 5, missing.Soft},
		{"with a clock", article, func(p string, n int) reply {
			at := time.Date(2026, 11, 28, 9, n, len(p), 0, time.UTC)
			return framed(notFound, sorry+at.Format(" It is 15:04:05 on 2006-01-02.")+" Request 7f3a"+fmt.Sprintf("%012d", len(p)*n+7)+
				" took 0.0"+fmt.Sprint(137+len(p))+" s.")
		}, 10, missing.Soft},
		{"the front page itself", article,
			func(string, int) reply { return framed("Our House", prose("front", 60)) }, 10, missing.Soft},
		{"without indexing", article, func(string, int) reply {
			r := framed(notFound, sorry+prose("help", 80))
			r.body = "<meta name=robots content=noindex>" + r.body
			return r
		}, 10, missing.Soft},
		{"an application", func(string, int) reply { return shell("/app.js") },
			func(string, int) reply { return shell("/app.js") }, 0, missing.Unknown},
		{"404", article, func(string, int) reply { return reply{status: http.StatusNotFound, body: notFound} }, 0, missing.Honest},
		{"410", article, func(string, int) reply { return reply{status: http.StatusGone, body: notFound} }, 0, missing.Honest},
		{"a login", func(p string, n int) reply {
			if strings.HasSuffix(p, "1") {
				return article(p, n)
			}
			return moved("/login?next=" + url.QueryEscape(p))
		}, func(p string, _ int) reply { return moved("/login?next=" + url.QueryEscape(p)) }, 0, missing.Unknown},
		{"all alike", same, same, 0, missing.Unknown},
		{"a wall", article, func(string, int) reply { return mitigated(http.StatusForbidden) }, 0, missing.Unknown},
		{"an error", article, func(string, int) reply { return reply{status: http.StatusInternalServerError} }, 0, missing.Unknown},
		{"thin pages", func(p string, _ int) reply {
			return reply{status: http.StatusOK, body: "<title>Photo</title><img src=/img" + p + ".jpg>"}
		}, same, 10, missing.Soft},
		{"pages about this", func(p string, _ int) reply {
			return framed("About 404", "Page not found: what "+p+" means. "+prose(p, 70))
		}, same, 10, missing.Soft},
		{"one title for all", func(p string, _ int) reply {
			return framed("Shop", prose("shipping and returns", 60)+prose(p, 60))
		}, func(string, int) reply { return framed("Shop", prose("shipping and returns", 60)+sorry) }, 10, missing.Soft},
	}
}

// paths that exist, and that do not.
var (
	existingPaths = []string{"/bread-1", "/harbour-2", "/de-hafen-3", "/lamps-4", "/tide-5", "/wool-6", "/map-7", "/inn-8", "/sea-9",
		"/oak-10", "/fair-11", "/mill-12"}
	missingPaths = []string{"/gone-away", "/old-news", "/de-alte-seite", "/de-weg", "/de-verschwunden", "/de-leer", "/de-nichts",
		"/closed-shop", "/s", "/close"}
)

func (m *missingSite) answer(q question) reply {
	switch {
	case q.path == "/robots.txt":
		return reply{status: http.StatusNotFound}
	case q.path == "/":
		r := framed("Our House", prose("front", 60))
		r.body += crawltest.Anchors(slices.Concat(existingPaths, missingPaths)...)
		if m.name == "the front page itself" {
			r = framed("Our House", prose("front", 60))
			r.body = strings.Replace(r.body, "<header>", "<header>"+strings.ReplaceAll(
				crawltest.Anchors(slices.Concat(existingPaths, missingPaths)...), "<title>Links</title>", ""), 1)
		}
		return r
	case strings.HasPrefix(q.path, "/login"), strings.HasPrefix(q.path, "/search"), strings.HasPrefix(q.path, "/error"):
		return framed("Form", prose("form", 20))
	case slices.Contains(existingPaths, q.path):
		return m.exists(q.path, q.n)
	}
	return m.missing(q.path, q.n)
}

// TestMissingPages finds links to pages that do not exist however a host says so, and no page that exists among them.
func TestMissingPages(t *testing.T) {
	t.Parallel()
	for _, m := range softSites() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = m.answer
				s.crawl(politeConfig(map[string]string{"more": "[checks]\nsoft-404 = \"origins\"\n"}), 0)
				s.completed()
				found, wrong := 0, []string{}
				s.surveyed(func(sv *survey.Survey) error {
					return sv.EachPage(func(p *survey.Page) error {
						if p.Answer != schema.AnswerSoft404 {
							return nil
						}
						if slices.Contains(missingPaths, strings.TrimPrefix(p.URL, "https://a.test")) {
							found++
						} else {
							wrong = append(wrong, p.URL+" "+p.AnswerRule)
						}
						return nil
					})
				})
				if t.Logf("%-38s found %2d of 10, wrong %d", m.name, found, len(wrong)); found != m.finds || len(wrong) > 0 {
					t.Errorf("found %d, want %d; wrong are %s", found, m.finds, wrong)
				}
				h := s.hostRecord("a.test")
				probes := 0
				for _, r := range s.requests("a.test") {
					if strings.Contains(r, missing.Path("a.test")) {
						probes++
					}
				}
				if probes != 1 || h.Missing.Run != 1 {
					t.Errorf("%d requests for a page that does not exist, kept is %+v", probes, h.Missing)
				}
				crawltest.Verify(t, s.path)
			})
		})
	}
}

// TestMissingPageKept keeps what a host answered for a page that does not exist when it says nothing in a later run, and
// does not judge an earlier run by a later answer.
func TestMissingPageKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		m := softSites()[0]
		runs := 0
		s.host["a.test"] = func(q question) reply {
			if q.path != missing.Path("a.test") || runs == 0 {
				return m.answer(q)
			}
			return []reply{{cause: fetch.Timeout}, {status: http.StatusBadGateway}, mitigated(http.StatusForbidden),
				{status: http.StatusNotFound}}[runs-1]
		}
		cfg := politeConfig(map[string]string{"more": "[checks]\nsoft-404 = \"origins\"\n"})
		for run, want := range []missing.Manner{missing.Soft, missing.Soft, missing.Soft, missing.Soft, missing.Honest} {
			s.crawl(cfg, 0)
			s.completed()
			if h := s.hostRecord("a.test"); missing.MannerOf(&h.Missing) != want || h.Missing.Run != schema.RunID(run+1) {
				t.Errorf("run %d: kept is %+v, want %s", run+1, h.Missing, want)
			}
			s.surveyed(func(sv *survey.Survey) error {
				first, err := sv.At(1)
				if err != nil {
					return err
				}
				soft := 0
				err = first.EachPage(func(p *survey.Page) error {
					if p.Answer == schema.AnswerSoft404 {
						soft++
					}
					return nil
				})
				if (soft > 0) != (run == 0) {
					t.Errorf("%d pages of run 1 are judged after run %d", soft, run+1)
				}
				return err
			})
			runs++
			time.Sleep(48 * time.Hour)
		}
	})
}
