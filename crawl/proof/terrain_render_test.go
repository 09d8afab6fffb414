package proof

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// renderedSeeds are the tables of a crawl that renders the pages that need it.
const renderedSeeds = "[crawler]\nmax-depth = 4\n[retry]\ndelay = \"100ms\"\nmax-retries = 1\n" +
	"[render]\nmode = \"auto\"\nmax-browsers = 2\ndomains = [\"*.test\"]\n"

// shells serves applications on hosts of three shards, with scripts on hosts of all of them: one
// that every page has, one of three megabytes, one that robots.txt forbids, one that a redirect
// leads to, one that fails at first and one that is missing.
func shells(t *testing.T, s *webtest.Server) (hosts []string, tables string) {
	t.Helper()
	script := func(host, path string, lines ...string) {
		s.Host(host).Page(path, strings.Join(lines, "\n")).Type("text/javascript")
	}
	shared := "cdn." + oneOf(t, 3, 1)
	tables = renderedSeeds
	for n := range 3 {
		host, next := "app."+oneOf(t, 3, n), "app."+oneOf(t, 3, (n+1)%3)
		other, third := "api."+oneOf(t, 3, (n+1)%3), "api."+oneOf(t, 3, (n+2)%3)
		hosts = append(hosts, host)
		tables += fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", host, host)
		for i := range 4 {
			page := fmt.Sprintf("/p%d", i)
			s.Host(host).Page(page, crawltest.Shell("https://"+shared+"/lib.js",
				fmt.Sprintf("https://%s/data%d.js", other, i)))
			script(other, fmt.Sprintf("/data%d.js", i), fmt.Sprintf("link https://%s/p%d", host, (i+1)%4),
				fmt.Sprintf("link https://%s/p%d", next, i), "get https://"+third+"/menu.js",
				"get https://"+third+"/secret.js")
		}
		s.Host(host).Page("/", crawltest.Shell("https://"+shared+"/lib.js", "https://"+other+"/large.js",
			"https://"+other+"/moved.js", "https://"+third+"/gone.js"))
		script(other, "/large.js", "link https://"+host+"/p0", strings.Repeat("#", 3<<20),
			"link https://"+host+"/large")
		s.Host(other).Redirect("/moved.js", "https://"+third+"/menu.js", http.StatusFound)
		s.Host(other).Robots("User-agent: *\nDisallow: /secret.js\n")
		script(other, "/menu.js", fmt.Sprintf("link https://%s/menu", oneOf(t, 3, n)))
		script(other, "/secret.js", "link https://"+host+"/never")
	}
	script(shared, "/lib.js", "link https://"+hosts[0]+"/p1", "link https://"+hosts[2]+"/p2")
	return hosts, tables
}

// Pages with scripts on hosts of other shards are rendered as on one machine: the shard of each
// host requests its scripts, once for all. Crawls of one process share the browsers.
func TestTerrainRendered(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	hosts, tables := shells(t, s)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, tables))
	browser := func() *crawltest.Browser { return &crawltest.Browser{Takes: 20 * time.Millisecond} }
	want := aloneIn(t, cfg, filepath.Join(t.TempDir(), "whole.bolt"), browser())
	s.ResetLog()
	tr := newTerrain(t, rand.New(rand.NewPCG(crawltest.Seed(t), 1)), cfg, 3)
	tr.shows, tr.with = browser(), crawl.NewShared(0)
	if got := tr.crawlAtOnce(0); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if tr.shows.Most > 2 {
		t.Errorf("%d pages were rendered at a time, by 2 browsers", tr.shows.Most)
	}
	asked := map[string]int{}
	for _, e := range s.Log() {
		asked[e.Host+e.Path]++
	}
	for what, n := range asked {
		if n > 1 && strings.HasSuffix(what, ".js") || strings.Contains(what, "secret") {
			t.Errorf("%s was asked for %d times", what, n)
		}
	}
	requireRendered(t, tr.mergedPath(), hosts)
}

// TestTerrainRenderedInTrouble is TestTerrainRendered with shards that stop, and lose leases and
// letters.
func TestTerrainRenderedInTrouble(t *testing.T) {
	t.Parallel()
	seed, terrains := crawltest.Seed(t), 1
	if crawltest.Full() {
		terrains = 10
	}
	s := crawltest.Serve(t, webtest.WithoutLog())
	hosts, tables := shells(t, s)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, tables))
	want := aloneIn(t, cfg, filepath.Join(t.TempDir(), "whole.bolt"), new(crawltest.Browser))
	for i := range uint64(terrains) {
		tr := newTerrain(t, rand.New(rand.NewPCG(seed, i)), cfg, 3)
		tr.shows = &crawltest.Browser{Takes: 50 * time.Millisecond}
		if got := tr.crawlAtOnce(4); got != want {
			t.Errorf("seed %d, %d: digest %s, want %s", seed, i, got, want)
		}
		requireRendered(t, tr.mergedPath(), hosts)
	}
}

// requireRendered requires rendered pages on all hosts, with some refused scripts.
func requireRendered(t *testing.T, path string, hosts []string) {
	t.Helper()
	shown := map[string]int{}
	crawltest.EachPage(t, path, func(p *survey.Page) {
		if p.Visit == nil || p.State != schema.Processed || p.Visit.Rendering == 0 {
			return
		}
		want := schema.Rendered
		if strings.Contains(p.URL, "/p") {
			want |= schema.RenderDenied
		}
		if p.Visit.Rendering != want {
			t.Errorf("%s is shown as %b, want %b", p.URL, p.Visit.Rendering, want)
		}
		shown[p.HostName]++
	})
	for _, host := range hosts {
		if shown[host] != 5 {
			t.Errorf("%d pages of %s are shown, of 5", shown[host], host)
		}
	}
}
