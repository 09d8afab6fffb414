package crawl_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const conditionsConfig = `
[crawler]
max-depth = 2
max-concurrent-pages-open = 32
head-check = "auto"
sitemaps = "quality"
[politeness]
max-rate-limits = 3
[retry]
max-retries = 2
delay = "100ms"
timeout = "5m"
connect-timeout = "5m"
[content]
max-response-bytes = "100kB"
[network]
connect-to = { "*.test" = %q, "refused.test:8444" = "127.0.0.1:1" }
[[quality]]
domain = "alpha.test"
seeds = ["https://alpha.test/"]
[[quality]]
domain = "beta.test"
seeds = ["https://beta.test/"]
[[blacklist]]
domain = "*.black.test"
[[stub]]
domain = "stub.test"
`

// chain makes n redirects starting at host/0, the last one to a page.
func chain(s *webtest.Server, host string, n int) string {
	for i := range n {
		s.Host(host).Redirect(fmt.Sprintf("/%d", i), fmt.Sprintf("/%d", i+1), http.StatusFound)
	}
	s.Host(host).Page(fmt.Sprintf("/%d", n), "<title>the end</title>")
	return "https://" + host + "/0"
}

// conditionsLinks links to one of everything.
func conditionsLinks(s *webtest.Server) []string {
	return []string{
		"https://beta.test/", "https://common.test/",
		"https://only.test/page", "http://plain.test/x", "https://slash.test/dir", "https://alias.test/moved",
		chain(s, "nine.test", 9), chain(s, "ten.test", 10), chain(s, "eleven.test", 11), "https://loop.test/a",
		"https://toblack.test/", "https://tostub.test/", "https://across.test/", "https://ads.black.test/pixel",
		"https://stub.test/owner/repo",
		"https://codes.test/404", "https://codes.test/410", "https://codes.test/403", "https://codes.test/500",
		"https://codes.test/204",
		"https://codes.test/304", "https://codes.test/nolocation", "https://codes.test/ftp",
		"https://asked.test/", "https://unasked.test/", "https://busy.test/", "https://tired.test/",
		"https://wrongname.test/",
		"https://refused.test:8444/", "https://10.1.2.3/", "https://types.test/pdf.html", "https://types.test/html.pdf",
		"https://types.test/big",
		"https://types.test/cyrillic", "https://types.test/japanese", "https://types.test/untyped",
		"https://based.test/in/here",
		"https://framed.test/", "https://refresh.test/", "https://follow.test/", "https://denied.test/secret/page",
		"https://noindex.test/",
		"https://headless.test/file.bin", "https://selfish.test/",
	}
}

