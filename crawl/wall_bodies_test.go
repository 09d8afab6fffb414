package crawl_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// The bodies of errors are read to recognise walls, and whatever is wrong with them, the status counts.
func TestWalledBodies(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	const wall = `<html><script>window._cf_chl_opt={}</script></html>`
	tests := []struct {
		path   string
		page   *webtest.Page
		answer string
		reason string
	}{
		{"/wall", c.Host("a.test").Page("/wall", wall).Status(403), "challenge", "walled: Cloudflare"},
		{"/coded", c.Host("a.test").Page("/coded", wall).Status(503).Gzip(), "challenge", "walled: Cloudflare"},
		{"/plain", c.Host("a.test").Page("/plain", "<p>no</p>").Status(403), "", "403 Forbidden"},
		{"/large", c.Host("a.test").Page("/large", wall+strings.Repeat("x", 1<<20)).Status(403), "challenge", "walled: Cloudflare"},
		{"/cut", nil, "", "403 Forbidden"},
		{"/undecodable", c.Host("a.test").Page("/undecodable", "<p>no</p>").Status(403).Header("Content-Encoding", "gzip"), "",
			"403 Forbidden"},
		{"/unknown", c.Host("a.test").Page("/unknown", "<p>no</p>").Status(401).Header("Content-Encoding", "x"), "",
			"401 Unauthorized"},
		{"/missing", c.Host("a.test").Page("/missing", wall).Status(404), "challenge", "walled: Cloudflare"},
		{"/broken", c.Host("a.test").Page("/broken", wall).Status(500), "challenge", "walled: Cloudflare"},
		{"/untyped", c.Host("a.test").Page("/untyped", wall).Status(403).Type(""), "challenge", "walled: Cloudflare"},
		{"/found", c.Host("a.test").Page("/found", wall).Type(""), "challenge", "walled: Cloudflare"},
		{"/quote", c.Host("a.test").Page("/quote", "<pre>&lt;script>_cf_chl_opt").Status(404).Type(""), "", "404 Not Found"},
		{"/text", c.Host("a.test").Page("/text", wall).Status(403).Type("text/plain"), "", "403 Forbidden"},
	}
	c.Host("a.test").Handle("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<p>no</p>")
	})
	var paths []string
	for _, tt := range tests {
		paths = append(paths, tt.path)
	}
	c.page("a.test", "/", crawltest.Anchors(paths...))
	c.run()
	for _, tt := range tests {
		err := c.survey().EachPage(func(p *survey.Page) error {
			if p.URL == "https://a.test"+tt.path && (p.Visit.Answer.String() != tt.answer || p.Visit.Reason.String() != tt.reason) {
				t.Errorf("%s: answer %q, %s", tt.path, p.Visit.Answer, p.Visit.Reason.String())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
