package crawl_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const blogroll = `<?xml version="1.0"?><opml version="2.0"><head><title>Blogs I read</title></head><body>
<outline text="Ben's peas" type="rss" htmlUrl="https://b.test/" xmlUrl="https://b.test/feed"/>
<outline text="Folder"><outline title="Cat" htmlUrl="/cat"/></outline></body></opml>`

// pagesOf returns the pages of a terrain that were met, with their state and title, and the links of one of them.
func pagesOf(t *testing.T, store *kv.Store, of string) (pages, links []string) {
	t.Helper()
	s := crawltest.Survey(t, store)
	id, known, err := s.Lookup("https://" + of)
	if err != nil || !known {
		t.Fatal(of, known, err)
	}
	found, err := s.Links.Out(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found {
		links = append(links, fmt.Sprintf("%s %s %q", must(s.Norm(l.To))(t), l.Kinds.First(), l.Anchor))
	}
	titles := map[schema.ID]string{}
	if err := s.EachTitle(func(id schema.ID, title string) error { titles[id] = title; return nil }); err != nil {
		t.Fatal(err)
	}
	err = s.EachPage(func(p *survey.Page) error {
		pages = append(pages, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.URL, p.State, titles[p.ID])))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(pages)
	return pages, links
}

// TestOPML crawls lists of links, with a HEAD first and without; imports the page store, and replays it: the map is
// always the same. XML of another kind, and all of it if the key is off, is no page.
func TestOPML(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	a := s.Host("a.test")
	a.Page("/", `<title>A</title><link rel=blogroll href=/list.opml><a href=/plain.xml>x</a><a href=/wp-links.php>y</a>`)
	a.Page("/list.opml", blogroll).Type("text/x-opml")
	a.Page("/plain.xml", `<rss><link>https://b.test/rss</link></rss>`).Type("text/xml")
	a.Page("/wp-links.php", `<opml><body><outline htmlUrl="/ann"`+`/>`).Type("text/xml; charset=utf-8")
	a.Page("/ann", "<title>Ann</title>")
	a.Page("/cat", "<title>Cat</title>")
	s.Host("b.test").Page("/", "<title>Ben</title>")
	for _, head := range []string{"never", "always", "auto"} {
		text := crawltest.Config(t, s, fmt.Sprintf("[crawler]\nmax-depth = 3\nhead-check = %q\n", head)+
			"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
		on := strings.Replace(text, "[crawler]", "[crawler]\nopml = true", 1)
		dir := filepath.Join(t.TempDir(), "pages")

		off := crawltest.Open(t, stateFile(t))
		walk(t, off, crawltest.Parse(t, text))
		got, _ := pagesOf(t, off, "a.test/list.opml")
		want := []string{"https://a.test/ processed A", "https://a.test/list.opml content_mismatch",
			"https://a.test/plain.xml content_mismatch", "https://a.test/wp-links.php content_mismatch"}
		if !slices.Equal(got, want) {
			t.Errorf("%s, off: %q", head, got)
		}

		store := crawltest.Open(t, stateFile(t))
		cfg := crawltest.Parse(t, on+fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", dir))
		walk(t, store, cfg)
		got, links := pagesOf(t, store, "a.test/list.opml")
		want = []string{"https://a.test/ processed A", "https://a.test/ann processed Ann", "https://a.test/cat processed Cat",
			"https://a.test/list.opml processed Blogs I read", "https://a.test/plain.xml content_mismatch",
			"https://a.test/wp-links.php processed", "https://b.test/ processed Ben", "https://b.test/feed discovered"}
		if !slices.Equal(got, want) {
			t.Errorf("%s, on: %q", head, got)
		}
		want = []string{`https://a.test/cat blogroll "Cat"`, `https://b.test/ blogroll "Ben's peas"`,
			`https://b.test/feed feed ""`}
		if slices.Sort(links); !slices.Equal(links, want) {
			t.Errorf("%s: links %q", head, links)
		}
		if done, err := crawl.Replay(store, cfg); err != nil || done.Pages != 6 || done.Changed != 0 {
			t.Errorf("%s: replayed %+v, %v", head, done, err)
		}
		checkMeaning(t, store)

		imported := crawltest.Open(t, stateFile(t))
		importInto(t, imported, cfg, crawl.Archives{WARC: segments(t, dir)})
		again, same := pagesOf(t, imported, "a.test/list.opml")
		again = slices.DeleteFunc(again, func(p string) bool { return strings.Contains(p, "plain.xml") }) // not in the store
		got = slices.DeleteFunc(got, func(p string) bool { return strings.Contains(p, "plain.xml") })
		if slices.Sort(same); !slices.Equal(again, got) || !slices.Equal(same, links) {
			t.Errorf("%s: imported %q with links %q", head, again, same)
		}
	}
}

// A list that an earlier run met as no page is read as soon as the key is on, although its server says that it has
// not changed.
func TestOPMLFromNowOn(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("a.test").Page("/", `<link rel=blogroll href=/list>`).Header("ETag", `"1"`)
	s.Host("a.test").Page("/list", blogroll).Type("text/x-opml").Header("ETag", `"1"`)
	text := crawltest.Config(t, s, "[crawler]\nopml = false\n[recrawl]\nmin-age = \"0s\"\n"+
		"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
	store := crawltest.Open(t, stateFile(t))
	for _, key := range []string{"false", "true", "true"} {
		walk(t, store, crawltest.Parse(t, strings.Replace(text, "opml = false", "opml = "+key, 1)))
		want := 0
		if key == "true" {
			want = 3
		}
		if pages, links := pagesOf(t, store, "a.test/list"); len(links) != want {
			t.Errorf("opml = %s: %q leads to %q", key, pages, links)
		}
	}
}

// TestRecommendations looks for the list of each host with a seed, once a run. Where there is none, the map does not
// change; where there is one, it is a page, in the next run, after a prune and under a replay.
func TestRecommendations(t *testing.T) {
	t.Parallel()
	const path = "/.well-known/recommendations.opml"
	s := crawltest.Serve(t)
	text := "[crawler]\nsitemaps = \"quality\"\nopml = true\n[recrawl]\nmin-age = \"0s\"\n"
	for _, host := range []string{"a.test", "b.test", "c.test", "d.test"} {
		s.Host(host).Page("/", "<title>Front</title><a href=https://sub."+host+">sub</a>")
		s.Host("sub."+host).Page("/", "<title>Sub</title>")
		text += fmt.Sprintf("[[quality]]\ndomain = \"*.%s\"\nseeds = [\"https://%s/\"]\n", host, host)
	}
	s.Host("a.test").Page(path, `<opml><outline htmlUrl="https://other.test/"/></opml>`).Type("text/x-opml")
	s.Host("b.test").Page(path, "<title>Nothing here</title>") // with a status of success
	s.Host("c.test").Redirect(path, "/list.opml", 301)
	s.Host("c.test").Page("/list.opml", `<opml><outline htmlUrl="https://other.test/"/></opml>`).Type("text/xml")
	s.Host("other.test").Page("/", "<title>Other</title>")
	dir := filepath.Join(t.TempDir(), "pages")
	cfg := crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", dir)+text))
	store := crawltest.Open(t, stateFile(t))
	var first string
	for run := range 2 {
		s.ResetLog()
		walk(t, store, cfg)
		checkMeaning(t, store)
		asked := map[string]int{}
		for _, e := range s.Log() {
			if e.Path == path {
				asked[e.Host]++
			}
		}
		if want := map[string]int{"a.test": 2, "b.test": 1, "c.test": 1, "d.test": 1}; !maps.Equal(asked, want) {
			t.Errorf("run %d: requests %v, want %v", run+1, asked, want)
		}
		pages, links := pagesOf(t, store, "a.test"+path)
		pages = slices.DeleteFunc(pages, func(p string) bool { return strings.HasSuffix(p, "/ processed Front") })
		pages = slices.DeleteFunc(pages, func(p string) bool { return strings.HasSuffix(p, "/ processed Sub") })
		want := []string{"https://a.test" + path + " processed", "https://c.test/list.opml processed",
			"https://other.test/ processed Other"}
		if !slices.Equal(pages, want) || !slices.Equal(links, []string{`https://other.test/ blogroll ""`}) {
			t.Errorf("run %d: pages %q, links %q", run+1, pages, links)
		}
		digest := must(survey.Digest(crawltest.Survey(t, store)))(t)
		if first = cmp.Or(first, digest); digest != first {
			t.Errorf("run %d has digest %s, want %s", run+1, digest, first)
		}
	}
	pruned := stateFile(t)
	must(store.Prune(t.Context(), pruned, 2))(t)
	if got := crawltest.Digest(t, pruned); got != first {
		t.Errorf("pruned, the map has digest %s, want %s", got, first)
	}
	if done, err := crawl.Replay(store, cfg); err != nil || done.Changed != 0 {
		t.Errorf("replayed %+v, %v", done, err)
	}
	checkMeaning(t, store)
	if got := must(survey.Digest(crawltest.Survey(t, store)))(t); got != first {
		t.Errorf("replayed, the map has digest %s, want %s", got, first)
	}
	imported := crawltest.Open(t, stateFile(t))
	importInto(t, imported, cfg, crawl.Archives{WARC: segments(t, dir)})
	if got := must(survey.Digest(crawltest.Survey(t, imported)))(t); got != first {
		t.Errorf("imported, the map has digest %s, want %s", got, first)
	}
}

// The list of a host is found however often the crawl is interrupted, and if the key is on only when it resumes.
func TestRecommendationsInterrupted(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("a.test").Page("/", "<title>Front</title>"+crawltest.Anchors("/1", "/2", "/3"))
	for _, path := range []string{"/1", "/2", "/3"} {
		s.Host("a.test").Page(path, "<title>Page</title>")
	}
	s.Host("a.test").Page("/.well-known/recommendations.opml", blogroll).Type("application/xml")
	s.Host("b.test").Page("/", "<title>Ben</title>")
	text := crawltest.Config(t, s, "[crawler]\nsitemaps = \"quality\"\nopml = true\n"+
		"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
	on, off := crawltest.Parse(t, text), crawltest.Parse(t, strings.Replace(text, "opml = true", "opml = false", 1))
	whole := stateFile(t)
	proceed(t, s, whole, on, 0)
	for most := 1; most < 12; most += 3 {
		for name, first := range map[string]*config.Config{"on": on, "off": off} {
			path := stateFile(t)
			proceed(t, s, path, first, most)
			proceed(t, s, path, on, 0)
			if got, want := crawltest.Digest(t, path), crawltest.Digest(t, whole); got != want {
				t.Errorf("%s until visit %d: digest %s, want %s", name, most, got, want)
			}
			crawltest.Verify(t, path)
		}
	}
}