// conditionsWeb serves one page for every condition that the states distinguish.
func conditionsWeb(s *webtest.Server) {
	s.Host("alpha.test").Page("/", crawltest.Anchors(conditionsLinks(s)...))
	s.Host("beta.test").Page("/", crawltest.Anchors("https://alpha.test/", "https://alpha.test/about",
		"https://common.test/", "https://slash.test/dir/", "https://www.only.test/page"))
	s.Host("alpha.test").Page("/about", "<title>About</title>")
	s.Host("common.test").Page("/", crawltest.Anchors("https://common.test/2"))
	s.Host("common.test").Page("/2", crawltest.Anchors("https://common.test/3"))
	s.Host("common.test").Page("/3", crawltest.Anchors("https://common.test/4"))
	s.Host("only.test").Down(webtest.DownRefused)
	s.Host("www.only.test").Page("/page", "<title>Only www</title>")
	s.Host("plain.test").Page("/x", "<title>Plain</title>")
	s.Host("slash.test").Page("/dir/", "<title>Slash</title>")
	s.Host("slash.test").Status("/dir", http.StatusNotFound)
	s.Host("alias.test").Redirect("/moved", "/moved/", http.StatusMovedPermanently)
	s.Host("alias.test").Page("/moved/", "<title>Moved</title>")
	s.Host("loop.test").Redirect("/a", "/b", http.StatusFound)
	s.Host("loop.test").Redirect("/b", "/a", http.StatusFound)
	s.Host("toblack.test").Redirect("/", "https://x.black.test/y", http.StatusFound)
	s.Host("tostub.test").Redirect("/", "https://stub.test/z", http.StatusFound)
	s.Host("across.test").Redirect("/", "https://landing.test/here", http.StatusTemporaryRedirect)
	s.Host("landing.test").Page("/here", "<title>Landed</title>")
	for _, code := range []int{404, 410, 403, 500} {
		s.Host("codes.test").Status(fmt.Sprintf("/%d", code), code)
	}
	s.Host("codes.test").Page("/204", "").Status(http.StatusNoContent)
	s.Host("codes.test").Page("/304", "").Status(http.StatusNotModified)
	s.Host("codes.test").Page("/nolocation", "").Status(http.StatusFound)
	s.Host("codes.test").Redirect("/ftp", "ftp://codes.test/x", http.StatusFound)
	s.Host("asked.test").Page("/", "<title>Asked</title>").Times(1, 429, http.Header{"Retry-After": {"1"}})
	s.Host("unasked.test").Page("/", "<title>Unasked</title>").Times(1, 429, nil)
	s.Host("busy.test").Page("/", "<title>Busy</title>").Times(1, 503, nil)
	s.Host("tired.test").Page("/", "").Status(429).Header("Retry-After", "1")
	s.Host("wrongname.test").Down(webtest.DownWrongName)
	s.Host("www.wrongname.test").Down(webtest.DownWrongName)
	s.Host("types.test").Page("/pdf.html", "%PDF-1.7").Type("application/pdf")
	s.Host("types.test").Page("/html.pdf", "<title>HTML</title>").Type("text/html")
	s.Host("types.test").Page("/big", strings.Repeat("x", 200_000))
	cyrillic, _ := charmap.Windows1251.NewEncoder().String("<title>Терра</title>")
	s.Host("types.test").Page("/cyrillic", cyrillic).Type("text/html; charset=windows-1251")
	kanji, _ := japanese.ShiftJIS.NewEncoder().String(`<meta charset="shift_jis"><title>地形</title>`)
	s.Host("types.test").Page("/japanese", kanji).Type("text/html")
	s.Host("types.test").Page("/untyped", "<!doctype html><title>Untyped</title>").Type("")
	s.Host("based.test").Page("/in/here", `<base href="/other/"><a href="there">x</a>`)
	s.Host("based.test").Page("/other/there", "<title>Based</title>")
	s.Host("framed.test").Page("/", `<frameset><frame src="/frame"></frameset>`)
	s.Host("framed.test").Page("/frame", "<title>Frame</title>")
	s.Host("refresh.test").Page("/", `<meta http-equiv="refresh" content="0; url=/next">`)
	s.Host("refresh.test").Page("/next", "<title>Next</title>")
	s.Host("follow.test").Page("/",
		`<a rel="nofollow" href="/nofollow">x</a><a download href="/download">y</a><a href="mailto:a@b.test">z</a>`)
	s.Host("follow.test").Page("/nofollow", "<title>Nofollow</title>")
	s.Host("denied.test").Robots("User-agent: *\nDisallow: /secret/\n")
	s.Host("noindex.test").Page("/", `<meta name="robots" content="noindex"><title>Hidden</title><a href="/n">n</a>`)
	s.Host("noindex.test").Page("/n", "<title>N</title>")
	s.Host("headless.test").Page("/file.bin", "x").Type("application/octet-stream")
	s.Host("selfish.test").Page("/", `<a href="/">me</a><a href="#x">me too</a>`)
}

