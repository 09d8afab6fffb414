package weburl

import "unicode/utf8"

// pathEscapes reports bytes of the WHATWG path percent-encode set, and "|", which browsers escape there
// as well and RFC 3986 does not allow anywhere.
func pathEscapes(c byte) bool {
	switch c {
	case '"', '#', '<', '>', '?', '`', '{', '}', '^', '|':
		return true
	}
	return c <= ' ' || c >= 0x7f
}

// queryEscapes reports bytes of the special-query percent-encode set.
func queryEscapes(c byte) bool {
	switch c {
	case '"', '#', '<', '>', '\'':
		return true
	}
	return c <= ' ' || c >= 0x7f
}

// appendEscaped appends s with the bytes reported by odd percent-encoded, and U+FFFD for each invalid
// UTF-8 sequence.
func appendEscaped(dst []byte, s string, odd func(byte) bool) []byte {
	start := 0
	for i := 0; i < len(s); {
		if !odd(s[i]) {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			size = subpart(s[i:])
		}
		dst = appendEscapedRune(dst, r)
		i += size
		start = i
	}
	return append(dst, s[start:]...)
}

// subpart returns the length of the invalid sequence at the start of s that the Encoding standard
// replaces with one U+FFFD: as many bytes as could begin a character, else one.
func subpart(s string) int {
	for n := min(utf8.UTFMax-1, len(s)); n > 1; n-- {
		if !utf8.FullRuneInString(s[:n]) {
			return n
		}
	}
	return 1
}

func appendEscapedRune(dst []byte, r rune) []byte {
	var encoded [utf8.UTFMax]byte
	for _, c := range encoded[:utf8.EncodeRune(encoded[:], r)] {
		dst = appendEscape(dst, c)
	}
	return dst
}

func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// appendUnescaped appends s with the escapes of unreserved characters (RFC 3986 section 2.3) decoded,
// and the others in upper case.
func appendUnescaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c, ok := unescape(s[i:])
		switch {
		case !ok:
			dst = append(dst, s[i])
			i++
			continue
		case isUnreserved(c) && !completes(dst, c):
			dst = append(dst, c)
		default:
			dst = appendEscape(dst, c)
		}
		i += len("%20")
	}
	return dst
}

// completes reports whether c after a stray percent sign could form an escape that was not in the
// input: "%%32e" must not become "%2e", which has another meaning.
func completes(dst []byte, c byte) bool {
	if _, isHex := hexDigit(c); !isHex {
		return false
	}
	n := len(dst)
	return n >= 2 && (dst[n-1] == '%' || dst[n-2] == '%')
}

// unescape decodes the escape at the start of s.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (value byte, ok bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= lower(c) && lower(c) <= 'f':
		return lower(c) - 'a' + 10, true
	}
	return 0, false
}

func isUnreserved(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}
