package sitemap

import (
	"net/url"
	"strings"
	"unicode"
)

const maxLoc = 8 << 10

// A locator makes the URLs of one sitemap absolute. It joins texts and leaves dots, encoding and case to
// later normalization.
type locator struct {
	scheme    string // "https:"
	authority string // "https://example.com"
	document  string // without query
	folder    string // up to the last slash
}

func newLocator(base string) locator {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || !isAbsolute(base) {
		return locator{}
	}
	authority := u.Scheme + "://" + u.Host
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return locator{
		scheme:    u.Scheme + ":",
		authority: authority,
		document:  authority + path,
		folder:    authority + path[:strings.LastIndexByte(path, '/')+1],
	}
}

// resolve returns an absolute http or https URL, or "" if there is none.
func (l locator) resolve(ref string) string {
	ref = respelled(undecorated(ref))
	if ref == "" || len(ref) > maxLoc || ref[0] == '#' || isEntity(ref) {
		return ""
	}
	if isAbsolute(ref) {
		return ref
	}
	if absolute, ok := l.hosted(ref); ok {
		return absolute
	}
	switch {
	case hasScheme(ref) || l.scheme == "":
		return ""
	case strings.HasPrefix(ref, "//"):
		if len(ref) == 2 || ref[2] == '/' {
			return ""
		}
		return l.scheme + ref
	case ref[0] == '/':
		return l.authority + ref
	case ref[0] == '?':
		return l.document + ref
	}
	return l.folder + ref
}

// isAbsolute reports an http or https URL with a host.
func isAbsolute(s string) bool {
	for _, scheme := range []string{"http://", "https://"} {
		if n := len(scheme); len(s) > n && strings.EqualFold(s[:n], scheme) {
			return s[n] != '/' && s[n] != '?' && s[n] != '#'
		}
	}
	return false
}

// hasScheme reports a reference that begins with any scheme.
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i > 0 && s[i] == ':'
}

// isEntity reports a reference that begins with an entity declared in the file; those are not expanded.
func isEntity(s string) bool { return s[0] == '&' && strings.IndexByte(s, ';') > 0 }

// clean removes blanks around a value, including invisible ones.
func clean(s string) string {
	return strings.TrimFunc(s, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c)
	})
}
