package crawl

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
)

// TestFormsInAnyOrder meets forms of a page before and after it was requested in others: the result
// is the same.
func TestFormsInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, robots string
		first        []string // forms that the front page names
		last         string   // that b.test names
		answers      func(question) bool
		page, want   string
	}{
		{"robots.txt forbids one", "User-agent: *\nDisallow: /p/\n", []string{"/p/"}, "https://a.test/p",
			func(q question) bool { return q.path == "/p" || q.path == "/p/" }, "a.test/p", "processed"},
		{"robots.txt forbids the first of two", "User-agent: *\nDisallow: /p$\n", []string{"/p", "/p/"}, "https://a.test/p",
			func(q question) bool { return q.path == "/p/" }, "a.test/p", "processed"},
		{"robots.txt forbids both", "User-agent: *\nDisallow: /p\n", []string{"/p/"}, "https://a.test/p",
			func(q question) bool { return true }, "a.test/p", "failed"},
		{"more than are kept, on one page", "",
			[]string{"/p/", "/p//", "https://www.a.test/p", "https://www.a.test/p/", "/p"}, "https://a.test/1",
			func(q question) bool { return q.path == "/p" && q.host == "a.test" }, "a.test/p", "processed"},
		{"one more than are kept", "", []string{"/p/", "/p//", "https://www.a.test/p", "https://www.a.test/p/"},
			"https://a.test/p", func(q question) bool { return q.path == "/p" && q.host == "a.test" }, "a.test/p", "processed"},
	} {
		for _, late := range []time.Duration{0, time.Minute} {
			t.Run(tt.name+" "+late.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newPaperServers(t)
					s.host["a.test"] = func(q question) reply {
						switch {
						case q.path == "/robots.txt":
							return reply{status: 200, body: tt.robots}
						case q.path == "/":
							return links(append([]string{"/1"}, tt.first...)...)
						case q.path == "/1":
							return reply{status: 200, wait: 5 * time.Second}
						case tt.answers(q):
							return reply{status: 200, body: "<title>x</title>"}
						}
						return reply{status: 404}
					}
					s.host["www.a.test"] = s.host["a.test"]
					s.host["b.test"] = func(q question) reply {
						if q.path != "/" {
							return reply{status: 404}
						}
						r := links(tt.last)
						r.wait = late
						return r
					}
					s.crawl(politeConfig(map[string]string{"more": "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"}), 0)
					if got := s.survey()[tt.page]; got.state != tt.want {
						t.Errorf("%s is %s, want %s; asked %v", tt.page, got.state, tt.want, s.requests("a.test"))
					}
				})
			})
		}
	}
}

// TestFormThatLeadsBeyondRobots meets a page in a form that redirects to one which robots.txt
// forbids, and then, or before, in another one.
func TestFormThatLeadsBeyondRobots(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = func(q question) reply {
				switch {
				case q.path == "/":
					return links("https://www.a.test/p")
				case q.host == "www.a.test":
					return redirect("/p/")
				}
				return site("User-agent: *\nDisallow: /p/\n", 0)(q)
			}
			s.host["b.test"] = func(q question) reply {
				r := pages(map[string]reply{"/": links("https://a.test/p")})(q)
				r.wait = late
				return r
			}
			s.crawl(politeConfig(map[string]string{
				"more": "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n",
			}), 0)
			if got := s.survey()["a.test/p"]; got.state != "processed" {
				t.Errorf("after %s it is %s; asked %v", late, got.state, s.requests("a.test"))
			}
			crawltest.Verify(t, s.path)
		})
	}
}

// TestFormWaitsOverAChange changes the configuration while a page waits for a request in another
// form. The page is requested, though the links that are followed again first lead to it over a
// path that is too long.
func TestFormWaitsOverAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = pages(map[string]reply{
			"/": links("/1", "https://x.test/q"), "/1": links("/2"), "/2": links("/3", "https://x.test/p"),
			"/3": links("/4"), "/4": links("https://x.test/p/"),
		})
		s.host["x.test"] = func(q question) reply {
			switch {
			case q.path == "/q":
				return links("/p")
			case q.path == "/p/":
				return links()
			case q.path == "/p" && q.n > 0:
				return reply{status: 404, wait: 3 * time.Second}
			}
			return reply{status: 404}
		}
		keys := map[string]string{"crawler": "max-depth = 1"}
		s.crawl(politeConfig(keys), 6*time.Second)
		keys["crawler"] += "\nmax-domain-requests = 400"
		s.crawl(politeConfig(keys), 0)
		if v := s.visits()["https://x.test/p"]; v.State != schema.Processed {
			t.Errorf("%v after %q", v.State, s.requests("x.test"))
		}
	})
}

// TestFormTakesNoPlace requests a page again in a form that is met late: it takes no second place
// in its group.
func TestFormTakesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			switch q.path {
			case "/":
				return links("/g/1/", "/late")
			case "/late":
				r := links("/g/1", "/g/2", "/g/3")
				r.wait = 10 * time.Second
				return r
			case "/g/1", "/g/2":
				return reply{status: 200, body: "<title>x</title>"}
			}
			return reply{status: 404}
		}
		s.crawl(politeConfig(map[string]string{
			"more": "[[page-type]]\nname = \"g\"\npath = '^/g/'\nmax-per-group = 2\n"}), 0)
		got := s.survey()
		for page, want := range map[string]string{"a.test/g/1": "processed", "a.test/g/2": "processed", "a.test/g/3": "discovered"} {
			if got[page].state != want {
				t.Errorf("%s is %s, want %s; asked %v", page, got[page].state, want, s.requests("a.test"))
			}
		}
	})
}

// TestFormAfterSilence meets a page late in another form than the one that gave no answer, or an
// answer that leads nowhere.
func TestFormAfterSilence(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]reply{
		"time-out": {cause: fetch.Timeout}, "reset": {cause: fetch.Reset}, "no HTTP": {cause: fetch.BadResponse},
		"redirect without a location": {status: 302},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					switch q.path {
					case "/":
						return links("/p/")
					case "/p/":
						return first
					case "/p":
						return reply{status: 200, body: "<title>x</title>"}
					}
					return reply{status: 404}
				}
				s.host["b.test"] = func(q question) reply {
					if q.path != "/" {
						return reply{status: 404}
					}
					r := links("https://a.test/p")
					r.wait = time.Hour
					return r
				}
				s.crawl(politeConfig(map[string]string{"more": "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"}), 0)
				if got := s.survey()["a.test/p"]; got.state != "processed" {
					t.Errorf("it is %s; asked %v", got.state, s.requests("a.test"))
				}
			})
		})
	}
}
