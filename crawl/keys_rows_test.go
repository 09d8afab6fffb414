package crawl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func html(s string) reply { return reply{status: http.StatusOK, body: s} }

// chainWeb links from a.test over b.test and c.test to d.test.
func chainWeb() map[string]reply {
	return map[string]reply{"a.test/": links("https://b.test/"), "b.test/": links("https://c.test/"),
		"c.test/": links("https://d.test/"), "d.test/": html("x")}
}

// wideWeb is a page with links to n others of its host.
func wideWeb(n int) map[string]reply {
	web := map[string]reply{"a.test/": links(paths(n)...)}
	for _, p := range paths(n) {
		web["a.test"+p] = html("x")
	}
	return web
}

// slowly delays every answer.
func slowly(web map[string]reply, wait time.Duration) map[string]reply {
	slow := map[string]reply{}
	for url, r := range web {
		r.wait = wait
		slow[url] = r
	}
	return slow
}

// manyHosts is a page with links to n hosts below a domain.
func manyHosts(n int, below string) map[string]reply {
	var to []string
	web := map[string]reply{}
	for i := range n {
		host := fmt.Sprintf("n%d.%s", i, below)
		to = append(to, "https://"+host+"/")
		web[host+"/"] = html("x")
	}
	web["a.test/"] = links(to...)
	return web
}

func typed(contentType string) reply {
	return reply{status: 200, header: http.Header{"Content-Type": {contentType}}, body: "<title>Typed</title>"}
}

