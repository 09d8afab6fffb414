package crawl

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
)

// A refusedRow is a web of two hosts, one of which a list refuses later.
type refusedRow struct {
	name  string
	paths map[string]reply // of a.test
	x     func(question) reply
	kill  time.Duration // 0: the run is completed
	later time.Duration // until it is resumed
}

func refusedRows() []refusedRow {
	slow := func(status int) reply { return reply{status: status, wait: 3 * time.Second} }
	return []refusedRow{
		{
			"a page that waits for another try", map[string]reply{"/": links("https://x.a.test/p")},
			pages(map[string]reply{"/p": {status: http.StatusInternalServerError}}), 6 * time.Second, 25 * time.Hour,
		},
		{
			"a page of which another form was met", map[string]reply{
				"/": links("https://x.a.test/p", "/1"), "/1": links("/2"), "/2": links("/3"),
				"/3": links("https://x.a.test/p/"),
			},
			func(q question) reply {
				if q.n > 0 {
					return slow(http.StatusNotFound)
				}
				return reply{status: http.StatusNotFound}
			}, 7 * time.Second, time.Minute,
		},
		{
			"a sitemap that an index names", map[string]reply{
				"/robots.txt": {status: http.StatusOK, body: "Sitemap: /i.xml\n"}, "/": links(),
				"/i.xml": {status: http.StatusOK, body: index("https://x.a.test/s.xml")},
			},
			func(question) reply { return slow(http.StatusNotFound) }, 2500 * time.Millisecond, time.Minute,
		},
		{
			"a sitemap that was read", map[string]reply{
				"/robots.txt": {status: http.StatusOK, body: "Sitemap: /i.xml\n"}, "/": links("/1"), "/1": links("/2"),
				"/i.xml": {status: http.StatusOK, body: index("https://x.a.test/s.xml")},
			},
			pages(map[string]reply{"/s.xml": {status: http.StatusOK, body: urlset("https://a.test/listed")}}),
			3500 * time.Millisecond, time.Minute,
		},
		{
			"a sitemap of an index that has not changed", map[string]reply{
				"/robots.txt": {status: http.StatusOK, body: "Sitemap: /i.xml\n"}, "/": links(),
				"/i.xml": {status: http.StatusOK, header: http.Header{"Etag": {`"1"`}, "Content-Type": {"text/xml"}},
					body: index("https://x.a.test/s.xml")},
			},
			pages(map[string]reply{"/s.xml": {status: http.StatusOK, body: urlset("https://a.test/listed")}}),
			0, 25 * time.Hour,
		},
	}
}

// TestRefusedLater kills a crawl, or begins a later run, and resumes it under a list that refuses a
// host of which something waits: the host gets no further request, not even for its robots.txt.
func TestRefusedLater(t *testing.T) {
	t.Parallel()
	for _, tt := range refusedRows() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"], s.host["x.a.test"] = func(q question) reply {
					if q.step.ETag != "" {
						return reply{status: http.StatusNotModified}
					}
					return pages(tt.paths)(q)
				}, tt.x
				keys := map[string]string{"crawler": "sitemaps = \"quality\""}
				s.crawl(politeConfig(keys), tt.kill)
				if tt.kill == 0 {
					s.completed()
				}
				before := len(s.requests("x.a.test"))
				time.Sleep(tt.later)
				keys["more"] = "[[blacklist]]\ndomain = \"x.a.test\"\n"
				s.crawl(politeConfig(keys), 0)
				after := s.requests("x.a.test")
				if before == 0 {
					t.Error("it was never asked, so this test shows nothing")
				}
				if more := after[before:]; len(more) > 0 {
					t.Errorf("asked for %s", strings.Join(more, ", "))
				}
				s.surveyed(func(sv *survey.Survey) error {
					return survey.Check(sv, func(problem string) { t.Error(problem) })
				})
			})
		})
	}
}
