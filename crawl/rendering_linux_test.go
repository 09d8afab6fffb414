package crawl_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// router shows the documentation of docs.test: one shell for all its pages, texts and menu as JSON,
// and links that lead nowhere except through history.pushState.
const router = `
const app = document.getElementById("app");
const get = async (path) => {
  const answer = await fetch(path);
  return answer.ok ? answer.json() : { title: "Not there", links: [] };
};
async function show() {
  const menu = await get("/content/menu.json");
  const page = await get("/content" + (location.pathname === "/" ? "/index" : location.pathname) + ".json");
  document.title = page.title;
  const list = (links) => links.map((to) => '<a href="' + to + '">' + to + "</a>").join(" ");
  app.innerHTML = "<nav>" + list(menu.links) + "</nav><main><h1>" + page.title + "</h1>" + list(page.links) + "</main>";
}
app.addEventListener("click", (event) => {
  if (event.target.tagName !== "A") return;
  event.preventDefault();
  history.pushState({}, "", event.target.href);
  show();
});
setTimeout(show, 50 * Math.random());
`

// documentation serves that documentation.
func documentation(s *webtest.Server) {
	const shell = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Docs</title></head><body>` +
		`<noscript>You need to enable JavaScript to read this.</noscript><div id="app"></div>` +
		`<script type="module" src="/assets/router.js"></script></body></html>`
	docs := s.Host("docs.test")
	docs.Robots("User-agent: *\nDisallow: /content/internal\n")
	serve := func(path, kind, body string) {
		docs.Handle(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		})
	}
	serve("/assets/router.js", "text/javascript", router)
	serve("/content/menu.json", "application/json", `{"links": ["/", "/guide", "/api"]}`)
	for path, links := range map[string]string{
		"/index": `"/guide", "https://other.test/"`, "/guide": `"/guide/install", "/guide/run"`, "/api": `"/internal"`,
		"/guide/install": `"/api"`, "/guide/run": "", "/internal": `"/never"`,
	} {
		page := path
		if path == "/index" {
			page = "/"
		}
		docs.Page(page, shell)
		serve("/content"+path+".json", "application/json",
			fmt.Sprintf(`{"title": "The page %s", "links": [%s]}`, page, links))
	}
	s.Host("other.test").Page("/", "<title>Other</title><p>Plain text.</p>")
}

// A documentation that a router in the browser builds is mapped completely. The map is the same
// with one browser and with two whose processes are killed at random moments, and the page store has
// the rendered pages.
func TestRenderingBrowser(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := crawltest.Serve(t)
	documentation(s)
	titles := map[string]string{
		"https://docs.test/": "The page /", "https://docs.test/guide": "The page /guide",
		"https://docs.test/api":           "The page /api",
		"https://docs.test/guide/install": "The page /guide/install",
		"https://docs.test/guide/run":     "The page /guide/run",
		"https://docs.test/internal":      "Docs", "https://other.test/": "Other",
	}
	var digest string
	type crawling struct{ browsers, kills int }
	hows := []crawling{{2, 1}} // TestLivelyDigest compares with a crawl without kills
	if crawltest.Full() {
		hows = []crawling{{1, 0}, {2, 12}}
	}
	for _, how := range hows {
		text := crawltest.Config(t, s, fmt.Sprintf(`[render]
mode = "auto"
max-browsers = %d
timeout = "5m"
sandbox = %t
[retry]
max-retries = 100
[pages]
keep = true
path = %q
[[quality]]
domain = "docs.test"
seeds = ["https://docs.test/"]
`, how.browsers, os.Getuid() != 0, filepath.Join(t.TempDir(), "pages")))
		store := crawltest.Open(t, stateFile(t))
		killed := killBrowsers(t, how.kills, func() bool { return len(s.Log()) > 0 })
		walk(t, store, crawltest.Parse(t, text))
		killed()
		seen := crawltest.Survey(t, store)
		sawPages(t, seen, titles)
		now := must(survey.Digest(seen))(t)
		if digest == "" {
			digest = now
		}
		if now != digest {
			t.Errorf("with %d browsers and %d kills the digest differs", how.browsers, how.kills)
		}
		s.ResetLog()
		done, err := crawl.Replay(store, crawltest.Parse(t, text))
		if err != nil || done.Changed != 0 || done.Missing != 0 || done.Pages != len(titles) {
			t.Errorf("Replay = %+v, %v; want %d pages, none changed", done, err, len(titles))
		}
		if log := s.Log(); len(log) > 0 {
			t.Errorf("the replay asked %+v", log)
		}
	}
}

// needBrowser skips a test if there is no browser (fails it, under RIPPLE_CI=1).
func needBrowser(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	probe, err := render.Open(t.Context(), render.Options{Browsers: 1, NoSandbox: os.Getuid() == 0})
	if errors.Is(err, render.ErrNoBrowser) && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip(err)
	}
	if err == nil {
		err = probe.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sawPages checks that the documentation's pages are there, rendered, with their titles, except for
// the one whose script is denied.
func sawPages(t *testing.T, seen *survey.Survey, titles map[string]string) {
	t.Helper()
	n := 0
	err := seen.EachPage(func(p *survey.Page) error {
		want, ok := titles[p.URL]
		switch {
		case !ok || p.Visit == nil || p.State != schema.Processed:
			t.Errorf("%s is %s: %s", p.URL, p.State, p.Error)
			return nil
		case p.URL == "https://docs.test/internal":
			if p.Visit.Rendering&schema.RenderDenied == 0 {
				t.Errorf("%s: %s", p.URL, p.Visit.Rendering.Tell(p.Visit.Shell, p.Visit.Refusals))
			}
		case p.Visit.Title != want || p.URL != "https://other.test/" && p.Visit.Rendering != schema.Rendered:
			t.Errorf("%s: %q, %s; want %q", p.URL, p.Visit.Title, p.Visit.Rendering.Tell(p.Visit.Shell, p.Visit.Refusals), want)
		}
		n++
		return nil
	})
	if err != nil || n != len(titles) {
		t.Errorf("%d pages are there of %d: %v", n, len(titles), err)
	}
}

// A configuration with rendering is refused where nothing can render.
func TestRenderingNoBrowser(t *testing.T) {
	s := crawltest.Serve(t)
	rows := map[string]error{"browser = \"/nowhere/chromium\"": render.ErrNoBrowser}
	if os.Getuid() == 0 {
		rows[fmt.Sprintf("browser = %q", os.Args[0])] = render.ErrNoSandbox
	}
	for line, want := range rows {
		text := crawltest.Config(t, s, "[render]\nmode = \"auto\"\n"+line+"\n[[quality]]\ndomain = \"a.test\"\n"+
			"seeds = [\"https://a.test/\"]\n")
		store := crawltest.Open(t, stateFile(t))
		opts := crawl.Options{Config: crawltest.Parse(t, text), Log: slog.New(slog.DiscardHandler)}
		if _, _, err := crawl.Begin(t.Context(), store, opts); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", line, err, want)
		}
		if n := store.URLs(); n > 0 {
			t.Errorf("%s: %d URLs were recorded", line, n)
		}
	}
}
