package proof

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

const hostileConfig = `
[crawler]
max-depth = 2
max-concurrent-pages-open = 50
max-domain-requests = 60
max-subdomains = 5
head-check = "auto"
sitemaps = "quality"
[retry]
max-retries = %[1]d
delay = "100ms"
timeout = "%[2]s"
connect-timeout = "%[2]s"
[politeness]
adaptive-delay = false
[content]
max-response-bytes = "10MiB"
[[quality]]
domain = "alpha.test"
seeds = ["https://alpha.test/"]
[[quality]]
domain = "files.test"
seeds = ["https://files.test/"]
`

// A hostilePage is a page with a fault, or a healthy one next to it, and the expected end of its
// visit.
type hostilePage struct {
	url   string
	state schema.State
	why   string // part of the error text
}

// faultEnds returns how the visit of a page with each fault must end.
func faultEnds() map[fault.Fault]hostilePage {
	return map[fault.Fault]hostilePage{
		fault.HeaderDrip:        {state: schema.Failed, why: "timeout"},
		fault.EndlessHeader:     {state: schema.Failed, why: "bad response"},
		fault.ControlLocation:   {state: schema.Failed, why: ""},
		fault.Status99:          {state: schema.Failed, why: "bad response"},
		fault.Status999:         {state: schema.Failed, why: "999"},
		fault.Garbage:           {state: schema.Failed, why: "bad response"},
		fault.CloseAtOnce:       {state: schema.Failed, why: "connection reset"},
		fault.Reset:             {state: schema.Failed, why: "connection reset"},
		fault.ResetMidBody:      {state: schema.Failed, why: "connection reset"},
		fault.Truncated:         {state: schema.Failed, why: "truncated"},
		fault.TruncatedChunks:   {state: schema.Failed, why: "truncated"},
		fault.BadChunk:          {state: schema.Failed, why: "bad response"},
		fault.LengthTooLong:     {state: schema.Failed, why: "slow"},
		fault.LengthTooShort:    {state: schema.Processed},
		fault.Silence:           {state: schema.Failed, why: "timeout"},
		fault.BigHeader:         {state: schema.Failed, why: "bad response"},
		fault.EndlessEarlyHints: {state: schema.Failed, why: "bad response"},
		fault.ManyCookies:       {state: schema.Failed, why: "bad response"},
		fault.BodyDrip:          {state: schema.Failed, why: "slow"},
		fault.EndlessBody:       {state: schema.Failed, why: "too large"},
		fault.GzipBomb:          {state: schema.Failed, why: "too large"},
		fault.BrotliBomb:        {state: schema.Failed, why: "too large"},
		fault.ZstdBomb:          {state: schema.Failed, why: "too large"},
		fault.NestedGzipBomb:    {state: schema.Failed, why: "too large"},
		fault.GzipFileBomb:      {state: schema.Processed},
	}
}

// downEnds returns how the visit of a page must end whose host is down, in each way.
func downEnds() map[webtest.Down]hostilePage {
	return map[webtest.Down]hostilePage{
		webtest.DownSilent: {state: schema.Unreachable, why: "tls timeout"},
		webtest.DownHanging: {state: schema.Unreachable,
			why: "tls timeout"},
		webtest.DownClosed:  {state: schema.Failed, why: "connection reset"},
		webtest.DownReset:   {state: schema.Failed, why: "connection reset"},
		webtest.DownRefused: {state: schema.Unreachable, why: "tls"}, webtest.DownGarbled: {state: schema.Unreachable,
			why: "tls"},
		webtest.DownExpired: {state: schema.Unreachable, why: "tls"}, webtest.DownWrongName: {state: schema.Unreachable,
			why: "tls"},
		webtest.DownUnknownCA: {state: schema.Unreachable, why: "tls"},
	}
}

// hostileHTML returns pages that are hard to parse. Each must be processed, and its link to /found
// must be met.
func hostileHTML() map[string]string {
	link := `<a href="/found">x</a>`
	return map[string]string{
		"nested":    strings.Repeat("<div>", 1_000_000) + link,
		"attribute": `<p title="` + strings.Repeat("a", 5_000_000) + `">` + link,
		"tables":    strings.Repeat("<table><tr><td>", 100_000) + link,
		"entities":  strings.Repeat("&amp;&lt;&#x41;", 300_000) + link,
		"comments":  strings.Repeat("<!--", 500_000) + "-->" + link,
		"controls": "<title>\x1b]0;owned\x07\u202e</title>" + link + `<a href="` + strings.Repeat("/x", 500_000) +
			`">long</a><a href="/a` + "\x00" + `b">nul</a><a href="https://xn--a.test/">bad</a>`,
		"charset": `<meta charset="utf-7"><title>` + strings.Repeat("\xff\xfe", 1000) + `</title>` + link,
		"many":    link + manyLinks(200_000),
	}
}

