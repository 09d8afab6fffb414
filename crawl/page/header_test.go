package page

import (
	"net/http"
	"strings"
	"testing"
)

// TestAnswer combines the header fields of an answer with the elements of its page.
func TestAnswer(t *testing.T) {
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	for _, tt := range []struct {
		name   string
		header http.Header
		body   string
		want   string
	}{
		{"refresh", http.Header{"Refresh": {"0; url=/home"}}, "<title>x</title>", "/home refresh"},
		{"refresh in other spellings", http.Header{"Refresh": {"5;URL='a?b&c'"}}, "", "/dir/a?b&c refresh"},
		{"refresh of the page itself", http.Header{"Refresh": {"5", "5; url=page", "0; url="}}, "x", ""},
		{"refresh to another scheme", http.Header{"Refresh": {"0; url=javascript:x"}}, "x", ""},
		{"refresh beside that of the page", http.Header{"Refresh": {"0; url=/a"}},
			`<meta http-equiv=refresh content="0; url=/b">`, "/a refresh, /b refresh"},
		{"canonical", http.Header{"Link": {`</canon>; rel="canonical"`}}, "x", "/canon canonical"},
		{"canonical without quotes", http.Header{"Link": {`<canon>;rel=Canonical`}}, "x", "/dir/canon canonical"},
		{"one of several relations", http.Header{"Link": {`<c>; title="a, \"b\"; rel=no"; rel="shortlink canonical"`}}, "x",
			"/dir/c canonical"},
		{"one of several links", http.Header{"Link": {`</s.css>; rel=preload; as=style, <c,d>; rel=canonical, </e>; rel=next`}}, "x",
			"/dir/c,d canonical"},
		{"several fields", http.Header{"Link": {`</s.css>; rel=preload`, `<https://o.test/c>; rel=canonical`}}, "x",
			"https://o.test/c canonical"},
		{"the first rel counts", http.Header{"Link": {`<c>; rel=next; rel=canonical`}}, "x", ""},
		{"of another page", http.Header{"Link": {`<c>; rel=canonical; anchor="/other", <d>; rel=canonical; anchor="#part"`}}, "x",
			"/dir/d canonical"},
		{"damaged", http.Header{"Link": {`c; rel=canonical`, `<c; rel=canonical`}}, "x", ""},
		{"not closed", http.Header{"Link": {`<d>; rel="canonical`}}, "x", "/dir/d canonical"},
		{"relative to the page, not to its base", http.Header{"Link": {`<c>; rel=canonical`}, "Refresh": {"0; url=r"}},
			`<base href="/b/"><a href=a>x</a>`, "/dir/r refresh, /dir/c canonical, /b/a anchor"},
		{"the same as the page says", http.Header{"Link": {`</c>; rel=canonical`}}, `<link rel=canonical href=/c>`, "/c canonical"},
		{"a feed", http.Header{"Link": {`</rss>; rel=alternate; type="application/rss+xml"; type=text/html`, `</de>; rel=alternate`}},
			"x", "/rss feed"},
		{"whose it is", http.Header{"Link": {`<https://social.test/@ann>; rel="me", </roll.opml>; rel="author blogroll"`}}, "x",
			"https://social.test/@ann me, /roll.opml blogroll"},
		{"not UTF-8", http.Header{"Refresh": {"0; url=/\xff"}}, "", "/%EF%BF%BD refresh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := NewExtractor(Options{}).Answer(tt.header, "text/html; charset=utf-8", []byte(tt.body), base, self)
			var links []string
			for _, l := range p.Links {
				links = append(links, strings.TrimPrefix(l.URL.Norm, "https://example.com")+" "+l.Kinds.First().String())
			}
			if got := strings.Join(links, ", "); got != tt.want {
				t.Errorf("links %s; want %s", got, tt.want)
			}
		})
	}
	e := NewExtractor(Options{})
	p := e.Answer(http.Header{"Link": {`</c>; rel=canonical`}}, "application/pdf", []byte("<a href=/x>"), base, self)
	if len(p.Links) != 1 || p.Charset != "" {
		t.Errorf("of a document that is not HTML: %+v", p)
	}
	if p = e.Extract([]byte("<a href=/x>"), "text/html", base, self); len(p.Links) != 1 {
		t.Errorf("the next page has %+v", p.Links)
	}
}
