package crawl_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

const recrawlConfig = `
[crawler]
max-depth = 1
max-domain-requests = %d
sitemaps = %q
[politeness]
adaptive-delay = false
[recrawl]
min-age = %q
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`

// A changing web is crawled run after run.
type changing struct {
	*webtest.Server
	t     *testing.T
	store *kv.Store
	text  string
	told  [][]string // what was reported about each run when it ended
}

func newChanging(t *testing.T, budget int, sitemaps, minAge string) *changing {
	s := crawltest.Serve(t)
	return &changing{
		Server: s, t: t, store: crawltest.Open(t, stateFile(t)),
		text: crawltest.Config(t, s, fmt.Sprintf(recrawlConfig, budget, sitemaps, minAge)),
	}
}

// page serves a page with a validator that depends on its text.
func (c *changing) page(host, path, html string) {
	h := fnv.New64a()
	h.Write([]byte(html))
	c.Host(host).Page(path, html).ETag(fmt.Sprintf(`"%x"`, h.Sum64()))
}

// run crawls once, and returns the requests: "a.test/x 304".
func (c *changing) run() []string {
	c.t.Helper()
	c.ResetLog()
	walk(c.t, c.store, crawltest.Parse(c.t, c.text))
	if err := survey.Check(c.survey(), func(problem string) { c.t.Error(problem) }); err != nil {
		c.t.Fatal(err)
	}
	c.lookBack()
	var asked []string
	for _, e := range c.Log() {
		asked = append(asked, fmt.Sprintf("%s%s %d", e.Host, e.Path, e.Status))
	}
	slices.Sort(asked)
	return asked
}

// lookBack compares what is reported about every earlier run with what was reported when it ended.
func (c *changing) lookBack() {
	c.t.Helper()
	newest := c.survey()
	for i, told := range c.told {
		older := must(newest.At(schema.RunID(i + 1)))(c.t)
		if diff := cmp.Diff(told, surveytest.Tell(c.t, older)); diff != "" {
			c.t.Errorf("run %d after run %d (-then +now):\n%s", i+1, newest.Run().ID, diff)
		}
	}
	c.told = append(c.told, surveytest.Tell(c.t, newest))
}

// forgetRobots makes every robots.txt expire, as a day later.
func (c *changing) forgetRobots() {
	c.t.Helper()
	err := c.store.Update(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			h.RobotsAt = h.RobotsAt.Add(-25 * time.Hour)
			tx.Hosts.Put(h)
			return true, nil
		})
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *changing) survey() *survey.Survey {
	c.t.Helper()
	return crawltest.Survey(c.t, c.store)
}