func crawlerKeys() []keyRow {
	page := func(html ...string) map[string]reply {
		web := map[string]reply{"a.test/": {status: 200, body: strings.Join(html, "")}}
		for _, p := range []string{"/x", "/y", "/z"} {
			web["a.test"+p] = reply{status: 200, body: "<title>Page</title>"}
		}
		return web
	}
	return []keyRow{
		{key: "crawler.max-depth", a: "1", b: "2", web: chainWeb(), see: hostsAsked, seenA: "2", seenB: "3"},
		{key: "crawler.max-concurrent-pages-open", a: "2", b: "5", web: slowly(manyHosts(12, "test"), 9*time.Second),
			see: mostOpen, seenA: "2", seenB: "5"},
		{key: "network.max-open", a: "0", b: "12", web: slowly(manyHosts(30, "test"), 9*time.Second),
			with: "crawler.max-concurrent-pages-open = 2", see: mostOpen, seenA: "2", seenB: "12"},
		{key: "crawler.minimum-time-on-page", a: "1000", b: "4000", web: wideWeb(3), see: wholeSeconds, seenA: "4",
			seenB: "16"},
		{key: "crawler.max-domain-requests", a: "3", b: "5", web: wideWeb(20), see: requestsOf("a.test"), seenA: "4",
			seenB: "6"},
		{key: "crawler.max-pages", a: "0", b: "6", web: wideWeb(20), see: requestsOf("a.test"), seenA: "22",
			seenB: "7"},
		{key: "crawler.max-links-per-page", a: "0", b: "4", web: wideWeb(20), see: requestsOf("a.test"), seenA: "22",
			seenB: "6"},
		{key: "crawler.max-subdomains", a: "0", b: "3", web: manyHosts(8, "wild.test"), see: hostsAsked, seenA: "9",
			seenB: "4"},
		{key: "crawler.head-check", a: `"always"`, b: `"never"`, web: wideWeb(3), see: requestsOf("a.test"), seenA: "9",
			seenB: "5"},
		{key: "crawler.head-check", a: `"always"`, b: `"auto"`,
			web: map[string]reply{"a.test/": links("/x.html", "/x.zip"),
				"a.test/x.html": html("x"), "a.test/x.zip": html("x")}, see: requestsOf("a.test"), seenA: "7",
			seenB: "5"},
		{key: "crawler.head-check", a: `"auto"`, b: `"outside"`,
			web: map[string]reply{"a.test/": links("https://b.test/x", "https://b.test/gone"), "b.test/x": html("x")},
			see: requestsOf("b.test"), seenA: "3", seenB: "4"},
		{key: "crawler.respect-nofollow", a: "false", b: "true",
			web: page(`<a href=/x>x</a><a rel="nofollow" href=/y>y</a>`),
			see: askedOf("a.test"), seenA: "/ /x /y", seenB: "/ /x"},
		{key: "crawler.respect-nofollow", a: "false", b: "true",
			web: page(`<meta name="robots" content="nofollow"><a href=/x>x</a>`), see: askedOf("a.test"), seenA: "/ /x",
			seenB: "/"},
		{key: "crawler.respect-nofollow", a: "false", b: "true",
			web: page(`<meta name="t" content="nofollow"><meta name="robots" content="all"><a href=/x>x</a>`),
			see: askedOf("a.test"), seenA: "/ /x", seenB: "/"},
		{key: "crawler.respect-nofollow", a: "false", b: "true",
			web: map[string]reply{"a.test/": {status: 200, header: http.Header{"Content-Type": {"text/html"},
				"X-Robots-Tag": {"other: noindex", "t: nofollow"}}, body: "<a href=/x>x</a>"}, "a.test/x": html("x")},
			see: askedOf("a.test"), seenA: "/ /x", seenB: "/"},
		{key: "crawler.respect-noindex", a: "false", b: "true",
			web: page(`<meta name="robots" content="noindex"><title>Hidden</title><a href=/x>x</a>`),
			see: visitOf("a.test/", stateAndTitle), seenA: "processed Hidden", seenB: "processed"},
		{key: "crawler.respect-noindex", a: "false", b: "true",
			web: map[string]reply{"a.test/": {status: 200, header: http.Header{"Content-Type": {"text/html"},
				"X-Robots-Tag": {"t: none"}}, body: "<title>Hidden</title>"}}, see: visitOf("a.test/", stateAndTitle),
			seenA: "processed Hidden", seenB: "processed"},
		{key: "crawler.follow-canonical", a: "true", b: "false",
			web: page(`<link rel="canonical" href="/x"><a href=/y>y</a>`), see: askedOf("a.test"), seenA: "/ /x /y",
			seenB: "/ /y"},
		{key: "crawler.opml", a: "false", b: "true",
			web: map[string]reply{"a.test/": html(`<link rel="blogroll" href="/list">`), "a.test/x": html("x"),
				"a.test/list": {status: 200, header: http.Header{"Content-Type": {"text/x-opml"}},
					body: `<opml><outline htmlUrl="/x" xmlUrl="/feed"/></opml>`}},
			see: askedOf("a.test"), seenA: "/ /list", seenB: "/ /list /x"},
		{key: "crawler.sitemaps", a: `"off"`, b: `"quality"`,
			web: map[string]reply{"a.test/": html("x"), "a.test/sitemap.xml": html(urlset("https://a.test/o")),
				"a.test/o": html("x")}, see: askedOf("a.test"), seenA: "/",
			seenB: "/ /o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml"},
		{key: "crawler.sitemaps", a: `"only"`, b: `"quality"`, web: map[string]reply{"a.test/": links("/1"),
			"a.test/1": html("x"), "a.test/sitemap.xml": html(urlset("https://a.test/o")), "a.test/o": html("x")},
			see: askedOf("a.test"), seenA: "/ /o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml",
			seenB: "/ /1 /o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml"},
	}
}

