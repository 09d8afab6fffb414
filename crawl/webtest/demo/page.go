package demo

import (
	"fmt"
	"html"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

// A site is one site of the demonstration: a front page, an about page, a list for each section, and
// articles.
type site struct {
	host, name, motto, author string
	quality                   bool
	sections                  []string
	each                      int // articles per section
	subjects                  []string
	friends                   []string // links to other sites

	dice     prose.Dice
	articles []article
}

type article struct {
	section, title, path string
}

func (d *site) url(path string) string { return "https://" + d.host + path }

// write chooses the titles. Subjects and patterns advance at different speeds, so no two articles of a
// site share a title.
func (d *site) write() {
	for _, c := range []byte(d.host) {
		d.dice.State = d.dice.State*31 + uint64(c)
	}
	patterns := []string{"The %s", "Notes on the %s", "%s, revisited", "A word about the %s",
		"What the %s taught us", "%s in the rain"}
	first := int(d.dice.Next() % uint64(len(patterns)))
	for i := range len(d.sections) * d.each {
		subject := d.subjects[i%len(d.subjects)]
		title := fmt.Sprintf(patterns[(first+i/len(d.subjects))%len(patterns)], subject)
		section := d.sections[i/d.each]
		d.articles = append(d.articles, article{section, title, "/" + section + "/" + slug(title)})
	}
}

func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return r < 'a' || r > 'z' })
	return strings.Join(words, "-")
}

// serve adds the pages. A section without its trailing slash redirects, as is common.
func (d *site) serve(s *webtest.Server) {
	h := s.Host(d.host)
	h.Page("/", d.page(d.name, d.front())).Gzip()
	h.Page("/about", d.page("About", d.prose(3, nil)))
	for _, section := range d.sections {
		h.Page("/"+section+"/", d.page(heading(section), d.sectionList(section)))
		h.Redirect("/"+section, "/"+section+"/", 301)
	}
	for i, a := range d.articles {
		h.Page(a.path, d.page(a.title, d.prose(5, d.related(i)))).Gzip().
			ETag(fmt.Sprintf(`"%s-%d"`, a.section, i))
	}
}

// page puts the site's frame around the content.
func (d *site) page(title, content string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"+
		"<meta name=\"author\" content=\"%s\">\n</head>\n<body>\n<header><strong>%s</strong> <em>%s</em></header>\n"+
		"<nav>\n",
		html.EscapeString(d.inFull(title)), html.EscapeString(d.author), html.EscapeString(d.name),
		html.EscapeString(d.motto))
	b.WriteString(anchor("/", "Home"))
	for _, section := range d.sections {
		b.WriteString(anchor("/"+section+"/", heading(section)))
	}
	fmt.Fprintf(&b, "</nav>\n<main>\n<h1>%s</h1>\n%s</main>\n<footer>\n%s<small>%s, and friends</small>\n</footer>\n"+
		"</body>\n</html>\n",
		html.EscapeString(title), content, anchor("/about", "About this site"), html.EscapeString(d.author))
	return b.String()
}

func (d *site) inFull(title string) string {
	if title == d.name {
		return d.name + ": " + d.motto
	}
	return title + " - " + d.name
}

func heading(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func anchor(href, text string) string {
	return fmt.Sprintf("<a href=\"%s\">%s</a>\n", html.EscapeString(href), html.EscapeString(text))
}

// front returns the content of the front page: prose, new articles, and links to friends.
func (d *site) front() string {
	var b strings.Builder
	b.WriteString(d.prose(2, nil) + "<h2>New here</h2>\n<ul>\n")
	for _, a := range d.articles[:3] {
		b.WriteString("<li>" + anchor(a.path, a.title))
	}
	b.WriteString("</ul>\n<aside>\n<h2>Our neighbours</h2>\n")
	for _, friend := range d.friends {
		b.WriteString(anchor(friend, nameFrom(friend)))
	}
	return b.String() + "</aside>\n"
}

// nameFrom makes the anchor text of a link from the first label of the host and the path.
func nameFrom(href string) string {
	host, path := "", href
	if _, rest, ok := strings.Cut(href, "://"); ok {
		host, path, _ = strings.Cut(rest, "/")
		host, _, _ = strings.Cut(strings.TrimPrefix(strings.ToLower(host), "www."), ".")
	}
	path, _, _ = strings.Cut(path, "?")
	words := strings.FieldsFunc(host+"/"+path, func(r rune) bool { return strings.ContainsRune("/-.#:", r) })
	if len(words) == 0 {
		return "Home"
	}
	return heading(strings.Join(words, " "))
}

func (d *site) sectionList(section string) string {
	var b strings.Builder
	b.WriteString(d.prose(1, nil) + "<ul>\n")
	for _, a := range d.articles {
		if a.section == section {
			b.WriteString("<li>" + anchor(a.path, a.title))
		}
	}
	return b.String() + "</ul>\n"
}

// related returns links for the text of an article: two to others of the site and, in every third
// article, one to a friend.
func (d *site) related(i int) []string {
	n := uint64(len(d.articles))
	var links []string
	for range 2 {
		a := d.articles[d.dice.Next()%n]
		links = append(links, anchor(a.path, strings.ToLower(a.title)))
	}
	if i%3 == 0 && len(d.friends) > 0 {
		friend := d.friends[i/3%len(d.friends)]
		links = append(links, anchor(friend, nameFrom(friend)))
	}
	return links
}

// prose returns a number of paragraphs with the links spread over them.
func (d *site) prose(paragraphs int, links []string) string {
	var b strings.Builder
	for i := range paragraphs {
		b.WriteString("<p>")
		for range 3 + d.dice.Next()%3 {
			b.WriteString(prose.Sentence(&d.dice) + "\n")
		}
		if i < len(links) {
			b.WriteString("See also " + links[i])
		}
		b.WriteString("</p>\n")
	}
	return b.String()
}
