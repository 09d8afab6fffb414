package sitemap_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/sitemap"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(urlset("<url><loc>/a?b&amp;c</loc><lastmod>2024-05-17</lastmod><changefreq>daily</changefreq></url>")),
		"text/xml")
	f.Add([]byte("<sitemapindex><sitemap><loc>a.xml</loc><loc>b.xml"), "text/xml; charset=windows-1251")
	f.Add([]byte("<rss><item><guid>https://a.org</guid><pubDate>17 May 24 10:20 +0000"), "")
	f.Add([]byte("<feed><entry><link href='/a'/><updated>2024-05"), "")
	f.Add([]byte("https://example.com/a\r\nhttp://b\n"), "text/plain")
	f.Add([]byte(gzipped(2, urlset(loc("/a")))), "")
	f.Add([]byte(utf16le(urlset(loc("/a")))), "")
	f.Add([]byte("<urlset><url><loc><url><![CDATA[/a]]></url></loc><<3<!-- -- -->"), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		limits := sitemap.Limits{Bytes: 1 << 16, Entries: 20}
		got, err := sitemap.Parse(body, base, contentType, limits)
		again, err2 := sitemap.Parse(body, base, contentType, limits)
		if diff := cmp.Diff(got, again); diff != "" || !errors.Is(err2, err) {
			t.Fatal("two readings differ", err, err2, diff)
		}
		if err != nil && (!errors.Is(err, sitemap.ErrNotSitemap) || got.Kind != 0 || got.Entries != nil) {
			t.Errorf("%v with %+v", err, got)
		}
		if len(got.Entries)+len(got.Children) > limits.Entries {
			t.Error("more entries than allowed")
		}
		for _, e := range append(got.Entries, got.Children...) {
			checkEntry(t, e)
		}
		more, err := sitemap.Parse(body, base, contentType, sitemap.Limits{Bytes: 1 << 16, Entries: 40})
		if n := len(got.Entries); err == nil && len(got.Children)+len(more.Children) == 0 &&
			(len(more.Entries) < n || cmp.Diff(more.Entries[:n], got.Entries) != "" && n > 0) {
			t.Errorf("a higher limit gives other entries: %v, %v", got.Entries, more.Entries)
		}
	})
}

func checkEntry(t *testing.T, e sitemap.Entry) {
	lower := strings.ToLower(e.Loc)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") ||
		strings.TrimSpace(e.Loc) != e.Loc || !utf8.ValidString(e.Loc) {
		t.Errorf("loc %q", e.Loc)
	}
	if e.ChangeFreq != "" && strings.IndexFunc(e.ChangeFreq, func(c rune) bool { return !unicode.IsLower(c) }) >= 0 {
		t.Errorf("changefreq %q", e.ChangeFreq)
	}
	if _, err := e.LastMod.MarshalText(); err != nil {
		t.Errorf("lastmod %v: %v", e.LastMod, err)
	}
}
