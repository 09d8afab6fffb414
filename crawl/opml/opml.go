// Package opml reads lists in OPML 2.0 (https://opml.org/spec2.opml), such as blogrolls and lists of feeds.
//
// Lists are untrusted. Time is linear in the file, and memory is small, however the file is nested, encoded or
// truncated: the outlines are read one after the other, at any depth. Entities declared in a file are never
// expanded. What is readable in a damaged file counts.
package opml

import (
	"encoding/xml"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/sitemap"
)

// maxTitle is the longest title, in bytes; more is cut off.
const maxTitle = 8 << 10

// An Outline is an entry of a list that leads somewhere. Its values are as written, decoded.
type Outline struct {
	Text string // text or, without one, title
	HTML string // htmlUrl, relative to the list; empty: none
	Feed string // xmlUrl, relative to the list; empty: none
}

// Is reports whether a file is in OPML, by its first element. Of contentType only the charset counts.
func Is(body []byte, contentType string) (is bool) {
	sitemap.EachToken(body, contentType, most(body), func(t xml.Token) bool {
		root, found := t.(xml.StartElement)
		is = found && named(root.Name, "opml")
		return !found
	})
	return is
}

// most bytes are read of a file, decompressed.
func most(body []byte) int64 { return int64(len(body)) + 1 }

// Read calls f for the outlines of a list that lead somewhere, in their order, and returns the list's title. Of
// contentType only the charset counts.
func Read(body []byte, contentType string, f func(Outline)) (title string) {
	var text []byte
	within := false // the first <title>
	sitemap.EachToken(body, contentType, most(body), func(t xml.Token) bool {
		switch t := t.(type) {
		case xml.StartElement:
			within = named(t.Name, "title") && title == ""
			if o := outline(t.Attr); named(t.Name, "outline") && o.HTML+o.Feed != "" {
				f(o)
			}
		case xml.CharData:
			if within {
				text = append(text, t[:min(len(t), maxTitle-len(text))]...)
			}
		case xml.EndElement:
			if within {
				title, within = strings.TrimSpace(string(text)), false
			}
		}
		return true
	})
	return title
}

// named compares names as lists are written in practice, in any case.
func named(name xml.Name, want string) bool { return strings.EqualFold(name.Local, want) }

func outline(attributes []xml.Attr) (o Outline) {
	title := ""
	for _, a := range attributes {
		switch value := strings.TrimSpace(a.Value); strings.ToLower(a.Name.Local) {
		case "text":
			o.Text = value
		case "title":
			title = value
		case "htmlurl":
			o.HTML = value
		case "xmlurl":
			o.Feed = value
		}
	}
	if o.Text == "" {
		o.Text = title
	}
	return o
}
