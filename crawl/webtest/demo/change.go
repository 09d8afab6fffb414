package demo

import (
	"fmt"
	"net/http"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// Change turns the web that [Serve] added into the web of some weeks later: a page is gone, one has
// moved, one has other text and one another title, a new page links to a new host, and the host of the
// choir is down. The sitemaps of the two largest sites say which of their pages are unchanged.
func Change(s *webtest.Server) {
	valley := map[string]*site{}
	for _, one := range sites() {
		one.write()
		valley[one.host] = &one
	}
	changeVillage(s, valley["alderford.test"])
	changeJournal(s, valley["hedgerow-journal.test"])
	changeRadio(s, valley["saltmarsh-radio.test"])

	archive := valley["archive.alderford.test"]
	s.Host(archive.host).Page("/about", archive.page("About the archive and its keeper", archive.prose(3, nil)))
	s.Host("lantern-choir.test").Down(webtest.DownRefused)
}

// changeVillage adds an article that links to a new host, and removes one.
func changeVillage(s *webtest.Server, d *site) {
	h := s.Host(d.host)
	gauge := article{"news", "The Flood Gauge", "/news/the-flood-gauge"}
	gone := d.articles[d.each] // the first of the second section
	h.Status(gone.path, http.StatusNotFound)

	old := d.articles
	d.articles = append([]article{gauge}, old...)
	h.Page("/", d.page(d.name, d.front())).Gzip()
	h.Page("/news/", d.page(heading("news"), d.sectionList("news")))
	h.Page(gauge.path, d.page(gauge.title, d.prose(3, []string{anchor("https://rill-gauge.test/", "Rill gauge")})))
	s.Host("rill-gauge.test").Page("/", linkPage("The Rill Gauge: the level of the river, every hour",
		"https://alderford.test/"))
	h.Page("/sitemap.xml", datedSitemap(append(d.unchanged(old, gone.path),
		"https://alderford.test/roll-of-honour")...)).Type("application/xml")
}

// changeJournal moves an article.
func changeJournal(s *webtest.Server, d *site) {
	h := s.Host(d.host)
	moved := &d.articles[3*d.each] // the first of the last section
	from := moved.path
	moved.path = "/almanac" + from
	h.Redirect(from, moved.path, http.StatusMovedPermanently)
	h.Page(moved.path, d.page(moved.title, d.prose(5, nil))).Gzip()
	h.Page("/sitemap.xml", datedSitemap(d.unchanged(d.articles, moved.path)...)).Type("application/xml")
	h.Robots(journalRobots + "\nSitemap: https://hedgerow-journal.test/sitemap.xml\n")
}

// changeRadio rewrites an article.
func changeRadio(s *webtest.Server, d *site) {
	again := d.articles[0]
	s.Host(d.host).Page(again.path, d.page(again.title, "<p>This programme has ended.</p>\n"+d.prose(2, nil))).
		ETag(`"ended"`)
}

// unchanged returns the addresses of the articles except one.
func (d *site) unchanged(articles []article, except string) (urls []string) {
	for _, a := range articles {
		if a.path != except {
			urls = append(urls, d.url(a.path))
		}
	}
	return urls
}

// datedSitemap returns a sitemap that says of each page when it last changed, which was long ago.
func datedSitemap(urls ...string) string {
	return sitemapOf(urls, func(i int) string { return fmt.Sprintf("<lastmod>2024-03-%02d</lastmod>", 1+i%28) })
}