func manyLinks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<a href="https://many.test/m/%d">.</a>`, i)
	}
	return b.String()
}

// hostileWeb serves everything at once, linked from one front page, together with healthy hosts.
func hostileWeb(s *webtest.Server) (want []hostilePage) {
	expect := func(p hostilePage, url string) {
		p.url = url
		want = append(want, p)
	}
	for f, end := range faultEnds() {
		host := "fault-" + strings.ToLower(f.String()) + ".test"
		s.Host(host).Page("/", strings.Repeat("<p>text</p>", 500)+
			`<a href="/half">in the second half</a>`).Fault(f).Every(20 * time.Millisecond)
		expect(end, "https://"+host+"/")
	}
	for mode, end := range downEnds() {
		host := "down-" + strings.ToLower(mode.String()) + ".test"
		s.Host(host).Down(mode)
		expect(end, "https://"+host+"/")
	}
	for name, html := range hostileHTML() {
		host := "html-" + name + ".test"
		s.Host(host).Page("/", html)
		s.Host(host).Page("/found", "<title>found</title>")
		expect(hostilePage{state: schema.Processed}, "https://"+host+"/")
		expect(hostilePage{state: schema.Processed}, "https://"+host+"/found")
	}
	for i, to := range []string{"file:///etc/passwd", "data:text/html,x", "gopher://a.test/", "javascript:alert(1)",
		"https://%zz/", ""} {
		host := fmt.Sprintf("redirect-%d.test", i)
		s.Host(host).Page("/", "").Status(http.StatusFound).Header("Location", to)
		expect(hostilePage{state: schema.Failed, why: "302"}, "https://"+host+"/")
	}
	s.Host("endless.test").Handle("/*", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/go-"))
		http.Redirect(w, r, fmt.Sprintf("/go-%d", n+1), http.StatusFound)
	})
	expect(hostilePage{state: schema.Failed, why: "redirects"}, "https://endless.test/go-0")
	s.Host("loop.test").Redirect("/", "https://loop2.test/", http.StatusFound)
	s.Host("loop2.test").Redirect("/", "https://loop.test/", http.StatusFound)
	expect(hostilePage{state: schema.Failed, why: "redirect loop"}, "https://loop.test/")
	hostileRobots(s, expect)
	hostileSitemaps(s)
	hostileTraps(s, expect)
	for i := range 20 {
		host := fmt.Sprintf("healthy-%d.test", i)
		s.Host(host).Page("/", crawltest.Anchors("/1", "/2", "/3"))
		for p := 1; p <= 3; p++ {
			s.Host(host).Page(fmt.Sprintf("/%d", p), "<title>healthy</title>")
			expect(hostilePage{state: schema.Processed}, fmt.Sprintf("https://%s/%d", host, p))
		}
		expect(hostilePage{state: schema.Processed}, "https://"+host+"/")
	}
	var links []string
	for _, p := range want {
		links = append(links, p.url)
	}
	rand.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	s.Host("alpha.test").Page("/", crawltest.Anchors(links...))
	s.Host("files.test").Page("/", "<title>files</title>")
	return want
}

func hostileRobots(s *webtest.Server, expect func(hostilePage, string)) {
	forbid := "User-agent: *\nDisallow: /secret\n"
	for name, text := range map[string]string{
		"huge":  forbid + strings.Repeat("# comment\nDisallow: /x\n", 2_000_000),
		"line":  forbid + "Disallow: /" + strings.Repeat("a", 1<<20),
		"bom":   "\ufeff" + forbid,
		"crlf":  strings.ReplaceAll(forbid, "\n", "\r\n"),
		"binay": forbid + strings.Repeat("\x00\xff", 10_000),
	} {
		host := "robots-" + name + ".test"
		s.Host(host).Robots(text)
		s.Host(host).Page("/secret", "<title>secret</title>")
		s.Host(host).Page("/open", "<title>open</title>")
		expect(hostilePage{state: schema.Failed, why: "denied by robots.txt"}, "https://"+host+"/secret")
		expect(hostilePage{state: schema.Processed}, "https://"+host+"/open")
	}
	s.Host("robots-html.test").Page("/robots.txt", "<html><body>Not found")
	s.Host("robots-html.test").Page("/open", "<title>open</title>")
	expect(hostilePage{state: schema.Processed}, "https://robots-html.test/open")
	s.Host("robots-slow.test").Page("/robots.txt", "").Fault(fault.Silence)
	s.Host("robots-slow.test").Page("/open", "<title>open</title>")
	expect(hostilePage{state: schema.Failed, why: "robots.txt unavailable"}, "https://robots-slow.test/open")
	s.Host("robots-503.test").Status("/robots.txt", http.StatusServiceUnavailable)
	expect(hostilePage{state: schema.Failed, why: "robots.txt unavailable"}, "https://robots-503.test/open")
	s.Host("robots-loop.test").Redirect("/robots.txt", "/robots.txt", http.StatusFound)
	s.Host("robots-loop.test").Page("/open", "<title>open</title>")
	expect(hostilePage{state: schema.Failed, why: "robots.txt unavailable: redirect loop"},
		"https://robots-loop.test/open")
}

// hostileSitemaps gives a quality host endless and nonsensical sitemaps.
func hostileSitemaps(s *webtest.Server) {
	h := s.Host("files.test")
	var maps []string
	serve := func(name, text string) {
		h.Page("/"+name, text).Type("application/xml")
		maps = append(maps, "Sitemap: https://files.test/"+name)
	}
	var laughs strings.Builder
	laughs.WriteString(`<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">`)
	for i := range 10 {
		fmt.Fprintf(&laughs, `<!ENTITY lol%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&lol%d;", i), 10))
	}
	serve("laughs.xml", laughs.String()+`]><urlset><url><loc>https://files.test/&lol10;</loc></url></urlset>`)
	serve("nested.xml", strings.Repeat("<a>", 1_000_000))
	serve("self.xml", `<sitemapindex><sitemap><loc>https://files.test/self.xml</loc></sitemap></sitemapindex>`)
	serve("a.xml", `<sitemapindex><sitemap><loc>https://files.test/b.xml</loc></sitemap></sitemapindex>`)
	serve("b.xml", `<sitemapindex><sitemap><loc>https://files.test/a.xml</loc></sitemap></sitemapindex>`)
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, "<sitemap><loc>https://files.test/child-%d.xml</loc></sitemap>", i)
	}
	serve("many.xml", "<sitemapindex>"+many.String()+"</sitemapindex>")
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	block := make([]byte, 1<<20)
	for range 200 {
		_, _ = z.Write(block)
	}
	_ = z.Close()
	h.Page("/bomb.xml.gz", "").Bytes(bomb.Bytes()).Type("application/gzip")
	maps = append(maps, "Sitemap: https://files.test/bomb.xml.gz")
	h.Robots(strings.Join(maps, "\n"))
}

