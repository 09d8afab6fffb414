// Package media parses the Content-Type of a response as browsers do.
//
// It follows "extract a MIME type" of the Fetch standard and "parse a MIME type" of the MIME Sniffing
// standard: the last type of a list counts, invalid parameters are ignored, and a type repeated without a
// charset keeps the previous one. Text after a type is ignored, too, if no semicolon precedes it: browsers
// read "text/html charset=utf-8" as "text/html". Any text is accepted, and parsed in linear time.
package media

import (
	"bytes"
	"net/http"
	"strings"
)

// A Type is a MIME type, as much of it as a crawler needs. The zero value is no type.
type Type struct {
	Essence string // "text/html", in lower case
	Charset string // as written; "" when there is none
}

// String formats the type so that Extract returns the same.
func (t Type) String() string {
	if t.Charset == "" {
		return t.Essence
	}
	return t.Essence + `;charset="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(t.Charset) + `"`
}

// Extract returns the type given by the values of the Content-Type fields of one response, in order; the zero
// Type if none of them is a type.
func Extract(values ...string) Type {
	var found Type
	charset := "" // for repetitions of the same type without one
	for _, piece := range split(strings.Join(values, ", ")) {
		t, declared, ok := parse(piece)
		switch {
		case !ok || saysNothing(t.Essence):
			continue
		case t.Essence != found.Essence:
			charset = t.Charset
		case !declared:
			t.Charset = charset
		}
		found = t
	}
	return found
}

// saysNothing reports the types that a server sends if it knows none (MIME Sniffing, section 7).
func saysNothing(essence string) bool {
	return essence == "*/*" || essence == "unknown/unknown" || essence == "application/unknown"
}

// IsHTML reports HTML or XHTML.
func (t Type) IsHTML() bool { return t.Essence == "text/html" || t.IsXHTML() }

// LooksLikeHTML reports whether a browser would take a body without a type for HTML (MIME Sniffing, section 7.1).
func LooksLikeHTML(body []byte) bool {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	return strings.HasPrefix(http.DetectContentType(body), "text/html")
}

// IsXHTML reports a type that browsers parse as XML.
func (t Type) IsXHTML() bool { return t.Essence == "application/xhtml+xml" }

// IsOPML reports a type of lists in OPML alone.
func (t Type) IsOPML() bool {
	switch t.Essence {
	case "text/x-opml", "text/x-opml+xml", "application/opml+xml":
		return true
	}
	return false
}

// MayBeOPML reports a type under which lists in OPML are served. For XML of no particular type, the body decides.
func (t Type) MayBeOPML() bool {
	return t.IsOPML() || t.Essence == "text/xml" || t.Essence == "application/xml"
}

// split splits a list at the commas outside quoted strings.
func split(list string) []string {
	var pieces []string
	for start, i := 0, 0; ; {
		switch {
		case i == len(list) || list[i] == ',':
			pieces = append(pieces, strings.Trim(list[start:i], " \t"))
			if i == len(list) {
				return pieces
			}
			i++
			start = i
		case list[i] == '"':
			i += quotedLength(list[i:])
		default:
			i++
		}
	}
}

// quotedLength returns the length of the quoted string at the start of s; an unclosed one extends to the end.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(s)
}

// parse parses one type with its parameters; declared reports a charset, even an empty one.
func parse(s string) (t Type, declared, ok bool) {
	s = strings.Trim(s, blanks)
	essence, rest, more := strings.Cut(s, ";")
	if end := strings.IndexAny(essence, blanks); end > 0 {
		essence = essence[:end]
	}
	kind, sub, _ := strings.Cut(essence, "/")
	if !isToken(kind) || !isToken(sub) {
		return Type{}, false, false
	}
	t.Essence = strings.ToLower(kind + "/" + sub)
	for more && !declared {
		var name, value string
		var given bool
		name, value, given, rest, more = parameter(rest)
		if given && strings.EqualFold(name, "charset") && isQuotable(value) {
			t.Charset, declared = value, true // the first one counts
		}
	}
	return t, declared, true
}

const blanks = " \t\r\n"

// parameter cuts off the first of a list of parameters; more reports a semicolon after it. An empty value
// counts as given only if it is quoted.
func parameter(s string) (name, value string, given bool, rest string, more bool) {
	s = strings.TrimLeft(s, blanks)
	end := strings.IndexAny(s, ";=")
	if end < 0 {
		return s, "", false, "", false
	}
	name = s[:end]
	if s[end] == ';' {
		return name, "", false, s[end+1:], true
	}
	s = s[end+1:]
	if s != "" && s[0] == '"' {
		n := quotedLength(s)
		_, rest, more = strings.Cut(s[n:], ";")
		return name, unquote(s[:n]), true, rest, more
	}
	value, rest, more = strings.Cut(s, ";")
	value = strings.TrimRight(value, blanks)
	return name, value, value != "", rest, more
}

// unquote returns the content of a quoted string; the closing quote is optional. A backslash escapes the next
// character, and is literal at the end.
func unquote(s string) string {
	var b strings.Builder
	for i := 1; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isToken reports a token (RFC 9110).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !alphanumeric && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isQuotable reports text allowed in a quoted string.
func isQuotable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
