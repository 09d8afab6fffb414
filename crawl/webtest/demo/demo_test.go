package demo

import (
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/PuerkitoBio/goquery"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A visitor walks the demonstration like a crawler without rules.
type visitor struct {
	depth  map[string]int // by page that answered 200, from the seeds
	titles map[string]string
	status map[int]int
	dead   map[string]bool // hosts that did not answer
}

func walkDemo(t *testing.T, s *webtest.Server, seeds []string) *visitor {
	t.Helper()
	v := &visitor{map[string]int{}, map[string]string{}, map[int]int{}, map[string]bool{}}
	c := newClient(t, s)
	seen := map[string]bool{}
	level := seeds
	for depth := 0; len(level) > 0; depth++ {
		var next []string
		for len(level) > 0 {
			at := level[0]
			level = level[1:]
			if seen[at] || unwanted(at) {
				continue
			}
			seen[at] = true
			resp, err := c.Get(at)
			if err != nil {
				v.dead[hostOf(at)] = true
				continue
			}
			resp.Body.Close()
			v.status[resp.StatusCode]++
			if resp.StatusCode == 429 || resp.StatusCode == 503 {
				resp, err = c.Get(at)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
			}
			if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 {
				u, err := resp.Request.URL.Parse(to)
				if err != nil {
					t.Fatal(err)
				}
				level = append(level, u.String())
			}
			if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				continue
			}
			body := get(t, c, at)
			v.depth[at] = depth
			_, title, _ := strings.Cut(body, "<title>")
			title, _, _ = strings.Cut(title, "</title>")
			v.titles[at] = title
			for _, link := range hrefs(t, at, body) {
				if strings.HasPrefix(link, "https://") {
					next = append(next, link)
				}
			}
		}
		level = next
	}
	return v
}

func unwanted(at string) bool {
	host := hostOf(at)
	return host == "codeshelf.test" || strings.HasSuffix(host, "pixelcount.test")
}

func hostOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// The demonstration matches its documentation.
func TestDemo(t *testing.T) {
	s := crawltest.Serve(t)
	seeds := Serve(s)
	v := walkDemo(t, s, seeds)
	pages, titles := map[string]int{}, map[string]string{}
	nearest := map[string]int{}
	for at, depth := range v.depth {
		host := strings.TrimPrefix(hostOf(at), "www.")
		if n, ok := nearest[host]; !ok || depth < n {
			nearest[host] = depth
		}
		pages[host]++
		page, _, _ := strings.Cut(at, "?")
		page = host + strings.TrimPrefix(page, "https://"+hostOf(at))
		if first, ok := titles[host+v.titles[at]]; ok && first != page {
			t.Errorf("%s and %s are both titled %q", first, page, v.titles[at])
		}
		titles[host+v.titles[at]] = page
		if v.titles[at] == "" {
			t.Errorf("%s has no title", at)
		}
	}
	if len(v.depth) < 280 || len(v.depth) > 330 || len(pages) != 13 {
		t.Errorf("%d pages on %d hosts: %v", len(v.depth), len(pages), pages)
	}
	for host, n := range pages {
		if n > 60 {
			t.Errorf("%s has %d pages", host, n)
		}
	}
	for host, want := range map[string]int{
		"alderford.test": 0, "hedgerow-journal.test": 0, "saltmarsh-radio.test": 0, "archive.alderford.test": 1,
		"millers-bakery.test": 1, "lantern-choir.test": 1, "kestrel-notes.test": 1, "tidewater-maps.test": 2,
		"stonewall-guild.test": 2, "night-ferry.test": 3, "quarry-club.test": 3, "far-lighthouse.test": 4,
	} {
		if nearest[host] != want {
			t.Errorf("%s is %d links away, want %d", host, nearest[host], want)
		}
	}
	if v.status[429] != 1 || v.status[503] != 1 || v.status[404] == 0 || v.status[410] == 0 || v.status[301] == 0 ||
		v.status[302] == 0 {
		t.Errorf("answers: %v", v.status)
	}
	if !v.dead["gone-fishing.test"] || !v.dead["millers-bakery.test"] || len(v.dead) != 2 {
		t.Errorf("hosts that did not answer: %v", v.dead)
	}
}

