package render

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// An application is a web whose pages are one shell. Its 100 kB script, started by one of each page's own, fetches the
// content of the page, including 50 links, and displays it.
type application struct {
	asked atomic.Int64 // requests
}

const applicationShell = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>App</title></head><body><div id="app"></div>` +
	`<script src="/app.js"></script><script src="/route%s.js"></script></body></html>`

func (a *application) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked.Add(1)
	switch {
	case r.URL.Path == "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "/* %s */", strings.Repeat("nothing to run, and to be read. ", 3200))
		io.WriteString(w, `function show(path) {
			fetch("/data" + path).then((r) => r.json()).then((d) => {
				document.title = d.title;
				document.getElementById("app").innerHTML = d.links.map((to) => "<p><a href='" + to + "'>" + to + "</a></p>").join("")
					+ "<i id=done></i>";
			});
		}`)
	case strings.HasPrefix(r.URL.Path, "/route/"):
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "show(%q)", strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/route"), ".js"))
	case strings.HasPrefix(r.URL.Path, "/data/"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"title": %q, "links": [%s"/"]}`, r.URL.Path, strings.Repeat(`"/page/linked", `, 49))
	default:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, applicationShell, r.URL.Path)
	}
}

// fetched answers like a caller that has fetched everything from a server.
type fetched struct {
	client  *http.Client
	unnamed bool // the scripts that a page names are not fetched before it is rendered
	mu      sync.Mutex
	all     map[string]Answer
}

func (f *fetched) Answer(r Request) (Answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.all[r.URL]
	return a, ok
}

// get fetches a URL, unless it has been fetched before.
func (f *fetched) get(b *testing.B, url string) Answer {
	b.Helper()
	if a, ok := f.Answer(Request{http.MethodGet, Resource{URL: url}}); ok {
		return a
	}
	resp, err := f.client.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[url] = Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
	return f.all[url]
}

// render fetches a page and the scripts that it names, as a crawl does, and renders it again and again until nothing is
// missing. It also returns the number of rounds.
func (f *fetched) render(b *testing.B, r *Renderer, url string) (shown Rendering, rounds int) {
	b.Helper()
	got := f.get(b, url)
	named := regexp.MustCompile(`<(?:script[^>]* src|link [^>]*rel="modulepreload"[^>]* href)="([^"?%]+)"`)
	if !f.unnamed {
		base, err := neturl.Parse(url)
		if err != nil {
			b.Fatal(err)
		}
		for _, names := range named.FindAllSubmatch(got.Body, -1) {
			if to, err := base.Parse(string(names[1])); err == nil {
				f.get(b, to.String())
			}
		}
	}
	for {
		shown = render(b, r, Page{url, got.Status, got.Header, got.Body}, f)
		if rounds++; len(shown.Missing) == 0 {
			return shown, rounds
		}
		for _, missing := range shown.Missing {
			f.get(b, missing.URL)
		}
	}
}

// BenchmarkRender compares the cost of a page in three cases: fetched without rendering; rendered
// after all missing requests have been fetched; and displayed by chromedp without interception.
func BenchmarkRender(b *testing.B) {
	app := &application{}
	server := httptest.NewServer(app)
	defer server.Close()
	page := func(n int64) string { return server.URL + "/page/" + strconv.FormatInt(n, 10) }
	b.Run("fetching", func(b *testing.B) {
		app.measure(b, 1, nil, func(n int64) {
			resp, err := http.Get(page(n))
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	})
	for _, how := range []struct {
		name     string
		browsers int
		unnamed  bool
	}{{"rendering/nothing first", 1, true}, {"rendering/browsers=1", 1, false}, {"rendering/browsers=2", 2, false}} {
		b.Run(how.name, func(b *testing.B) {
			r := open(b, how.browsers)
			answers := &fetched{client: http.DefaultClient, all: map[string]Answer{}, unnamed: how.unnamed}
			groups := r.warm(b)
			app.measure(b, how.browsers, groups, func(n int64) {
				shown, _ := answers.render(b, r, page(n))
				if !bytes.Contains(shown.DOM, []byte(`id="done"`)) {
					b.Errorf("%s became %q", page(n), shown.DOM)
				}
			})
		})
	}
	b.Run("chromedp", func(b *testing.B) { app.browse(b, page) })
}

// warm starts every browser, and returns their process groups.
func (r *Renderer) warm(b *testing.B) (groups []int) {
	var held []*browser
	for range cap(r.idle) {
		one := <-r.idle
		if one == nil {
			var err error
			if one, err = start(context.WithoutCancel(b.Context()), r.options, r.limits.start); err != nil {
				b.Fatal(err)
			}
		}
		held, groups = append(held, one), append(groups, one.group)
	}
	for _, one := range held {
		r.idle <- one
	}
	return groups
}

// browse displays pages in the usual way of chromedp, each in a tab of its own.
func (a *application) browse(b *testing.B, page func(int64) string) {
	path, err := find("")
	if err != nil {
		b.Skip(err)
	}
	all, end := chromedp.NewExecAllocator(b.Context(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
			chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.ModifyCmdFunc(detach))...)
	defer end()
	ctx, end := chromedp.NewContext(all)
	defer end()
	if err := chromedp.Do(ctx); err != nil {
		b.Fatal(err)
	}
	a.measure(b, 1, []int{chromedp.FromContext(ctx).Browser.Process().Pid}, func(n int64) {
		tab, end := chromedp.NewContext(ctx)
		defer end()
		err := chromedp.Do(tab, chromedp.Navigate(page(n)), chromedp.WaitReady(chromedp.CSS("#done")))
		if err != nil {
			b.Error(err)
			return
		}
		text, err := chromedp.Run(tab, chromedp.OuterHTML(chromedp.CSS("html")))
		if err != nil || !strings.Contains(text, "/page/linked") {
			b.Errorf("%d became %q: %v", n, text, err)
		}
	})
}

// measure displays pages with a number of workers, and reports the cost per page.
func (a *application) measure(b *testing.B, workers int, groups []int, show func(n int64)) {
	asked, spent := a.asked.Load(), used(groups)
	var n atomic.Int64
	b.ResetTimer()
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				show(i)
			}
		})
	}
	done.Wait()
	b.StopTimer()
	pages := float64(b.N)
	b.ReportMetric(pages/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(a.asked.Load()-asked)/pages, "requests/page")
	if len(groups) == 0 {
		return
	}
	b.ReportMetric((used(groups)-spent).Seconds()*1000/pages, "browser-ms/page")
	var held int64
	for _, group := range groups {
		held += resident(group)
	}
	b.ReportMetric(float64(held>>20)/float64(len(groups)), "MB/browser")
}

// used returns the processor time of browsers.
func used(groups []int) (sum time.Duration) {
	for _, group := range groups {
		sum += processorTime(group)
	}
	return sum
}