// trapKeys are the keys about what is recorded, and what is read from it.
func trapKeys() []keyRow {
	return []keyRow{
		{key: "url.strip-params", a: `["utm_*"]`, b: `["Sid"]`,
			web: map[string]reply{"a.test/": links("/x?utm_a=1&sid=2"),
				"a.test/x?sid=2": html("x"), "a.test/x?utm_a=1": html("x")}, see: askedOf("a.test"),
			seenA: "/ /x?sid=2",
			seenB: "/ /x?utm_a=1"},
		{key: "url.max-length", a: "2048", b: "64",
			web: map[string]reply{"a.test/": links("/x", "/"+strings.Repeat("l", 60))}, see: known, seenA: "3",
			seenB: "2"},
		{key: "traps.max-path-depth", a: "3", b: "0", web: map[string]reply{"a.test/": links("/1/2/3", "/1/2/3/4")},
			see: askedOf("a.test"), seenA: "/ /1/2/3", seenB: "/ /1/2/3 /1/2/3/4"},
		{key: "traps.max-repeated-segments", a: "2", b: "0",
			web: map[string]reply{"a.test/": links("/p/q/p", "/p/q/p/r/p")},
			see: askedOf("a.test"), seenA: "/ /p/q/p", seenB: "/ /p/q/p /p/q/p/r/p"},
		{key: "traps.max-queries-per-path", a: "2", b: "0",
			web: map[string]reply{"a.test/": links("/p?1", "/p?2", "/p?3", "/r?1")}, see: requestsOf("a.test"),
			seenA: "5", seenB: "6"},
		{key: "traps.max-per-prefix", a: "2", b: "0",
			web: map[string]reply{"a.test/": links("https://b.test/p/1", "https://b.test/p/2", "https://b.test/p/3",
				"https://b.test/r/1")}, see: requestsOf("b.test"), seenA: "4", seenB: "5"},
		{key: "traps.max-urls-per-host", a: "5", b: "0", web: wideWeb(20), see: known, seenA: "5", seenB: "21"},
		{key: "traps.max-hosts-per-site", a: "3", b: "0", web: manyHosts(8, "wild.test"), see: knownHosts, seenA: "4",
			seenB: "9"},
		{key: "traps.max-hosts-per-page", a: "2", b: "0", web: manyHosts(5, "test"), see: knownHosts, seenA: "3",
			seenB: "6"},
		{key: "traps.max-sitemap-hosts", a: "1", b: "0",
			web: map[string]reply{"a.test/robots.txt": html("Sitemap: https://m.test/x\nSitemap: https://n.test/x\n"),
				"a.test/": html("x")}, with: "crawler.sitemaps = \"quality\"", see: knownHosts, seenA: "2", seenB: "3"},
		{key: "traps.maze", a: "true", b: "false", web: endless(300), see: requestsOf("a.test"), seenA: "60", seenB: "302"},
		{key: "content.accept-content-types", a: `["text/html"]`, b: `["text/*"]`,
			web: map[string]reply{"a.test/": links("/x"), "a.test/x": typed("text/plain")},
			see: visitOf("a.test/x", stateAndTitle), seenA: "content_mismatch", seenB: "processed"},
		{key: "content.reject-content-types", a: `[]`, b: `["text/html"]`,
			web: map[string]reply{"a.test/": typed("text/html")}, see: visitOf("a.test/", stateAndTitle),
			seenA: "processed Typed", seenB: "content_mismatch"},
		{key: "recrawl.min-age", a: `"24h"`, b: `"1h"`, web: wideWeb(3), see: secondRunAfter(2 * time.Hour), seenA: "0",
			seenB: "4"},
	}
}

