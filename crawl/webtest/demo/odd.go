package demo

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// oddities adds the irregular parts of the web.
func oddities(s *webtest.Server) {
	villageOddities(s.Host("alderford.test"))
	journalOddities(s.Host("hedgerow-journal.test"))
	radioOddities(s.Host("saltmarsh-radio.test"))

	// The bakery has no name without www.: the handshake fails, as on a server that does not know the
	// site.
	s.Host("millers-bakery.test").Down(webtest.DownRefused)
	s.Host("gone-fishing.test").Down(webtest.DownRefused)

	orchard := s.Host("old-orchard.test")
	orchard.Redirect("/press-house", "/cider-house", 302)
	orchard.Redirect("/cider-house", "/press-house", 302)
	orchard.Page("/prices", "<title>Prix du caf\xe9 - The Old Orchard</title><h1>Caf\xe9</h1>\n"+
		"<a href=\"/press-house\">The press house</a>\n").Type("text/html; charset=windows-1252")
	orchard.Page("/about", linkPage("About - The Old Orchard", "/prices", "https://millers-bakery.test/bread/"))

	kestrel := s.Host("kestrel-notes.test")
	kestrel.Redirect("/code", "https://codeshelf.test/kestrel/logbook", 302)
	kestrel.Page("/about", linkPage("About - Kestrel Notes", "/code", "/journal"))

	choirOddities(s.Host("lantern-choir.test"))
	s.Host("night-ferry.test").Robots("User-agent: *\nCrawl-delay: 0.2\n")
	for _, unwanted := range []string{"codeshelf.test", "pixelcount.test", "*.pixelcount.test"} {
		s.Host(unwanted).Page("*", linkPage("Nobody should have come here", "/more"))
	}
}

func linkPage(title string, hrefs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<title>%s</title>\n<h1>%s</h1>\n", title, title)
	for _, href := range hrefs {
		b.WriteString(anchor(href, nameFrom(href)))
	}
	return b.String()
}

// villageOddities adds a chain of redirects, a document, dead links, and links with unusual
// spellings.
func villageOddities(h *webtest.Host) {
	h.Redirect("/old-minutes", "/council/minutes.html", 301)
	h.Redirect("/council/minutes.html", "/council", 302)
	h.Redirect("/council", "/minutes/", 301)
	h.Page("/files/footpaths.pdf", "%PDF-1.4\n% Footpaths of the parish\n%%EOF\n").Type("application/pdf")
	h.Status("/guestbook", http.StatusGone)
	h.Page("/about", linkPage("About - Alderford", "/old-minutes", "/files/footpaths.pdf", "/guestbook",
		"/news/fete-2011", "/walks", "/./people/../news/?utm_source=newsletter", "https://WWW.Alderford.test:443/#top",
		"https://pixelcount.test/click?id=7", "mailto:clerk@alderford.test"))
	h.Robots("User-agent: *\nDisallow: /private/\n\nSitemap: https://alderford.test/sitemap.xml\n")
	h.Page("/sitemap.xml", sitemap("https://alderford.test/",
		"https://alderford.test/roll-of-honour")).Type("application/xml")
	h.Page("/roll-of-honour", linkPage("Roll of Honour - Alderford", "/"))
}

const journalRobots = "# Drafts are not ready to be read.\n" +
	"User-agent: *\nDisallow: /drafts/\nAllow: /drafts/published\n"

// journalOddities adds robots.txt rules, a noindex page, two addresses of one page, and paid links.
func journalOddities(h *webtest.Host) {
	h.Robots(journalRobots)
	h.Page("/drafts/owl", linkPage("An unfinished owl", "/"))
	h.Page("/drafts/published", linkPage("Drafts that made it", "/spring/"))
	h.Page("/subscribers", "<title>For subscribers</title><meta name=\"robots\" content=\"noindex\">"+
		anchor("/spring/", "Spring"))
	h.Page("/print", "<title>Print edition</title><link rel=\"canonical\" href=\"/about\">"+anchor("/about", "About"))
	h.Page("/about", linkPage("About - The Hedgerow Journal", "/drafts/owl", "/drafts/published", "/subscribers",
		"/print", "/print?utm_campaign=spring")+
		"<a rel=\"sponsored nofollow\" href=\"https://ads.pixelcount.test/wellington-boots\">Wellington boots</a>\n")
}

// radioOddities adds a page that is unavailable at first, one with a refresh, and a slow one.
func radioOddities(h *webtest.Host) {
	h.Page("/archive", linkPage("Archive - Saltmarsh Radio", "/programmes/")).Times(1, http.StatusServiceUnavailable,
		nil)
	h.Page("/live", "<title>Live</title><meta http-equiv=\"refresh\" content=\"0; url=/programmes/\">")
	h.Page("/about", linkPage("About - Saltmarsh Radio", "/archive", "/live",
		"/studio-tour")).Delay(300 * time.Millisecond)
}

// choirOddities adds a rate limit, which applies once.
func choirOddities(h *webtest.Host) {
	h.Page("/rehearsals", linkPage("Rehearsals - The Lantern Choir", "/songs/")).
		Times(1, http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}})
	h.Page("/about", linkPage("About - The Lantern Choir", "/rehearsals"))
}

func sitemap(urls ...string) string { return sitemapOf(urls, func(int) string { return "" }) }

// sitemapOf returns a sitemap with more about the i-th page.
func sitemapOf(urls []string, more func(i int) string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
		"<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for i, u := range urls {
		fmt.Fprintf(&b, "<url><loc>%s</loc>%s</url>\n", u, more(i))
	}
	return b.String() + "</urlset>\n"
}
