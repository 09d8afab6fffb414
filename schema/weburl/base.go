package weburl

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// A Base is what references of one page are resolved against: its URL, or what
// its <base href> says. It is immutable and safe for concurrent use, as far as the
// encoding of its queries is.
type Base struct {
	rules  *Rules
	encode func(query string) string // of references; nil: UTF-8
	other  bool                      // its scheme is not http(s), so only absolute references lead to the web
	location
}

// A location is an absolute URL as the WHATWG serialises it, but with scheme
// https and without user, fragment, default port and trailing dot of the host.
type location struct {
	text  string // origin, host, path and "?query"
	http  bool
	www   int // bytes at the start of the host that the identity drops
	path  int // where the path begins in text
	query int // where "?" stands in text, or its length
}

func (l *location) host() string { return l.text[len(origin):l.path] }

// Parse normalises an absolute URL.
func (r *Rules) Parse(raw string) (URL, error) { return r.normalize(raw, nil) }

// Base reads an absolute URL that references are to be resolved against.
// Parameters that the rules strip stay in it until a reference is resolved.
func (r *Rules) Base(raw string) (*Base, error) { return r.newBase(raw, nil) }

// Parse resolves a reference and normalises the result.
func (b *Base) Parse(ref string) (URL, error) { return b.rules.normalize(ref, b) }

// With resolves ref, the value of a <base href>, to another base. After an error
// b stays the one to use: ref is no URL, or its scheme is data or javascript (HTML, "set the
// frozen base URL"). Against a base of another scheme, such as file, no reference without a
// scheme of its own leads to the web.
func (b *Base) With(ref string) (*Base, error) {
	made, err := b.rules.newBase(ref, b)
	if name, _, ok := cutScheme(clean(ref)); errors.Is(err, ErrScheme) && ok && !strings.EqualFold(name, "data") &&
		!strings.EqualFold(name, "javascript") {
		other := *b
		other.other = true
		return &other, nil
	}
	return made, err
}

// Encoded returns the base of a page that is not in UTF-8: the queries of references
// are given to encode before the bytes that come of it are percent-encoded. That of
// the base itself stays as it is.
func (b *Base) Encoded(encode func(query string) string) *Base {
	encoded := *b
	encoded.encode = encode
	return &encoded
}

func (r *Rules) newBase(raw string, base *Base) (*Base, error) {
	var buf [512]byte
	text, l, err := resolve(buf[:0], raw, base)
	if err != nil {
		return nil, err
	}
	// Every reference copies its base, so one page must not make it huge.
	if len(text) > max(maxBase, 4*r.maxLength) {
		return nil, refuse(ErrTooLong, raw)
	}
	l.text = string(text)
	made := &Base{rules: r, location: l}
	if base != nil {
		made.encode = base.encode
	}
	return made, nil
}

// normalize makes the Form in one buffer and the Norm in another, both on the
// stack for usual lengths, so that a URL costs one allocation, or two where its
// spellings differ by more than an ending.
func (r *Rules) normalize(raw string, base *Base) (URL, error) {
	var buf, identity [512]byte
	text, l, err := resolve(buf[:0], raw, base)
	if err != nil {
		return URL{}, err
	}
	if text = r.strip(text, l.query); len(text) > maxRaw {
		return URL{}, refuse(ErrTooLong, raw)
	}
	text = unescapePath(text, &l)
	l.text = string(text)
	u := URL{Form: l.text, HTTP: l.http}
	norm := appendIdentity(identity[:0], &l)
	if n := len(norm); n <= len(l.text) && string(norm) == l.text[:n] {
		u.Norm = l.text[:n]
	} else {
		u.Norm = string(norm)
	}
	if len(u.Norm) > r.maxLength {
		return URL{}, refuse(ErrTooLong, raw)
	}
	return u, nil
}

// unescapePath writes the escapes in the path of text as identities have them.
func unescapePath(text []byte, l *location) []byte {
	l.query = min(l.query, len(text))
	if bytes.IndexByte(text[l.path:l.query], '%') < 0 {
		return text
	}
	query := slices.Clone(text[l.query:])
	text = appendUnescaped(text[:l.path], string(text[l.path:l.query]))
	l.query = len(text)
	return append(text, query...)
}

// appendIdentity applies what is left of the steps: "www.", path and order of the
// parameters.
func appendIdentity(dst []byte, l *location) []byte {
	dst = append(dst, origin...)
	dst = append(dst, l.host()[l.www:]...)
	dst = appendNormPath(dst, l.text[l.path:l.query])
	if l.query < len(l.text) {
		dst = appendSortedQuery(dst, l.text[l.query+1:])
	}
	return dst
}

// resolve appends the text of the URL that raw is, seen from base, to dst and
// returns it beside the location, whose own text is not set yet.
func resolve(dst []byte, raw string, base *Base) ([]byte, location, error) {
	if len(raw) > maxRaw {
		return nil, location{}, refuse(ErrTooLong, raw)
	}
	ref, err := cut(raw, base)
	if err != nil {
		return nil, location{}, err
	}
	l := location{http: ref.http}
	dst = append(dst, origin...)
	if ref.hasAuthority {
		var host string
		if host, err = parseAuthority(ref.authority, ref.http); err != nil {
			return nil, location{}, refuse(err, raw)
		}
		if base != nil && host == base.host() {
			l.www = base.www
		} else {
			l.www = wwwLength(host)
		}
		dst = append(dst, host...)
	} else {
		l.www = base.www
		dst = append(dst, base.host()...)
	}
	l.path = len(dst)
	dst = appendTarget(dst, ref, base)
	l.query = len(dst)
	switch {
	case ref.hasQuery:
		dst = appendQuery(append(dst, '?'), ref.query, base)
	case !ref.hasAuthority && ref.path == "":
		dst = append(dst, base.text[base.query:]...)
	}
	return dst, l, nil
}

// appendQuery appends a query in the encoding of the base.
func appendQuery(dst []byte, query string, base *Base) []byte {
	if base == nil || base.encode == nil {
		return appendEscaped(dst, query, queryEscapes)
	}
	query = base.encode(query)
	for i := range len(query) {
		if queryEscapes(query[i]) {
			dst = appendEscape(dst, query[i])
		} else {
			dst = append(dst, query[i])
		}
	}
	return dst
}

// appendTarget appends the path of ref, or what the base makes of it.
func appendTarget(dst []byte, ref reference, base *Base) []byte {
	root := len(dst)
	switch {
	case ref.hasAuthority || ref.path != "" && isSlash(ref.path[0]):
		dst = append(dst, '/')
		return appendPath(dst, root, ref.path[min(1, len(ref.path)):])
	case ref.path == "":
		return append(dst, base.text[base.path:base.query]...)
	default:
		dst = append(dst, base.text[base.path:base.query]...)
		return appendPath(parent(dst, root), root, ref.path)
	}
}
