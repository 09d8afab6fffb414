package render

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/apps"
)

// BenchmarkApplications compares the processor time of a page of a framework in two cases: rendered after all missing
// requests have been fetched, and displayed by chromedp, with the whole network, until that is idle.
func BenchmarkApplications(b *testing.B) {
	for _, app := range apps.All() {
		b.Run(app.Name, func(b *testing.B) {
			folder := app.Build(b)
			s, err := webtest.New()
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			host := app.Name + ".test"
			app.Serve(b, s.Host(host), folder)
			var pages []string
			for _, path := range slices.Sorted(maps.Keys(app.Pages)) {
				if app.Pages[path].NeedsScripts() {
					pages = append(pages, "https://"+host+app.Link(path))
				}
			}
			b.Run("rendering", func(b *testing.B) { renderAll(b, s, pages) })
			b.Run("chromedp", func(b *testing.B) {
				browser := apps.OpenBrowser(b, s, detach)
				measurePages(b, s, browser.PID, pages, func(url string) { browser.Links(b, url, 0) })
			})
		})
	}
}

// renderAll renders pages with what was fetched for those before.
func renderAll(b *testing.B, s *webtest.Server, pages []string) {
	r := open(b, 1)
	answers := &fetched{client: &http.Client{Transport: s.Transport()}, all: map[string]Answer{}}
	defer answers.client.CloseIdleConnections()
	rounds := 0
	measurePages(b, s, r.warm(b)[0], pages, func(url string) {
		_, n := answers.render(b, r, url)
		rounds += n
	})
	b.ReportMetric(float64(rounds)/float64(b.N), "rounds/page")
}

// measurePages displays b.N pages, in turn, and reports what a page costs.
func measurePages(b *testing.B, s *webtest.Server, group int, pages []string, show func(url string)) {
	s.ResetLog()
	spent := processorTime(group)
	b.ResetTimer()
	for i := range b.N {
		show(pages[i%len(pages)])
	}
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric((processorTime(group)-spent).Seconds()*1000/n, "browser-ms/page")
	b.ReportMetric(float64(len(s.Log()))/n, "requests/page")
}
