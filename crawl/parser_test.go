package crawl

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Location with non-ASCII characters leads to the same URL as in a browser, in any encoding.
func TestRedirectBeyondASCII(t *testing.T) {
	rules, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	p := &parser{hash: func(schema.URLKind, string) uint64 { return 0 }}
	for location, want := range map[string]string{
		"/caf\u00e9?q=\u00e9":      "https://a.test/caf%C3%A9?q=%C3%A9", // UTF-8
		"/caf\xe9?q=\xe9":          "https://a.test/caf%E9?q=%E9",       // Latin 1
		"caf\xe9/\x93\xfa?\x96{":   "https://a.test/dir/caf%E9/%93%FA?%96{",
		"https://b\u00fccher.test": "https://xn--bcher-kva.test/",
	} {
		o := ring.Outcome{Step: ring.Step{URL: "https://a.test/dir/page", Settings: &ring.Settings{Rules: rules}}}
		if p.redirect(&o, location); o.Location == nil || o.Location.Norm != want {
			t.Errorf("Location %q: %+v, %s; want %s", location, o.Location, o.BadLocation, want)
		}
	}
}

// The URLs in a sitemap are kept only once.
func TestSitemapKeepsURLsOnce(t *testing.T) {
	rules, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	p := &parser{hash: func(schema.URLKind, string) uint64 { return 0 }}
	o := ring.Outcome{Step: ring.Step{URL: "https://a.test/" + strings.Repeat("x/", 1000) + "map.xml",
		Settings: &ring.Settings{Rules: rules, Config: &config.Config{}}}}
	p.sitemap(&o, []byte("<urlset><url><loc>a</loc></url><sitemap><loc>b</loc></sitemap></urlset>"))
	if len(o.Entries) != 1 || len(o.Files) != 1 || o.Entries[0].Norm == "" || o.Files[0].Norm == "" ||
		o.Sitemap.Entries[0].Loc != "" || o.Sitemap.Children[0].Loc != "" {
		t.Errorf("%+v, %+v, %+v", o.Entries, o.Files, o.Sitemap)
	}
}
