package page

import (
	"iter"
	"net/http"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxHeaderLinks is the number of links kept from the header of an answer.
const maxHeaderLinks = 100

// A headerLink is an absolute link from a header field.
type headerLink struct {
	url  string
	kind schema.LinkKind
}

// headerLinks returns the links in the header of an answer: those of Refresh (HTML, "shared declarative
// refresh steps") and of Link with rel=canonical (RFC 8288). They are relative to the URL of the answer,
// regardless of the page's <base>.
func headerLinks(header http.Header, base *weburl.Base, self string) []headerLink {
	var links []headerLink
	add := func(ref string, kind schema.LinkKind) {
		if u, ok := absolute(ref, base); ok && len(links) < maxHeaderLinks {
			links = append(links, headerLink{u, kind})
		}
	}
	for _, value := range header.Values("Refresh") {
		if target := refreshTarget(strings.ToValidUTF8(value, "\ufffd")); target != "" {
			add(target, schema.LinkRefresh)
		}
	}
	for target := range linked(header, "canonical", base, self) {
		add(target, schema.LinkCanonical)
	}
	return links
}

// absolute resolves a reference, and keeps its scheme.
func absolute(ref string, base *weburl.Base) (string, bool) {
	u, err := base.Parse(ref)
	if u.HTTP {
		u.Form = "http" + strings.TrimPrefix(u.Form, "https")
	}
	return u.Form, err == nil
}

// linked yields the targets of the links of a page in the Link fields of its answer that have a relation.
func linked(header http.Header, rel string, base *weburl.Base, self string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := strings.Join(header.Values("Link"), ","); rest != ""; {
			var l linkValue
			if l, rest = nextLink(rest); !hasWord([]byte(l.rel), rel) {
				continue
			}
			u, err := base.Parse(l.anchor)
			if err == nil && u.Norm == self && !yield(l.target) { // otherwise it concerns another page
				return
			}
		}
	}
}

// A linkValue is one link of a Link field.
type linkValue struct {
	target string
	rel    string // of the first parameter of that name; further ones are ignored
	anchor string // "": the page itself
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
	related, anchored := false, false
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