func politenessKeys() []keyRow {
	robots := func(text string) map[string]reply {
		web := wideWeb(2)
		web["a.test/robots.txt"] = html(text)
		return web
	}
	throttled := func(n int, after string) map[string]reply {
		web := map[string]reply{"a.test/": links("/1"), "a.test/1": html("x")}
		delete(web, "a.test/1")
		for i := range n {
			r := reply{status: 429}
			if after != "" {
				r.header = http.Header{"Retry-After": {after}}
			}
			web[fmt.Sprintf("a.test/1#%d", i)] = r
		}
		return web
	}
	broken := map[string]reply{"a.test/": {status: 500}}
	mute := map[string]reply{"a.test/": links("/1"), "a.test/1": html("x"), "a.test/robots.txt": {status: 500}}
	return []keyRow{
		{key: "user-agent.crawler-name", a: `"T"`, b: `"Other"`,
			web: robots("User-agent: t\nDisallow: /1\n\nUser-agent: other\nDisallow: /2\n"), see: askedOf("a.test"),
			seenA: "/ /2", seenB: "/ /1"},
		{key: "retry.max-retries", a: "0", b: "2", web: broken, see: requestsOf("a.test"), seenA: "2", seenB: "4"},
		{key: "retry.delay", a: `"5s"`, b: `"50s"`, with: "retry.max-retries = 2", web: broken, see: wholeSeconds,
			seenA: "11", seenB: "101"},
		{key: "retry.backoff", a: `"constant"`, b: `"fibonacci"`, web: broken, with: "retry.delay = \"100s\"",
			see: wholeSeconds, seenA: "301", seenB: "401"},
		{key: "retry.max-delay", a: `"10m"`, b: `"120s"`, web: broken,
			with: "retry.delay = \"100s\"\nretry.backoff = \"fibonacci\"", see: wholeSeconds, seenA: "401",
			seenB: "321"},
		{key: "politeness.max-rate-limits", a: "2", b: "3", web: throttled(9, ""), see: requestsOf("a.test"),
			seenA: "4", seenB: "5"},
		{key: "politeness.max-suspension", a: `"1h"`, b: `"10s"`, web: throttled(1, "60"), see: requestsOf("a.test"),
			seenA: "4", seenB: "3"},
		{key: "politeness.max-crawl-delay", a: `"5m"`, b: `"5s"`, web: robots("User-agent: *\nCrawl-delay: 20\n"),
			see: askedOf("a.test"), seenA: "/ /1 /2", seenB: "/"},
		{key: "politeness.robots-ttl", a: `"24h"`, b: `"10s"`, web: wideWeb(25),
			see: func(s *paperServers) string { return fmt.Sprint(s.asked["a.test/robots.txt"]) }, seenA: "1",
			seenB: "3"},
		{key: "politeness.robots-unreachable", a: `"disallow"`, b: `"allow"`, web: mute, see: askedOf("a.test"),
			seenA: "", seenB: "/ /1"},
		{key: "politeness.adaptive-delay", a: "true", b: "false", web: slowly(wideWeb(2), 10*time.Second),
			see: wholeSeconds, seenA: "51", seenB: "33"},
		{key: "politeness.delay-factor", a: "1.0", b: "3.0", web: slowly(wideWeb(2), 10*time.Second), see: wholeSeconds,
			seenA: "51", seenB: "91"},
		{key: "politeness.max-adaptive-delay", a: `"30s"`, b: `"5s"`, web: slowly(wideWeb(2), 10*time.Second),
			see: wholeSeconds, seenA: "51", seenB: "41"},
		{key: "politeness.max-parallel-per-domain", a: "1", b: "3", web: slowly(wideWeb(12), 9*time.Second),
			see: mostOpen, seenA: "1", seenB: "3"},
	}
}

// secondRunAfter returns the number of pages that a run after that time requests.
func secondRunAfter(d time.Duration) func(*paperServers) string {
	return func(s *paperServers) string {
		s.completed()
		time.Sleep(d)
		s.log = nil
		s.crawl(s.text, 0)
		n := 0
		for _, e := range s.log {
			if e.Path != "/robots.txt" {
				n++
			}
		}
		return fmt.Sprint(n)
	}
}

