package weburl

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// A Base is the URL that references of one page are resolved against: the URL of the page, or that of
// its <base href>. It is immutable, and safe for concurrent use if its encode function is.
type Base struct {
	rules  *Rules
	encode func(query string) string // for queries of references; nil: UTF-8
	other  bool                      // its scheme is not http(s), so only absolute references are accepted
	location
}

// A location is an absolute URL serialised by WHATWG rules, but with scheme https and without user,
// fragment, default port and trailing dot of the host.
type location struct {
	text  string // origin, host, path and "?query"
	http  bool
	www   int // bytes at the start of the host that the identity drops
	path  int // offset of the path in text
	query int // offset of "?" in text, or len(text)
}

func (l *location) host() string { return l.text[len(origin):l.path] }

// Parse canonicalizes an absolute URL.
func (r *Rules) Parse(raw string) (URL, error) { return r.normalize(raw, nil) }

// Base parses an absolute URL for resolving references. Parameters that the rules strip are kept until
// a reference is resolved.
func (r *Rules) Base(raw string) (*Base, error) { return r.newBase(raw, nil) }

// Parse resolves a reference and canonicalizes the result.
func (b *Base) Parse(ref string) (URL, error) { return b.rules.normalize(ref, b) }

// With resolves ref, the value of a <base href>, to another base. On an error the caller continues with
// b: ref is not a URL, or its scheme is data or javascript (HTML, "set the frozen base URL"). Against a
// base with another scheme, such as file, only references with their own scheme are accepted.
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

// Encoded returns the base of a page that is not in UTF-8. Queries of references pass through encode
// before they are percent-encoded. The query of the base itself is not changed.
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

// normalize builds the Form in one buffer and the Norm in another. Both are on the stack for usual
// lengths, so a URL costs one allocation, or two if the Norm is not a prefix of the Form.
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

// unescapePath canonicalizes the escapes in the path of text.
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

// appendIdentity applies the remaining steps: "www.", path and order of the parameters.
func appendIdentity(dst []byte, l *location) []byte {
	dst = append(dst, origin...)
	dst = append(dst, l.host()[l.www:]...)
	dst = appendNormPath(dst, l.text[l.path:l.query])
	if l.query < len(l.text) {
		dst = appendSortedQuery(dst, l.text[l.query+1:])
	}
	return dst
}

// resolve appends the URL of raw, relative to base, to dst. It also returns the location, with the text
// not yet set.
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

// appendTarget appends the path of ref, resolved against the base.
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