// The web is always the same: the random numbers of a site depend on its name.
func TestDemoIsDeterministic(t *testing.T) {
	var bodies [2]string
	for i := range bodies {
		s := crawltest.Serve(t)
		Serve(s)
		bodies[i] = get(t, newClient(t, s), "https://night-ferry.test/")
	}
	if bodies[0] != bodies[1] || bodies[0] == "" {
		t.Error("two servers, two webs")
	}
}

func TestConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `odd "folder" \ name`)
	var cfg struct {
		State   struct{ Path string }
		Output  map[string]string
		Network struct {
			CAFile    string            `toml:"ca-file"`
			ConnectTo map[string]string `toml:"connect-to"`
		}
		Quality []struct {
			Domain string
			Seeds  []string
		}
	}
	if _, err := toml.Decode(Config("127.0.0.1:1234", "/ca.pem", dir), &cfg); err != nil {
		t.Fatal(err)
	}
	if cfg.Network.CAFile != "/ca.pem" || cfg.Network.ConnectTo["*.test"] != "127.0.0.1:1234" {
		t.Errorf("network: %+v", cfg.Network)
	}
	for _, path := range append([]string{cfg.State.Path}, values(cfg.Output)...) {
		if filepath.Dir(path) != dir {
			t.Errorf("%s is not in %s", path, dir)
		}
	}
	var seeds []string
	for _, q := range cfg.Quality {
		seeds = append(seeds, q.Seeds...)
	}
	s := crawltest.Serve(t)
	if got, want := strings.Join(Serve(s), " "), strings.Join(seeds, " "); got != want {
		t.Errorf("seeds %s, the web says %s", want, got)
	}
}

// newClient returns a client that trusts the server, connects every name to it and follows no redirect.
func newClient(t *testing.T, s *webtest.Server) *http.Client {
	t.Helper()
	transport := s.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func get(t *testing.T, c *http.Client, at string) string {
	t.Helper()
	resp, err := c.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// hrefs returns the targets of a page's links.
func hrefs(t *testing.T, base, text string) (links []string) {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		u, err := at.Parse(a.AttrOr("href", ""))
		if err != nil {
			t.Fatal(err)
		}
		u.Scheme, u.Fragment = "https", ""
		links = append(links, u.String())
	})
	return links
}

func values(m map[string]string) (out []string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// The changed web differs where its documentation says so, and its dated sitemaps name pages that are unchanged.
func TestChange(t *testing.T) {
	s := crawltest.Serve(t)
	Serve(s)
	c := newClient(t, s)
	names := []string{"https://alderford.test/walks/the-footbridge", "https://hedgerow-journal.test/winter/the-blackthorn",
		"https://saltmarsh-radio.test/programmes/dawn-chorus-revisited", "https://archive.alderford.test/about",
		"https://alderford.test/"}
	before := map[string]string{}
	for _, at := range names {
		before[at] = get(t, c, at)
	}
	unchanged := map[string]string{}
	for _, d := range sites()[:3] {
		d.write()
		for _, a := range d.articles {
			unchanged[d.url(a.path)] = get(t, c, d.url(a.path))
		}
	}
	c.CloseIdleConnections()
	Change(s)
	for _, at := range names {
		if get(t, c, at) == before[at] {
			t.Errorf("%s is as it was", at)
		}
	}
	if text := get(t, c, "https://alderford.test/"); !strings.Contains(text, "/news/the-flood-gauge") {
		t.Errorf("the front page does not name the new one: %s", text)
	}
	if resp, err := c.Get("https://lantern-choir.test/"); err == nil {
		resp.Body.Close()
		t.Errorf("the choir answers: %s", resp.Status)
	}
	for _, host := range []string{"alderford.test", "hedgerow-journal.test"} {
		listed := 0
		for part := range strings.SplitSeq(get(t, c, "https://"+host+"/sitemap.xml"), "<loc>") {
			at, _, _ := strings.Cut(part, "<")
			was, ok := unchanged[at]
			if !ok {
				continue
			}
			if listed++; get(t, c, at) != was {
				t.Errorf("the sitemap calls %s unchanged", at)
			}
		}
		if listed != 43 {
			t.Errorf("%s: the sitemap names %d articles", host, listed)
		}
	}
}