// hostileTraps are endless sites, each with honest pages.
func hostileTraps(s *webtest.Server, expect func(hostilePage, string)) {
	wild := s.Host("trap.test")
	wild.Handle("/*", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		n := rand.Uint64()
		fmt.Fprintf(w, `<title>trap</title><a href="%s/a/b">deeper</a><a href="/?sid=%d">again</a>`+
			`<a href="/cal/%d/%d">next</a>`, r.URL.Path, n, n%3000, n%12)
		for i := range 50 {
			fmt.Fprintf(w, `<a href="https://s%d.trap.test/">wild</a>`, n%1_000_000+uint64(i))
		}
	})
	wild.Page("/honest", "<title>honest</title>")
	expect(hostilePage{state: schema.Processed}, "https://trap.test/")
	expect(hostilePage{state: schema.Processed}, "https://trap.test/honest")
}

// TestHostileWeb crawls all faults at once, together with healthy hosts. Each fault ends in its
// class, the healthy pages are all processed, and memory is limited, as is the time spent on
// endless sites.
func TestHostileWeb(t *testing.T) {
	retries := 0
	if crawltest.Full() {
		retries = 2
	}
	s, beats := crawltest.Serve(t), newPulse(t)
	want := hostileWeb(s)
	const timeout = 10 * time.Second
	cfg, path := crawltest.Files(t, s, fmt.Sprintf(hostileConfig, retries, timeout))
	took, memory := crawlMeasured(t, cfg)
	judgeHostile(t, path, want)
	for _, bad := range webtest.CheckLog(beats.heard(s.Log(), timeout),
		webtest.MinGap(100*time.Millisecond, 5*time.Millisecond), webtest.MaxOpen(1, time.Second)) {
		t.Error(bad)
	}
	t.Logf("%d pages with faults and without, %v, at most %d MB resident", len(want), took.Round(time.Second/10),
		memory>>20)
	if took > 4*time.Minute || memory > hostileMemory {
		t.Error("that is too much")
	}
}

// hostileMemory is the memory limit of a crawl of all faults at once, 50 at a time.
const hostileMemory = 400 << 20

// crawlMeasured crawls in a process of its own, and returns the time and the peak of resident
// memory.
func crawlMeasured(t *testing.T, cfg string) (took time.Duration, memory int64) {
	t.Helper()
	cmd := child(cfg)
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began), process.MaxResident(cmd.ProcessState)
}

func judgeHostile(t *testing.T, path string, want []hostilePage) {
	t.Helper()
	crawltest.Verify(t, path)
	ends := map[string]hostilePage{}
	crawltest.EachPage(t, path, func(p *survey.Page) {
		ends[p.URL] = hostilePage{url: p.URL, state: p.State, why: p.Error}
		if strings.Contains(p.URL, "smuggled.test") || strings.Contains(p.URL, "/half") {
			t.Errorf("%s was recorded", p.URL)
		}
		if p.Visit != nil && strings.ContainsAny(p.Visit.Title+p.Error, "\x1b\x07\u202e") {
			t.Errorf("%s: %q, %q", p.URL, p.Visit.Title, p.Error)
		}
	})
	slices.SortFunc(want, func(a, b hostilePage) int { return strings.Compare(a.url, b.url) })
	for _, w := range want {
		if got := ends[w.url]; got.state != w.state || !strings.Contains(strings.ToLower(got.why), w.why) {
			t.Errorf("%s is %s %q, want %s %q", w.url, got.state, got.why, w.state, w.why)
		}
	}
}
