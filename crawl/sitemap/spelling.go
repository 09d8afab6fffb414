package sitemap

import (
	"net"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Named returns the sitemaps in the value of a Sitemap line of a robots.txt fetched from base: absolute http
// and https URLs, in the spellings that [Parse] accepts.
func Named(value, base string) []string {
	l, refs := newLocator(base), []string(nil)
	for _, ref := range split(value) {
		if ref = l.resolve(ref); ref != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}

// split returns the references in a text: one, or several absolute URLs separated by blanks, commas or the
// like.
func split(text string) []string {
	text = undecorated(text)
	at := between().FindAllStringIndex(text, -1)
	if len(at) == 0 || !isAbsolute(text) {
		return []string{text}
	}
	var refs []string
	from := 0
	for _, m := range at {
		refs = append(refs, undecorated(text[from:m[0]]))
		from = m[0] + strings.Index(strings.ToLower(text[m[0]:m[1]]), "http")
	}
	return append(refs, undecorated(text[from:]))
}

var between = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\s+[,;|]?\s*|[,;|]\s+|["'>][,;|]?)["'<]?https?://`)
})

// undecorated removes what is written around a URL: blanks, quotes, angle brackets, and a comma or semicolon
// after it.
func undecorated(s string) string {
	for {
		before := s
		s = strings.TrimRight(clean(s), ",")
		if !strings.Contains(s, "&") { // the semicolon may be part of an entity
			s = strings.TrimRight(s, ";")
		}
		for _, pair := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"<", ">"}, {"\u201c", "\u201d"},
			{"\u201e", "\u201c"}, {"\u00ab", "\u00bb"}, {"\u2018", "\u2019"}} {
			if inner, ok := strings.CutPrefix(s, pair[0]); ok {
				s = strings.TrimSuffix(inner, pair[1])
			} else if isAbsolute(s) {
				s = strings.TrimSuffix(s, pair[1])
			}
		}
		if s == before {
			return s
		}
	}
}

// respelled repairs the start of a URL with a scheme: "https:/host", "https//host", "https:\\host" and
// "http://https://host" are "https://host". Text before the scheme, as in "[https://host]" or "Sitemap:
// https://host", is removed if it cannot be the start of a reference, and in that case also text after the
// URL.
func respelled(s string) string {
	at := schemes().FindStringSubmatchIndex(s)
	if at == nil || strings.ContainsAny(s[:at[0]], `/\?#.`) || at[0] > 0 && isNameByte(s[at[0]-1]) {
		return s
	}
	if at[0] > 0 {
		if end := strings.IndexAny(s[at[1]:], "\"'<>()[] "); end >= 0 {
			s = s[:at[1]+end]
		}
	}
	rest := s[at[1]:]
	if i := strings.IndexAny(rest+"?", "?#"); strings.Contains(rest[:i], `\`) {
		rest = strings.ReplaceAll(rest[:i], `\`, "/") + rest[i:]
	}
	return s[at[2]:at[3]] + "://" + rest
}

var schemes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:(https?)(?::[/\\]*|[/\\]{2,}))+`)
})

func isNameByte(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// hosted adds the scheme "https" to a reference that begins with a host but no scheme, such as
// "example.com/a". The host must be of the base's own site, or a name with a listed suffix followed by a
// path; a file name such as "a.html" is neither.
func (l locator) hosted(ref string) (string, bool) {
	i := strings.IndexAny(ref, "/?#")
	if i < 0 {
		i = len(ref)
	}
	name := strings.ToLower(ref[:i])
	if host, port, err := net.SplitHostPort(name); err == nil && isDigits(port) {
		name = host
	}
	if !strings.Contains(strings.Trim(name, "."), ".") || strings.Contains(name, "..") || name[0] == '.' ||
		strings.ContainsAny(name, ":@%") || l.authority == "" {
		return "", false
	}
	_, own, _ := strings.Cut(l.authority, "://")
	_, listed := publicsuffix.PublicSuffix(name)
	if weburl.Site(name) != weburl.Site(own) && (!listed || i == len(ref)) {
		return "", false
	}
	return "https://" + ref, true
}