// conditions lists the expected result of each page: state, status, and reason; then its depths
// from alpha and beta, - for none.
func conditions() map[string]string {
	want := map[string]string{
		"alpha.test/": "processed 200 0 1", "alpha.test/about": "processed 200 0 1", "beta.test/": "processed 200 1 0",
		"common.test/": "processed 200 1 1", "common.test/2": "processed 200 2 2",
		"common.test/3":  "depth_exceeded 0 3 3",
		"only.test/page": "processed 200 1 1", "plain.test/x": "processed 200 1 2",
		"slash.test/dir": "processed 200 1 1", "alias.test/moved": "processed 200 1 2",
		"eleven.test/0": "failed 302 more than 10 redirects 1 2", "eleven.test/10": "processed 302 1 2",
		"eleven.test/11": "discovered 0 more than 10 redirects 1 2",
		"loop.test/a":    "failed 302 redirect loop 1 2", "loop.test/b": "failed 302 redirect loop 1 2",
		"toblack.test/": "processed 302 1 2", "x.black.test/y": "blacklisted 0 1 2",
		"tostub.test/": "processed 302 1 2", "stub.test/z": "stubbed 0 1 2",
		"across.test/": "processed 307 1 2", "landing.test/here": "processed 200 1 2",
		"ads.black.test/pixel": "blacklisted 0 1 2", "stub.test/owner/repo": "stubbed 0 1 2",
		"codes.test/404": "dead_link 404 404 Not Found 1 2", "codes.test/410": "dead_link 410 410 Gone 1 2",
		"codes.test/403": "failed 403 403 Forbidden 1 2",
		"codes.test/500": "failed 500 500 Internal Server Error 1 2", "codes.test/204": "processed 204 1 2",
		"codes.test/304":        "failed 304 304 without a conditional request 1 2",
		"codes.test/nolocation": "failed 302 302 Found: redirect without Location 1 2",
		"codes.test/ftp":        "failed 302 302 Found: unusable Location 1 2",
		"asked.test/":           "processed 200 1 2", "unasked.test/": "processed 200 1 2",
		"busy.test/": "processed 200 1 2", "tired.test/": "rate_limited 429 429 Too Many Requests 1 2",
		"wrongname.test/":    "unreachable 0 tls 1 2",
		"refused.test:8444/": "unreachable 0 refused 1 2", "10.1.2.3/": "unreachable 0 address 1 2",
		"types.test/pdf.html": "content_mismatch 200 content type application/pdf 1 2",
		"types.test/html.pdf": "processed 200 1 2",
		"types.test/big":      "failed 200 response too large 1 2", "types.test/cyrillic": "processed 200 1 2",
		"types.test/japanese": "processed 200 1 2",
		"types.test/untyped":  "processed 200 1 2", "based.test/in/here": "processed 200 1 2",
		"based.test/other/there": "processed 200 2 3",
		"framed.test/":           "processed 200 1 2", "framed.test/frame": "processed 200 2 3",
		"refresh.test/":     "processed 200 1 2",
		"refresh.test/next": "processed 200 2 3",
		"follow.test/":      "processed 200 1 2", "follow.test/nofollow": "processed 200 2 3",
		"denied.test/secret/page": "failed 0 denied by robots.txt 1 2",
		"noindex.test/":           "processed 200 1 2", "noindex.test/n": "processed 200 2 3",
		"headless.test/file.bin": "content_mismatch 200 content type application/octet-stream 1 2",
		"selfish.test/":          "processed 200 1 2",
	}
	for n, host := range map[int]string{9: "nine.test", 10: "ten.test"} {
		for i := range n {
			want[fmt.Sprintf("%s/%d", host, i)] = "processed 302 1 2"
		}
		want[fmt.Sprintf("%s/%d", host, n)] = "processed 200 1 2"
	}
	for i := 1; i < 10; i++ {
		want[fmt.Sprintf("eleven.test/%d", i)] = "processed 302 1 2"
	}
	return want
}

func TestEveryCondition(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	conditionsWeb(s)
	sv := crawltest.Survey(t, crawled(t, s, fmt.Sprintf(conditionsConfig, s.Addr())))
	depths, err := sv.OriginDepths()
	if err != nil {
		t.Fatal(err)
	}
	want := conditions()
	titles := map[string]string{}
	err = sv.EachPage(func(p *survey.Page) error {
		name := strings.TrimPrefix(p.URL, "https://")
		expected, ok := want[name]
		delete(want, name)
		if !ok {
			t.Errorf("%s is in the map: %s", name, p.State)
			return nil
		}
		per := []string{"-", "-"}
		for origin, depth := range depths.Of(p.ID) {
			per[origin] = fmt.Sprint(depth)
		}
		status := 0
		if p.Visit != nil {
			status, titles[name] = p.Visit.Status, p.Visit.Title
		}
		fields := strings.Fields(expected)
		reason := strings.Join(fields[2:len(fields)-2], " ")
		if p.State.String() != fields[0] || fmt.Sprint(status) != fields[1] ||
			!slices.Equal(per, fields[len(fields)-2:]) ||
			!strings.Contains(strings.ToLower(p.Error), strings.ToLower(reason)) {
			t.Errorf("%s: %s %d %q %v; want %s", name, p.State, status, p.Error, per, expected)
		}
		if p.State == schema.Processed && p.Error != "" {
			t.Errorf("%s: processed, and an error %q", name, p.Error)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("%s is not in the map", name)
	}
	for name, title := range map[string]string{"types.test/cyrillic": "Терра", "types.test/japanese": "地形",
		"noindex.test/": "", "only.test/page": "Only www"} {
		if titles[name] != title {
			t.Errorf("%s: title %q, want %q", name, titles[name], title)
		}
	}
	rules := []webtest.Rule{webtest.MinGap(100*time.Millisecond, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst(),
		webtest.Disallowed("denied.test", "/secret/"), webtest.HonoursRetryAfter(time.Second, 0)}
	// a 503 without Retry-After is an error, not a request to wait
	log := slices.DeleteFunc(s.Log(), func(e webtest.Entry) bool { return e.Host == "busy.test" })
	for _, bad := range webtest.CheckLog(log, rules...) {
		t.Error(bad)
	}
}
