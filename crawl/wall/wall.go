// Package wall recognises walls: answers with which a server, or a service in front of it, asks a visitor to prove
// that it is a browser. Such an answer is not a page, whatever its status is.
//
// What a wall looks like is data, see [Rules]; README.md tells how to add a rule. Titles, running text, cookies and
// a vendor's script on a page that has content are never a sign: honest pages have them, too.
package wall

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// littleText is how much text a page of [LittleText] has less than, in bytes.
const littleText = 1 << 10

// Detect returns the rule that an answer of a host matches; nil: it is not a wall. The body is without content
// coding; nil if it was not read, or is not HTML.
func Detect(status int, header http.Header, body []byte, host string) *Rule {
	var s *signs
	for _, r := range Rules() {
		if r.Statuses != nil && !slices.Contains(r.Statuses, status) {
			continue
		}
		if r.Where == HeaderField {
			if r.inHeader(header) {
				return &r
			}
			continue
		}
		if !r.mentioned(body) {
			continue
		}
		if s == nil {
			s = signsOf(body, host)
		}
		if r.matches(s) {
			return &r
		}
	}
	return nil
}

// inHeader reports whether a member of the field's values is one of the patterns.
func (r *Rule) inHeader(header http.Header) bool {
	for _, value := range header.Values(r.Field) {
		for member := range strings.SplitSeq(value, ",") {
			member, _, _ = strings.Cut(member, ";")
			if slices.Contains(r.Patterns, strings.ToLower(strings.TrimSpace(member))) {
				return true
			}
		}
	}
	return false
}

// mentioned reports whether a body contains a pattern anywhere. Few do, so few are parsed.
func (r *Rule) mentioned(body []byte) bool {
	return slices.ContainsFunc(r.Patterns, func(p string) bool { return contains(body, p) })
}

// contains reports whether a body contains a pattern. It searches for the part that begins with a dot or an underscore:
// these are rarer in pages than slashes and letters, so that much longer pieces are skipped.
func contains(body []byte, pattern string) bool {
	rare := max(0, strings.IndexAny(pattern, "._"))
	before, from := []byte(pattern[:rare]), []byte(pattern[rare:])
	for at := 0; ; at++ {
		i := bytes.Index(body[at:], from)
		if i < 0 {
			return false
		}
		if at += i; bytes.HasSuffix(body[:at], before) {
			return true
		}
	}
}

func (r *Rule) matches(s *signs) bool {
	if s.holds&r.Needs != r.Needs {
		return false
	}
	in := map[Place][]string{ScriptID: s.ids, ScriptText: s.scripts, Resource: append(s.resources, s.scripts...)}[r.Where]
	return slices.ContainsFunc(in, func(found string) bool {
		return slices.ContainsFunc(r.Patterns, func(p string) bool {
			return found == p || r.Where != ScriptID && strings.Contains(found, p)
		})
	})
}

// signs are the parts of a page in which rules look.
type signs struct {
	ids       []string // of scripts
	scripts   []string // texts
	resources []string // addresses
	holds     Condition
}

// signsOf reads a page of a host.
func signsOf(body []byte, host string) *signs {
	s, text, titled, links := &signs{}, 0, false, false
	z := html.NewTokenizer(bytes.NewReader(body))
	var in atom.Atom // the element whose text comes next, if it is not shown
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !links {
				s.holds |= NoOwnLinks
			}
			if !titled && text < littleText {
				s.holds |= LittleText
			}
			return s
		case html.TextToken:
			shown := strings.TrimSpace(string(z.Text()))
			switch in {
			case atom.Script:
				s.scripts = append(s.scripts, shown)
			case atom.Title:
				titled = titled || shown != ""
			case atom.Style:
			default:
				text += len(shown)
			}
		case html.EndTagToken:
			in = 0
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			in = 0
			switch t.DataAtom {
			case atom.Script, atom.Style, atom.Title:
				in = t.DataAtom
			}
			s.start(&t, host)
			links = links || t.DataAtom == atom.A && leadsOn(attribute(&t, "href"), host)
		}
	}
}

// start notes what a start tag on a page of a host shows. Resources of other hosts are not signs.
func (s *signs) start(t *html.Token, host string) {
	resource := ""
	switch t.DataAtom {
	case atom.Script:
		s.ids = append(s.ids, attribute(t, "id"))
		resource = attribute(t, "src")
	case atom.Img, atom.Iframe, atom.Frame:
		resource = attribute(t, "src")
	case atom.Link:
		resource = attribute(t, "href")
	case atom.Meta:
		if strings.EqualFold(attribute(t, "name"), "robots") &&
			strings.Contains(strings.ToLower(attribute(t, "content")), "noindex") {
			s.holds |= NoIndex
		}
	}
	if leadsOn(resource, host) {
		s.resources = append(s.resources, resource)
	}
}

// leadsOn reports whether an address on a page of a host leads to something else there.
func leadsOn(href, host string) bool {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || u.Opaque != "" || u.Path == "" && u.RawQuery == "" && u.Host == "" {
		return false
	}
	if u.Scheme != "" && u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	return u.Host == "" || strings.EqualFold(strings.TrimPrefix(u.Host, "www."), strings.TrimPrefix(host, "www."))
}

func attribute(t *html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
