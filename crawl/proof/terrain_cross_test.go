package proof

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/demo"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// oneOf returns a host that belongs to shard n of shards.
func oneOf(t *testing.T, shards, n int) string {
	t.Helper()
	rule, err := shard.New(shards)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if name := fmt.Sprintf("s%d.test", i); rule.Of(name) == n {
			return name
		}
	}
}

// The demonstration has hosts of every kind. One asks the crawler to wait once, so each crawl has a
// web of its own.
func TestTerrainOfDemo(t *testing.T) {
	t.Parallel()
	serve := func() *config.Config {
		s := crawltest.Serve(t, webtest.WithoutLog())
		demo.Serve(s)
		ca, err := s.CAFile(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return crawltest.Parse(t, demo.Config(s.Addr(), ca, t.TempDir()))
	}
	want := alone(t, serve())
	tr := newTerrain(t, rand.New(rand.NewPCG(crawltest.Seed(t), 1)), serve(), 3)
	if got := tr.crawl(2); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// An index of sitemaps on a host of another shard, with files on hosts of three shards, is read
// there, and the listed pages are visited by their owners.
func TestTerrainSitemaps(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t, webtest.WithoutLog())
	own := oneOf(t, 3, 0)
	listed := sitemapsOver(t, s, 3, own)
	s.Host(own).Page("/", crawltest.Anchors("/linked"))
	s.Host(own).Page("/linked", "<title>linked</title>")
	cfg := crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf(
		"[crawler]\nmax-depth = 1\n%s[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", readsSitemaps, own, own)))
	want := alone(t, cfg)
	tr := newTerrain(t, rand.New(rand.NewPCG(crawltest.Seed(t), 1)), cfg, 3)
	if got := tr.crawl(3); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	requireListed(t, tr.mergedPath(), listed)
}

// readsSitemaps makes the crawl read sitemaps wherever an index leads. It must be at the end of
// [crawler].
const readsSitemaps = "sitemaps = \"quality\"\n[traps]\nmax-sitemap-hosts = 0\n"

// sitemapsOver makes an origin name an index of sitemaps on a host of shard 1, whose files are on
// hosts of shards 0, 1 and 2, each with a page of the origin. It returns the pages below these,
// which nothing else leads to.
func sitemapsOver(t *testing.T, s *webtest.Server, shards int, origin string) (listed []string) {
	t.Helper()
	host := func(n int) string { return "maps." + oneOf(t, shards, n) }
	sitemap := func(host, path, root, entry string, urls ...string) {
		body := "<" + root + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
		for _, u := range urls {
			body += "<" + entry + "><loc>" + u + "</loc></" + entry + ">"
		}
		s.Host(host).Page(path, body+"</"+root+">").Type("application/xml")
	}
	var files []string
	for n := range 3 {
		page, deeper, file := fmt.Sprintf("/listed-%d", n), fmt.Sprintf("/deeper-%d", n),
			fmt.Sprintf("/pages-%d.xml", n)
		s.Host(origin).Page(page, crawltest.Anchors(deeper))
		s.Host(origin).Page(deeper, "<title>deeper</title>")
		sitemap(host(n), file, "urlset", "url", "https://"+origin+page, "https://"+host(n)+"/no-origin")
		files, listed = append(files, "https://"+host(n)+file), append(listed, "https://"+origin+deeper)
	}
	sitemap(host(1), "/index.xml", "sitemapindex", "sitemap", files...)
	s.Host(origin).Robots("User-agent: *\nSitemap: https://" + host(1) + "/index.xml\n")
	return listed
}

// requireListed requires the pages that only sitemaps lead to in the map of a state file.
func requireListed(t *testing.T, path string, listed []string) {
	t.Helper()
	states, _ := readMap(t, path)
	for _, url := range listed {
		if states[url] != "processed" {
			t.Errorf("%s, below a page that is listed, is %q", url, states[url])
		}
	}
}

