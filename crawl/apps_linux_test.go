package crawl_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest/apps"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A drawnPage is a page of an application in the map.
type drawnPage struct {
	rendering schema.Rendering
	refusals  schema.Refusals
	signs     schema.Shell
	requests  int
	links     []string // targets of anchors
	shown     bool     // a link is there by scripts alone
}

// An appFigure counts what a crawl made of an application's pages.
type appFigure struct {
	needy, missed   int // pages that need scripts; of those, the ones that were not rendered
	complete, vain  int // complete pages; of those, the ones that were rendered
	brief           int // brief pages that were rendered
	links, lost     int // links that the browser shows; of those, the ones that the map lacks
	requests, drawn int // requests of rendered pages
}

// Applications as their frameworks build them are mapped as a browser with the whole network shows them: the pages that
// need their scripts are rendered, complete pages are not, and every page has the same links.
func TestApplications(t *testing.T) {
	all := map[string]*appFigure{}
	t.Cleanup(func() { judgeApplications(t, all) })
	for _, app := range apps.All() {
		figure := &appFigure{}
		all[app.Name] = figure
		t.Run(app.Name, func(t *testing.T) {
			t.Parallel()
			folder := app.Build(t)
			needBrowser(t)
			s := crawltest.Serve(t)
			host := app.Name + ".test"
			app.Serve(t, s.Host(host), folder)
			text := fmt.Sprintf(appConfig, 1, os.Getuid() != 0, host, host)
			pages := drawnPages(t, crawled(t, s, text))
			browser := apps.OpenBrowser(t, s, func(*exec.Cmd) {})
			for path, kind := range app.Pages {
				url := "https://" + host + path
				got, ok := pages[url]
				if !ok {
					t.Errorf("%s is not in the map", url)
					continue
				}
				want := browser.Links(t, "https://"+host+app.Link(path), time.Second)
				for i := range want { // the map knows both spellings as one page
					want[i] = strings.TrimSuffix(want[i], "/")
				}
				slices.Sort(want)
				figure.add(t, url, kind, got, want)
			}
		})
	}
}

const appConfig = `[render]
mode = "auto"
max-browsers = %d
timeout = "5m"
sandbox = %t
[[quality]]
domain = %q
seeds = ["https://%s/"]
`

// add counts a page, and compares its links with those that the browser shows.
func (f *appFigure) add(t *testing.T, url string, kind apps.Kind, got drawnPage, want []string) {
	rendered := got.rendering&schema.Rendered != 0
	switch {
	case kind.NeedsScripts():
		f.needy++
		if !rendered {
			f.missed++
			t.Logf("%s needs its scripts, and was not rendered", url)
		} else if !got.shown {
			t.Errorf("%s does not need its scripts: none of its links is from there", url)
		}
	case kind == apps.Brief && rendered:
		f.brief++
	case kind == apps.Complete:
		f.complete++
		if rendered {
			f.vain++
			t.Logf("%s is complete, and was rendered: %s", url, got.signs)
		}
	}
	if rendered {
		f.drawn++
		f.requests += got.requests
	}
	f.links += len(want)
	for _, link := range want {
		if !slices.Contains(got.links, link) {
			f.lost++
		}
	}
	if (rendered || !kind.NeedsScripts()) && !slices.Equal(want, got.links) {
		t.Errorf("%s, %s: links\n%s\nbut the browser shows\n%s", url,
			got.rendering.Tell(got.signs, got.refusals), strings.Join(got.links, "\n"), strings.Join(want, "\n"))
	}
}

// judgeApplications logs the figures and checks the rates.
func judgeApplications(t *testing.T, all map[string]*appFigure) {
	var sum appFigure
	for _, app := range apps.All() {
		f := all[app.Name]
		if f.needy == 0 {
			continue // it was not built
		}
		t.Logf("%-10s %2d of %2d missed, %d of %2d rendered in vain, %d brief; %d of %3d links lost; %.1f requests a page",
			app.Name, f.missed, f.needy, f.vain, f.complete, f.brief, f.lost, f.links,
			float64(f.requests)/float64(max(f.drawn, 1)))
		sum.needy += f.needy
		sum.missed += f.missed
		sum.complete += f.complete
		sum.vain += f.vain
	}
	if sum.missed*20 >= sum.needy && sum.missed > 0 {
		t.Errorf("%d of %d pages that need their scripts were missed", sum.missed, sum.needy)
	}
	if sum.vain*100 >= sum.complete && sum.vain > 0 {
		t.Errorf("%d of %d complete pages were rendered", sum.vain, sum.complete)
	}
}

// drawnPages returns the pages of a map by URL.
func drawnPages(t *testing.T, store *kv.Store) map[string]drawnPage {
	t.Helper()
	seen := crawltest.Survey(t, store)
	pages, names := map[string]drawnPage{}, map[schema.ID]string{}
	err := seen.EachPage(func(p *survey.Page) error {
		names[p.ID] = p.URL
		if p.Visit != nil {
			pages[p.URL] = drawnPage{rendering: p.Visit.Rendering, refusals: p.Visit.Refusals, signs: p.Visit.Shell,
				requests: p.Visit.RenderAsked}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = seen.Links.Each(func(from schema.ID, link schema.Link, _, _ schema.RunID) error {
		page := pages[names[from]]
		if link.Kinds.Has(schema.LinkAnchor) {
			page.links = append(page.links, strings.TrimSuffix(names[link.To], "/"))
			page.shown = page.shown || link.Rendered
			pages[names[from]] = page
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		slices.Sort(page.links)
	}
	return pages
}
