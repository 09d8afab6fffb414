package page

import (
	"iter"
	"net/http"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxHeaderLinks is the number of links kept from the header of an answer.
const maxHeaderLinks = 100

// A headerLink is an absolute link from a header field.
type headerLink struct {
	url   string
	kinds schema.Kinds
	rel   schema.Rel
}

// headerLinks returns the links in the header of an answer: those of Refresh (HTML, "shared declarative
// refresh steps") and those of Link (RFC 8288) that mean the same as a <link>. They are relative to the URL of
// the answer, regardless of the page's <base>.
func headerLinks(header http.Header, base *weburl.Base, self string) []headerLink {
	var links []headerLink
	add := func(ref string, kinds schema.Kinds, rel schema.Rel) {
		if u, ok := absolute(ref, base); ok && kinds != 0 && len(links) < maxHeaderLinks {
			links = append(links, headerLink{u, kinds, rel})
		}
	}
	for _, value := range header.Values("Refresh") {
		if target := refreshTarget(strings.ToValidUTF8(value, "\ufffd")); target != "" {
			add(target, schema.Kinds(0).Add(schema.LinkRefresh), 0)
		}
	}
	for l := range linked(header, base, self) {
		rel := []byte(l.rel)
		add(l.target, relationKinds(rel, []byte(l.mediaType)), relFlags(rel))
	}
	return links
}

// relationKinds returns the kinds of the link in a <link> or a Link field with these relations and this media
// type. A feed is an alternative of a type of feeds (HTML, "link type alternate"; JSON Feed 1.1).
func relationKinds(rel, mediaType []byte) (kinds schema.Kinds) {
	if hasWord(rel, "canonical") {
		kinds = kinds.Add(schema.LinkCanonical)
	}
	if hasWord(rel, "alternate") {
		switch media.Extract(string(mediaType)).Essence {
		case "application/rss+xml", "application/atom+xml", "application/feed+json":
			kinds = kinds.Add(schema.LinkFeed)
		}
	}
	return kinds | personKinds(rel)
}

// personKinds returns the kinds by which a link, visible or not, says whose its target is.
func personKinds(rel []byte) (kinds schema.Kinds) {
	if hasWord(rel, "me") {
		kinds = kinds.Add(schema.LinkMe)
	}
	if hasWord(rel, "blogroll") {
		kinds = kinds.Add(schema.LinkBlogroll)
	}
	return kinds
}

// absolute resolves a reference, and keeps its scheme.
func absolute(ref string, base *weburl.Base) (string, bool) {
	u, err := base.Parse(ref)
	if u.HTTP {
		u.Form = "http" + strings.TrimPrefix(u.Form, "https")
	}
	return u.Form, err == nil
}

// linked yields the links of a page in the Link fields of its answer.
func linked(header http.Header, base *weburl.Base, self string) iter.Seq[linkValue] {
	return func(yield func(linkValue) bool) {
		for rest := strings.Join(header.Values("Link"), ","); rest != ""; {
			var l linkValue
			if l, rest = nextLink(rest); l.rel == "" {
				continue
			}
			u, err := base.Parse(l.anchor)
			if err == nil && u.Norm == self && !yield(l) { // otherwise it concerns another page
				return
			}
		}
	}
}

// A linkValue is one link of a Link field.
type linkValue struct {
	target    string
	rel       string // of the first parameter of that name; further ones are ignored, here and below
	anchor    string // "": the page itself
	mediaType string // as a hint
}

// nextLink parses the first link of a Link field (RFC 8288, appendix B.2). It skips text that is not a link.
func nextLink(s string) (l linkValue, rest string) {
	_, s, ok := strings.Cut(s, "<")
	if !ok {
		return l, ""
	}
	if l.target, s, ok = strings.Cut(s, ">"); !ok {
		return linkValue{}, ""
	}
	related, anchored, typed := false, false, false
	for {
		s = strings.TrimLeft(s, blanks)
		if s == "" || s[0] != ';' {
			_, rest, _ = strings.Cut(s, ",")
			return l, rest
		}
		var name, value string
		name, value, s = linkParameter(s[1:])
		switch {
		case strings.EqualFold(name, "rel") && !related:
			l.rel, related = value, true
		case strings.EqualFold(name, "anchor") && !anchored:
			l.anchor, anchored = value, true
		case strings.EqualFold(name, "type") && !typed:
			l.mediaType, typed = value, true
		}
	}
}

// linkParameter parses a parameter, up to the semicolon or comma after it.
func linkParameter(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		return strings.Trim(s, blanks), "", ""
	}
	name = strings.Trim(s[:end], blanks)
	if s[end] != '=' {
		return name, "", s[end:]
	}
	s = strings.TrimLeft(s[end+1:], blanks)
	if !strings.HasPrefix(s, `"`) {
		if end = strings.IndexAny(s, ";,"); end < 0 {
			end = len(s)
		}
		return name, strings.Trim(s[:end], blanks), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return name, b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return name, b.String(), ""
}