func listKeys(t testing.TB) []keyRow {
	three := map[string]reply{"a.test/": links("/x", "/y?q=1", "https://b.test/", "https://b.test/x",
		"https://c.b.test/"),
		"a.test/x": html("x"), "a.test/y?q=1": html("x"), "b.test/": html("x"), "b.test/x": html("x"),
		"c.b.test/": html("x")}
	ads := map[string]reply{"a.test/": links("https://doubleclick.net/"), "doubleclick.net/": html("x")}
	facts := func(s *paperServers) string {
		var all []string
		for _, f := range s.visits()["https://a.test/"].Facts {
			all = append(all, f.Name+"="+f.Value)
		}
		return strings.Join(all, " ")
	}
	author := map[string]reply{"a.test/": html(`<meta name="author" content="Ada"><h1>Head</h1><p>Text</p>`)}
	issues := map[string]reply{"a.test/": links("https://b.test/o/r/i/1", "https://b.test/o/r/i/2",
		"https://b.test/o/r/i/3", "https://b.test/o/s/i/1", "https://b.test/o/s/i/2", "https://b.test/z",
		"https://c.test/o/r/i/1", "https://c.test/o/r/i/2")}
	pageType := "page-type.name = \"t\"\npage-type.max-per-group = 1\n"
	rows := []keyRow{
		{key: "quality.max-requests", a: "0", b: "4", web: wideWeb(9), see: requestsOf("a.test"), seenA: "11",
			seenB: "5"},
		{key: "quality.include", a: `[]`, b: `['^/(x|$)']`, web: three, see: askedOf("a.test"), seenA: "/ /x /y?q=1",
			seenB: "/ /x"},
		{key: "quality.exclude", a: `[]`, b: `['q=1']`, web: three, see: askedOf("a.test"), seenA: "/ /x /y?q=1",
			seenB: "/ /x"},
		{key: "page-type.name", a: `"t"`, b: `"u"`,
			with: "page-type.domain = \"b.test\"\npage-type.max-per-group = 1\n",
			web:  issues, see: capNames, seenA: "t", seenB: "u"},
		{key: "page-type.domain", a: `"b.test"`, b: `"c.test"`, with: pageType, web: issues, see: requestsOf("b.test"),
			seenA: "2", seenB: "7"},
		{key: "page-type.path", a: `'^/(?P<group>[^/]+/[^/]+)/i'`, b: `'^/o'`,
			with: pageType + "page-type.domain = \"b.test\"\n", web: issues, see: requestsOf("b.test"), seenA: "4",
			seenB: "3"},
		{key: "page-type.max-per-group", a: "2", b: "0",
			with: "page-type.name = \"t\"\npage-type.domain = \"b.test\"\n",
			web:  issues, see: requestsOf("b.test"), seenA: "3", seenB: "7"},
		{key: "extract.name", a: `"n"`, b: `"m"`, with: "extract.selector = \"h1\"", web: author, see: facts,
			seenA: "n=Head", seenB: "m=Head"},
		{key: "extract.domain", a: `"a.test"`, b: `"b.test"`, with: "extract.name = \"n\"\nextract.selector = \"h1\"",
			web: author, see: facts, seenA: "n=Head", seenB: ""},
		{key: "extract.selector", a: `"h1"`, b: `"p"`, with: "extract.name = \"n\"", web: author, see: facts,
			seenA: "n=Head", seenB: "n=Text"},
		{key: "extract.attr", a: `"content"`, b: `"name"`, with: "extract.name = \"n\"\nextract.selector = \"meta\"",
			web: author, see: facts, seenA: "n=Ada", seenB: "n=author"},
	}
	for _, list := range []string{"blacklist", "stub"} {
		rows = append(rows,
			keyRow{key: list + ".domain", a: `"b.test"`, b: `"*.b.test"`, web: three, see: hostsAsked, seenA: "2",
				seenB: "1"},
			keyRow{key: list + ".file", a: listFile(t, "c.b.test\n"), b: listFile(t, "# all\n*.b.test\n"), web: three,
				see: hostsAsked, seenA: "2", seenB: "1"},
			keyRow{key: list + ".preset", a: `"social"`, b: `"ads"`, web: ads, see: hostsAsked, seenA: "2", seenB: "1"},
			keyRow{key: list + ".url", a: `'/x$'`, b: `'b\.test/$'`, web: three, see: askedOf("b.test"), seenA: "/",
				seenB: "/x"},
		)
	}
	return rows
}

// capNames returns the page types that a crawl has counted.
func capNames(s *paperServers) string {
	var names []string
	for _, name := range []string{"t", "u"} {
		if n := s.cap(fmt.Sprintf("page-type %q: max-per-group", name), "b.test"); n > 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
