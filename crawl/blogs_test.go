package crawl

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// blogPost is a post as its generator writes it: feeds and other accounts in the head, the same again in the footer.
const blogPost = `<!doctype html><html lang=en><head><meta charset=utf-8><title>Frost on the allotment</title>
<link rel=canonical href="https://ann.test/frost">
<link rel=alternate type="application/rss+xml" title="Ann's garden" href="/feed">
<link rel=alternate type="application/rss+xml" title="Comments on this post" href="/frost/feed">
<link rel=alternate type="application/feed+json" href="/feed.json">
<link rel=alternate hreflang=cy href="/cy/rhew"><link rel=me href="https://social.test/@ann">
<link rel=blogroll type="text/xml" href="/blogroll.opml"></head>
<body><article><h1>Frost on the allotment</h1><p>The leeks stood through it. <a href="https://ben.test/cloches">Ben</a>
had glass over his, and <a href="https://cat.test/peas">Cat</a> lost every pea.</p></article>
<footer><a rel="me noopener" href="https://social.test/@ann">Ann elsewhere</a>
<a href="/feed.json">JSON</a> <a rel="nofollow blogroll" href="/reading">What I read</a></footer></body></html>`

// TestBlog crawls a blog: what is only a feed is recorded and not requested, and links that say whose their
// target is lead on.
func TestBlog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = pages(map[string]reply{"/": {status: 200, body: blogPost,
			header: http.Header{"Content-Type": {"text/html"}, "Link": {`</atom>; rel=alternate; type="application/atom+xml"`}}},
			"/feed.json": {status: 200, body: "{}", header: http.Header{"Content-Type": {"application/feed+json"}}}})
		s.host["social.test"] = pages(map[string]reply{"/@ann": {status: 200, body: `<a rel=me href=https://a.test/>Ann</a>`}})
		s.crawl(politeConfig(map[string]string{"crawler": "respect-nofollow = true\n"}), 0)
		var got []string
		crawltest.EachPage(t, s.path, func(p *survey.Page) {
			if path := strings.TrimPrefix(p.URL, "https://"); !p.Visited && p.Class.Visitable() {
				got = append(got, fmt.Sprint(path, " ", p.State, ": ", p.Error))
			}
		})
		slices.Sort(got)
		want := []string{"a.test/atom discovered: a feed, not a page", "a.test/feed discovered: a feed, not a page",
			"a.test/frost/feed discovered: a feed, not a page", "a.test/reading discovered: respect-nofollow = true"}
		if !slices.Equal(got, want) {
			t.Errorf("not visited: %q\nwant %q", got, want)
		}
		if asked := s.requests("social.test"); !slices.Contains(asked, "GET /@ann") {
			t.Errorf("social.test was asked %q", asked)
		}
		crawltest.EachHost(t, s.path, func(h *survey.HostReport) {
			if h.Host.Name == "a.test" && !strings.HasSuffix(h.Coverage, "without 1 page that rules leave out") {
				t.Errorf("coverage: %s", h.Coverage)
			}
		})
	})
}

// A feed on another host is not reached, whether links are refused or not: the depths on file say the same.
func TestFeedElsewhere(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"", "respect-nofollow = true\n"} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = pages(map[string]reply{"/": html(
				`<link rel=alternate type="application/rss+xml" href="https://b.test/feed"><a href="https://b.test/">b</a>`)})
			s.host["b.test"] = pages(map[string]reply{"/": html("x")})
			s.crawl(politeConfig(map[string]string{"crawler": keys}), 0)
			s.verified()
			if state := s.survey()["b.test/feed"].state; state != "discovered" {
				t.Errorf("the feed is %s", state)
			}
		})
	}
}
