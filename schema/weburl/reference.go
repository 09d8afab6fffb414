package weburl

import "strings"

// A reference is a text divided into its parts, none of them decoded or checked.
type reference struct {
	http         bool   // its own scheme, or the base's
	hasAuthority bool   // if not, path and query are relative to the base
	authority    string // user@host:port
	path         string // may begin with a backslash in place of a slash
	query        string
	hasQuery     bool
	fragment     string
}

// cut divides raw as the WHATWG basic URL parser does. base is nil if raw must be absolute.
func cut(raw string, base *Base) (reference, error) {
	ref := reference{http: base != nil && base.http}
	s, fragment, _ := strings.Cut(clean(raw), "#")
	ref.fragment = fragment
	relative := base != nil && !base.other
	if name, rest, ok := cutScheme(s); ok {
		ref.http = len(name) == len("http")
		if !strings.EqualFold(name, "http") && !strings.EqualFold(name, "https") {
			return ref, refuse(ErrScheme, raw)
		}
		// A scheme equal to the base's adds nothing: "http:page" is "page".
		relative = relative && ref.http == base.http
		s = rest
	} else if !relative {
		return ref, refuse(ErrScheme, raw)
	}
	if n := leadingSlashes(s); n >= 2 || !relative {
		ref.hasAuthority = true
		s = s[n:]
		end := authorityEnd(s)
		ref.authority, s = s[:end], s[end:]
	}
	ref.path, ref.query, ref.hasQuery = strings.Cut(s, "?")
	return ref, nil
}

// clean removes control characters and spaces at both ends, and tabs and newlines anywhere.
func clean(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	for i := range len(s) {
		if isTabOrNewline(rune(s[i])) {
			return dropTabs(s)
		}
	}
	return s
}

// dropTabs works on bytes, because s need not be UTF-8. Validity is checked later.
func dropTabs(s string) string {
	kept := make([]byte, 0, len(s))
	for i := range len(s) {
		if !isTabOrNewline(rune(s[i])) {
			kept = append(kept, s[i])
		}
	}
	return string(kept)
}

func isTabOrNewline(c rune) bool { return c == '\t' || c == '\n' || c == '\r' }

// cutScheme cuts a leading "name:".
func cutScheme(s string) (name, rest string, ok bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case isAlpha(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return s[:i], s[i+1:], true
		default:
			return "", s, false
		}
	}
	return "", s, false
}

func leadingSlashes(s string) int {
	n := 0
	for n < len(s) && isSlash(s[n]) {
		n++
	}
	return n
}

func authorityEnd(s string) int {
	for i := range len(s) {
		if isSlash(s[i]) || s[i] == '?' {
			return i
		}
	}
	return len(s)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }
func isAlpha(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