// pages returns a line for each page: state, status, runs that saw it, and marks.
func (c *changing) pages() map[string]string {
	found := map[string]string{}
	err := c.survey().EachPage(func(p *survey.Page) error {
		status, mark := 0, ""
		if p.Visit != nil {
			status = p.Visit.Status
			if p.Visit.NoIndex {
				mark += " noindex"
			}
			if p.Visit.Unchanged {
				mark += " unchanged"
			}
			if p.Visit.Title != "" {
				mark += " " + p.Visit.Title
			}
		}
		name := strings.TrimPrefix(p.URL, "https://")
		found[name] = fmt.Sprintf("%s %d %d-%d%s", p.State, status, p.FirstRun, p.LastRun, mark)
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// links returns a line for each link: the runs that saw it.
func (c *changing) links() map[string]string {
	names, found := map[schema.ID]string{}, map[string]string{}
	sv := c.survey()
	err := sv.EachPage(func(p *survey.Page) error {
		names[p.ID] = strings.TrimPrefix(p.URL, "https://")
		return nil
	})
	if err == nil {
		err = sv.Links.Each(func(from schema.ID, l schema.Link, first, last schema.RunID) error {
			found[names[from]+" "+names[l.To]] = fmt.Sprintf("%s %d-%d", l.Kinds.First(), first, last)
			return nil
		})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

func (c *changing) want(run int, pages, links map[string]string, asked []string, gotAsked []string) {
	c.t.Helper()
	if diff := cmp.Diff(pages, c.pages()); diff != "" {
		c.t.Errorf("run %d, pages (-want +got):\n%s", run, diff)
	}
	if diff := cmp.Diff(links, c.links()); diff != "" {
		c.t.Errorf("run %d, links (-want +got):\n%s", run, diff)
	}
	if diff := cmp.Diff(asked, gotAsked); diff != "" {
		c.t.Errorf("run %d, requests (-want +got):\n%s", run, diff)
	}
}

func title(name string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title>", name)
	for _, l := range links {
		fmt.Fprintf(&b, "<a href=%q>x</a>", l)
	}
	return b.String()
}

// firstRun finds a web.
func (c *changing) firstRun() {
	c.page("a.test", "/", title("front", "/stays", "/goes", "/moves", "/hides", "/blocked", "/edited",
		"https://b.test/"))
	c.page("a.test", "/stays", title("stays", "/goes"))
	c.page("a.test", "/goes", title("goes", "https://b.test/last"))
	c.page("a.test", "/moves", title("moves", "/stays"))
	c.page("a.test", "/hides", title("hides", "/stays"))
	c.page("a.test", "/blocked", title("blocked", "/stays"))
	c.page("a.test", "/edited", title("edited", "/dropped", "https://b.test/dropped"))
	c.page("a.test", "/dropped", title("dropped"))
	for _, path := range []string{"/", "/last", "/dropped"} {
		c.page("b.test", path, title("b"))
	}
	asked := c.run()
	c.want(1, map[string]string{
		"a.test/": "processed 200 1-1 front", "a.test/stays": "processed 200 1-1 stays",
		"a.test/goes":  "processed 200 1-1 goes",
		"a.test/moves": "processed 200 1-1 moves", "a.test/hides": "processed 200 1-1 hides",
		"a.test/blocked": "processed 200 1-1 blocked",
		"a.test/edited":  "processed 200 1-1 edited", "a.test/dropped": "processed 200 1-1 dropped",
		"b.test/": "processed 200 1-1 b", "b.test/last": "processed 200 1-1 b", "b.test/dropped": "processed 200 1-1 b",
	}, map[string]string{
		"a.test/ a.test/stays": "anchor 1-1", "a.test/ a.test/goes": "anchor 1-1", "a.test/ a.test/moves": "anchor 1-1",
		"a.test/ a.test/hides": "anchor 1-1", "a.test/ a.test/blocked": "anchor 1-1",
		"a.test/ a.test/edited": "anchor 1-1",
		"a.test/ b.test/":       "anchor 1-1", "a.test/stays a.test/goes": "anchor 1-1",
		"a.test/goes b.test/last":   "anchor 1-1",
		"a.test/moves a.test/stays": "anchor 1-1", "a.test/hides a.test/stays": "anchor 1-1",
		"a.test/blocked a.test/stays":  "anchor 1-1",
		"a.test/edited a.test/dropped": "anchor 1-1", "a.test/edited b.test/dropped": "anchor 1-1",
	}, []string{
		"a.test/ 200", "a.test/blocked 200", "a.test/dropped 200", "a.test/edited 200", "a.test/goes 200",
		"a.test/hides 200", "a.test/moves 200", "a.test/robots.txt 404", "a.test/stays 200",
		"b.test/ 200", "b.test/dropped 200", "b.test/last 200", "b.test/robots.txt 404",
	}, asked)
}

// secondRun finds it changed in every way in which a page can change.
func (c *changing) secondRun() {
	a := c.Host("a.test")
	a.Status("/goes", http.StatusGone)
	a.Redirect("/moves", "/moved", http.StatusMovedPermanently)
	c.page("a.test", "/moved", title("moved", "/stays"))
	c.page("a.test", "/hides", `<meta name="robots" content="noindex">`+title("hides", "/stays"))
	a.Robots("User-agent: *\nDisallow: /blocked\n")
	c.page("a.test", "/edited", title("edited", "/added"))
	c.page("a.test", "/added", title("added"))
	c.forgetRobots()
	asked := c.run()
	c.want(2, map[string]string{
		"a.test/": "processed 304 1-2 unchanged front", "a.test/stays": "processed 304 1-2 unchanged stays",
		"a.test/goes":  "dead_link 410 1-2",
		"a.test/moves": "processed 301 1-2", "a.test/moved": "processed 200 2-2 moved",
		"a.test/hides":   "processed 200 1-2 noindex",
		"a.test/blocked": "failed 0 1-2", "a.test/edited": "processed 200 1-2 edited",
		"a.test/added":   "processed 200 2-2 added",
		"a.test/dropped": "discovered 200 1-1 dropped",
		"b.test/":        "processed 304 1-2 unchanged b", "b.test/last": "discovered 200 1-1 b",
		"b.test/dropped": "discovered 200 1-1 b",
	}, map[string]string{
		"a.test/ a.test/stays": "anchor 1-2", "a.test/ a.test/goes": "anchor 1-2", "a.test/ a.test/moves": "anchor 1-2",
		"a.test/ a.test/hides": "anchor 1-2", "a.test/ a.test/blocked": "anchor 1-2",
		"a.test/ a.test/edited": "anchor 1-2",
		"a.test/ b.test/":       "anchor 1-2", "a.test/stays a.test/goes": "anchor 1-2",
		"a.test/moves a.test/moved": "redirect 2-2", "a.test/moved a.test/stays": "anchor 2-2",
		"a.test/hides a.test/stays":  "anchor 1-2",
		"a.test/edited a.test/added": "anchor 2-2",
	}, []string{
		"a.test/ 304", "a.test/added 200", "a.test/edited 200", "a.test/goes 410", "a.test/hides 200",
		"a.test/moved 200",
		"a.test/moves 301", "a.test/robots.txt 200", "a.test/stays 304", "b.test/ 304", "b.test/robots.txt 404",
	}, asked)
}

// thirdRun finds some of the changes undone.
func (c *changing) thirdRun() {
	c.Host("a.test").Robots("")
	c.page("a.test", "/", title("front", "/stays", "/goes", "/blocked"))
	c.page("a.test", "/goes", title("back", "/dropped"))
	c.forgetRobots()
	asked := c.run()
	c.want(3, map[string]string{
		"a.test/": "processed 200 1-3 front", "a.test/stays": "processed 304 1-3 unchanged stays",
		"a.test/goes":  "processed 200 1-3 back",
		"a.test/moves": "discovered 301 1-2", "a.test/moved": "discovered 200 2-2 moved",
		"a.test/hides":   "discovered 200 1-2 noindex",
		"a.test/blocked": "processed 200 1-3 blocked", "a.test/edited": "discovered 200 1-2 edited",
		"a.test/added":   "discovered 200 2-2 added",
		"a.test/dropped": "processed 304 1-3 unchanged dropped",
		"b.test/":        "discovered 304 1-2 unchanged b", "b.test/last": "discovered 200 1-1 b",
		"b.test/dropped": "discovered 200 1-1 b",
	}, map[string]string{
		"a.test/ a.test/stays": "anchor 1-3", "a.test/ a.test/goes": "anchor 1-3",
		"a.test/ a.test/blocked":   "anchor 1-3",
		"a.test/stays a.test/goes": "anchor 1-3", "a.test/goes a.test/dropped": "anchor 3-3",
		"a.test/blocked a.test/stays": "anchor 1-3",
	}, []string{
		"a.test/ 200", "a.test/blocked 200", "a.test/dropped 304", "a.test/goes 200", "a.test/robots.txt 200",
		"a.test/stays 304",
	}, asked)
}

// TestThreeRuns changes a web between three runs in every way in which a page can change, and
// compares the map with the changes.
func TestThreeRuns(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.firstRun()
	c.secondRun()
	c.thirdRun()
}

// TestUnchangedWeb crawls an unchanged web twice: the second time no body is sent, and the map is
// the same.
func TestUnchangedWeb(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "quality", "0s")
	c.page("a.test", "/", crawltest.Anchors("/one", "/two", "https://b.test/"))
	c.page("a.test", "/one", crawltest.Anchors("/two"))
	c.page("a.test", "/two", crawltest.Anchors("/"))
	c.page("a.test", "/three", crawltest.Anchors("/one"))
	c.page("b.test", "/", crawltest.Anchors("/next"))
	c.Host("a.test").Robots("User-agent: *\nAllow: /\nSitemap: https://a.test/sitemap.xml\n")
	c.Host("a.test").Page("/sitemap.xml",
		"<urlset><url><loc>https://a.test/three</loc></url></urlset>").Type("application/xml").ETag(`"s"`)
	c.run()
	digest := must(survey.Digest(c.survey()))(t)
	asked := c.run()
	want := []string{"a.test/ 304", "a.test/one 304", "a.test/sitemap.xml 304", "a.test/three 304", "a.test/two 304",
		"b.test/ 304"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	for _, e := range c.Log() {
		if e.Bytes != 0 {
			t.Errorf("%s%s: %d bytes of a body were sent", e.Host, e.Path, e.Bytes)
		}
	}
	if again := must(survey.Digest(c.survey()))(t); again != digest {
		t.Errorf("the digest is %s, was %s", again, digest)
	}
	asked = c.run() // results may be kept more than once
	if again := must(survey.Digest(c.survey()))(t); again != digest || !slices.Equal(asked, want) {
		t.Errorf("third run: digest %s, was %s; asked for %q", again, digest, asked)
	}
}

// TestYoungPages crawls again before pages are old enough: nothing is requested, and the map is the
// same.
func TestYoungPages(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "24h")
	c.page("a.test", "/", crawltest.Anchors("/one", "https://b.test/", "/lost"))
	c.page("a.test", "/one", crawltest.Anchors("/two"))
	c.page("a.test", "/two", crawltest.Anchors("/"))
	c.page("b.test", "/", crawltest.Anchors("/next"))
	c.run()
	before, links := c.pages(), c.links()
	if asked := c.run(); len(asked) > 0 {
		t.Errorf("asked for %q; a 404 is a final answer, too", asked)
	}
	for name, line := range before {
		before[name] = strings.Replace(line, "1-1", "1-2", 1)
	}
	for name, line := range links {
		links[name] = strings.Replace(line, "1-1", "1-2", 1)
	}
	if diff := cmp.Diff(before, c.pages()); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(links, c.links()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// TestSitemapSpares visits pages again unless their sitemap says that they are unchanged.
func TestSitemapSpares(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "quality", "0s")
	entries := map[string]string{
		"/old":    "<lastmod>2020-05-05T10:00:00Z</lastmod><changefreq>always</changefreq>",
		"/oldday": "<lastmod>2020-05-05</lastmod>",
		"/new": "<lastmod>" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) +
			"</lastmod><changefreq>never</changefreq>",
		"/today":    "<lastmod>" + time.Now().UTC().Format(time.DateOnly) + "</lastmod>",
		"/daily":    "<changefreq>daily</changefreq>",
		"/always":   "<changefreq>always</changefreq>",
		"/unsaid":   "",
		"/twice":    "<lastmod>2020-05-05</lastmod>",
		"/mistaken": "<lastmod>soon</lastmod><changefreq>often</changefreq>",
	}
	var b strings.Builder
	for path, rest := range entries {
		c.page("a.test", path, crawltest.Anchors("/from"+path[1:]))
		fmt.Fprintf(&b, "<url><loc>https://a.test%s</loc>%s</url>", path, rest)
	}
	fmt.Fprintf(&b, "<url><loc>https://a.test/twice</loc><lastmod>%s</lastmod></url>",
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	c.Host("a.test").Page("/sitemap.xml", "<urlset>"+b.String()+"</urlset>").Type("application/xml").ETag(`"s"`)
	c.Host("a.test").Robots("User-agent: *\nAllow: /\nSitemap: https://a.test/sitemap.xml\n")
	c.page("a.test", "/", crawltest.Anchors("/old"))
	c.run()
	links := c.links()
	var got []string
	for _, line := range c.run() {
		if strings.HasSuffix(line, " 304") {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(line, "a.test"), " 304"))
		}
	}
	want := []string{"/", "/always", "/daily", "/mistaken", "/new", "/sitemap.xml", "/today", "/twice", "/unsaid"}
	if !slices.Equal(got, want) {
		t.Errorf("asked again for %q, want %q", got, want)
	}
	again := c.links()
	if !slices.Equal(slices.Sorted(maps.Keys(links)), slices.Sorted(maps.Keys(again))) {
		t.Errorf("links were %v, are %v", links, again)
	}
}

// TestHostLargerThanItsBudget completes such a host over several runs: pages that were never
// visited come first.
func TestHostLargerThanItsBudget(t *testing.T) {
	t.Parallel()
	const pages, budget = 14, 5
	c := newChanging(t, budget, "off", "0s")
	var links []string
	for i := range pages {
		links = append(links, fmt.Sprintf("/%d", i))
		c.page("a.test", links[i], crawltest.Anchors("/"))
	}
	c.page("a.test", "/", crawltest.Anchors(links...))
	visited := map[string]bool{}
	for run := 1; len(visited) < pages; run++ {
		if run > 1+(pages+budget-2)/(budget-1) {
			t.Fatalf("%d of %d pages visited after %d runs", len(visited), pages, run-1)
		}
		var again []string
		for _, line := range c.run() {
			path, status, _ := strings.Cut(strings.TrimPrefix(line, "a.test"), " ")
			if path == "/" || path == "/robots.txt" {
				continue
			}
			if status != "200" {
				again = append(again, path)
			}
			visited[path] = true
		}
		if len(again) > 0 && len(visited) < pages {
			t.Errorf("run %d visited %q again before all were visited", run, again)
		}
	}
}

// TestLongHosts meets links to hosts with names longer than any that exist.
func TestLongHosts(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.text += "[url]\nmax-length = 65536\n"
	for _, n := range []int{200, 5000, 40_000} {
		name := strings.Repeat("a", n) + ".test"
		odd := strings.Repeat("\u00fc\u0101", n/4) + ".test"
		c.page("a.test", fmt.Sprint("/", n), crawltest.Anchors("https://"+name+"/", "https://"+odd+"/"))
	}
	c.page("a.test", "/", crawltest.Anchors("/200", "/5000", "/40000", "/end"))
	c.page("a.test", "/end", "the end")
	c.run()
	if n := c.store.Hosts(); n != 3 {
		t.Errorf("%d hosts are recorded", n)
	}
}

// TestMovedWithinItsForms has a page redirect to another of its forms: later runs begin there, also
// to find that the page is gone.
func TestMovedWithinItsForms(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.page("a.test", "/", crawltest.Anchors("/dir"))
	c.Host("a.test").Redirect("/dir", "/dir/", http.StatusMovedPermanently)
	c.page("a.test", "/dir/", title("dir"))
	for run, want := range [][]string{
		{"a.test/ 200", "a.test/dir 301", "a.test/dir/ 200", "a.test/robots.txt 404"},
		{"a.test/ 304", "a.test/dir/ 304"},
		{"a.test/ 304", "a.test/dir/ 304"},
	} {
		if asked := c.run(); !slices.Equal(asked, want) {
			t.Errorf("run %d asked for %q, want %q", run+1, asked, want)
		}
	}
	c.Host("a.test").Status("/dir/", http.StatusGone)
	asked := c.run()
	if want := []string{"a.test/ 304", "a.test/dir 301", "a.test/dir/ 410"}; !slices.Equal(asked, want) {
		t.Errorf("once it is gone, asked for %q, want %q", asked, want)
	}
	if got, want := c.pages()["a.test/dir"], "dead_link 410 1-4"; got != want {
		t.Errorf("once it is gone, it is %q, want %q", got, want)
	}
}

// TestMismatchedInAForm has pages found in one of their forms that are of a type that is not
// accepted: later runs begin there, too.
func TestMismatchedInAForm(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.page("a.test", "/", crawltest.Anchors("/dir", "/file", "/file/"))
	c.Host("a.test").Redirect("/dir", "/dir/", http.StatusMovedPermanently)
	c.Host("a.test").Page("/dir/", "x").Header("Content-Type", "application/pdf")
	c.Host("a.test").Page("/file/", "x").Header("Content-Type", "application/pdf")
	for run, want := range [][]string{
		{"a.test/ 200", "a.test/dir 301", "a.test/dir/ 200", "a.test/file 404", "a.test/file/ 200", "a.test/robots.txt 404"},
		{"a.test/ 304", "a.test/dir/ 200", "a.test/file/ 200"},
	} {
		if asked := c.run(); !slices.Equal(asked, want) {
			t.Errorf("run %d asked for %q, want %q", run+1, asked, want)
		}
	}
}
