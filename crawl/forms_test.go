package crawl

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestFormsInAnyOrder has forms of a page met before and after it was asked in others: what comes
// of it is the same.
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