// A robots.txt that redirects over hosts of several shards, to a large one, is requested by the
// shards that own the hosts, and by no others if one is unavailable.
func TestTerrainRobots(t *testing.T) {
	t.Parallel()
	a, b, c := oneOf(t, 3, 0), oneOf(t, 3, 1), oneOf(t, 3, 2)
	s := crawltest.Serve(t, webtest.WithoutLog())
	s.Host(a).Redirect("/robots.txt", "https://"+b+"/elsewhere.txt", http.StatusFound)
	s.Host(a).Page("/", crawltest.Anchors("/secret", "/open", "https://www.sub."+b+"/", "https://loop."+c+"/"))
	s.Host(a).Page("/open", "<title>open</title>")
	s.Host(b).Robots("User-agent: *\nDisallow: /\nAllow: /elsewhere.txt\n")
	s.Host(b).Redirect("/elsewhere.txt", "https://"+c+"/robots.txt", http.StatusMovedPermanently)
	s.Host(c).Robots(strings.Repeat("# There is much to say about this.\n", 9000) +
		"User-agent: *\nDisallow: /secret\n")
	s.Host("sub."+b).Redirect("/robots.txt", "https://gone."+a+"/robots.txt", http.StatusFound)
	s.Host("gone." + a).Down(webtest.DownReset)
	s.Host("loop."+c).Redirect("/robots.txt", "https://loop."+b+"/robots.txt", http.StatusFound)
	s.Host("loop."+b).Redirect("/robots.txt", "https://loop."+c+"/robots.txt", http.StatusFound)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf(
		"[retry]\ndelay = \"100ms\"\nmax-retries = 1\n[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", a, a)))
	want := alone(t, cfg)
	tr := newTerrain(t, rand.New(rand.NewPCG(crawltest.Seed(t), 1)), cfg, 3)
	if got := tr.crawlAtOnce(3); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	states, _ := readMap(t, tr.mergedPath())
	for path, want := range map[string]string{"/open": "processed", "/secret": "failed"} {
		if got := states["https://"+a+path]; got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// A robots.txt on another shard's host may be larger than the limit for pages.
func TestTerrainLargeRobots(t *testing.T) {
	t.Parallel()
	a, b := oneOf(t, 3, 0), oneOf(t, 3, 1)
	s := crawltest.Serve(t, webtest.WithoutLog())
	s.Host(a).Redirect("/robots.txt", "https://"+b+"/robots.txt", http.StatusFound)
	s.Host(a).Page("/", crawltest.Anchors("/secret", "/open"))
	s.Host(a).Page("/open", "<title>open</title>")
	s.Host(b).Robots(strings.Repeat("# There is much to say about this.\n", 9000) +
		"User-agent: *\nDisallow: /secret\n")
	cfg := crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf(
		"[content]\nmax-response-bytes = \"200kB\"\n[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", a, a)))
	want := alone(t, cfg)
	tr := newTerrain(t, rand.New(rand.NewPCG(crawltest.Seed(t), 1)), cfg, 3)
	if got := tr.crawlAtOnce(0); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if states, _ := readMap(t, tr.mergedPath()); states["https://"+a+"/secret"] != "failed" {
		t.Errorf("what the large robots.txt forbids is %q", states["https://"+a+"/secret"])
	}
}

// Shards that get another configuration one after another have the map of a crawl that had it from
// the beginning.
func TestTerrainReconfigured(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	s := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(s, seed, 7)
	with := func(depth int) *config.Config {
		return crawltest.Parse(t, crawltest.Config(t, s, sitesTo(depth)))
	}
	want := alone(t, with(3))
	tr := newTerrain(t, rand.New(rand.NewPCG(seed, 9)), with(1), 3)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for n := range tr.nodes {
		tr.start(n)
	}
	found, first := tr.lookForEnd(ctx), tr.below(len(tr.nodes))
	tr.cfg, tr.number = with(3), 2
	for i := range tr.nodes {
		n := (first + i) % len(tr.nodes)
		time.Sleep(time.Duration(tr.below(int(500 * time.Millisecond))))
		tr.nodes[n].crawl.Reconfigure(tr.cfg, tr.number)
	}
	if got := tr.end(2, found); got != want {
		t.Errorf("seed %d: digest %s, want %s", seed, got, want)
	}
}

// The next run of a terrain begins when all files say that the last one is over, and gives the same
// map as the second run of one crawl on the changed web.
func TestTerrainAgain(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	s := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(s, seed, 7)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, sitesTo(2)+"[recrawl]\nmin-age = \"0s\"\n"))
	path := filepath.Join(t.TempDir(), "whole.bolt")
	tr := newTerrain(t, rand.New(rand.NewPCG(seed, 2)), cfg, 3)
	for run := range 2 {
		want := aloneIn(t, cfg, path, nil)
		tr.run, tr.calm, tr.told = uint64(run+1), false, 0
		if got := tr.crawl(2); got != want {
			t.Errorf("seed %d: digest %s of run %d, want %s", seed, got, run+1, want)
		}
		s.Host("h0.test").Page("/", crawltest.Anchors("https://h5.test/new", "https://h6.test/", "/new"))
		s.Host("h0.test").Page("/new", crawltest.Anchors("https://h7.test/"))
		s.Host("h5.test").Page("/new", crawltest.Anchors("https://h8.test/new"))
		s.Host("h1.test").Status("/", http.StatusGone)
	}
}

// Files that are permanently lost, or have gone back, cost additional visits, but no part of the
// map.
func TestTerrainLosesFiles(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	s := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(s, seed, 7)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, sitesTo(3)))
	want := alone(t, cfg)
	tr := newTerrain(t, rand.New(rand.NewPCG(seed, 3)), cfg, 3)
	for n := range tr.nodes {
		tr.start(n)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	for _, what := range []string{"copy", "remove", "restore", "remove"} {
		time.Sleep(time.Duration(tr.below(int(400 * time.Millisecond))))
		n := 0
		if what == "remove" {
			n = tr.below(len(tr.nodes))
		}
		tr.leave(n, false)
		var err error
		switch what {
		case "copy":
			err = kv.Compact(tr.paths[n], backup)
		case "remove":
			err = os.Remove(tr.paths[n])
		case "restore":
			err = os.Rename(backup, tr.paths[n])
		}
		if err != nil {
			t.Fatal(err)
		}
		tr.start(n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got := tr.end(0, tr.lookForEnd(ctx)); got != want {
		t.Errorf("seed %d: digest %s, want %s", seed, got, want)
	}
}
