package page

import "strings"

const blanks = " \t\r\n\f" // ASCII white space

// refreshTarget returns the URL in the unescaped content of a <meta> refresh, according to the "shared
// declarative refresh steps" of HTML: after a time and a separator, with or without "url=" and quotes. It is
// empty if there is none, in which case the page would only reload itself.
func refreshTarget(content string) string {
	rest := strings.TrimLeft(content, blanks)
	time := strings.TrimLeft(rest, "0123456789.")
	if len(time) == len(rest) {
		return ""
	}
	rest = strings.TrimLeft(time, blanks)
	if rest != "" && (rest[0] == ';' || rest[0] == ',') {
		rest = rest[1:]
	} else if len(rest) == len(time) {
		return "" // neither a separator nor white space
	}
	return unquote(skipURLEquals(strings.TrimLeft(rest, blanks)))
}

// skipURLEquals removes a complete "url =" from the start of s.
func skipURLEquals(s string) string {
	const word = "url"
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return s
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(s[len(word):], blanks), "=")
	if !ok {
		return s
	}
	return strings.TrimLeft(rest, blanks)
}

// unquote returns the text between a quote at the start of s and the next one of its kind.
func unquote(s string) string {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s
	}
	inner, _, _ := strings.Cut(s[1:], s[:1])
	return inner
}
