package page

import "bytes"

// refreshTarget returns the URL in the content of a <meta> refresh, as browsers
// find it: behind a time and a separator, with or without "url=" and quotes.
// It is nil if there is none, and the page would only reload itself.
func refreshTarget(content []byte) []byte {
	rest := bytes.TrimLeft(content, " \t\r\n\f")
	time := bytes.TrimLeft(rest, "0123456789.")
	if len(time) == len(rest) {
		return nil
	}
	rest = bytes.TrimLeft(time, " \t\r\n\f")
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == ',') {
		rest = rest[1:]
	} else if len(rest) == len(time) {
		return nil // neither a separator nor white space
	}
	return unquote(skipURLEquals(bytes.TrimLeft(rest, " \t\r\n\f")))
}

// skipURLEquals drops "url =" from the start of s, if it stands there whole.
func skipURLEquals(s []byte) []byte {
	const word = "url"
	if len(s) < len(word) || !bytes.EqualFold(s[:len(word)], []byte(word)) {
		return s
	}
	rest := bytes.TrimLeft(s[len(word):], " \t\r\n\f")
	if len(rest) == 0 || rest[0] != '=' {
		return s
	}
	return bytes.TrimLeft(rest[1:], " \t\r\n\f")
}

// unquote returns what stands between a quote at the start of s and the next of
// its kind.
func unquote(s []byte) []byte {
	if len(s) == 0 || s[0] != '"' && s[0] != '\'' {
		return s
	}
	if i := bytes.IndexByte(s[1:], s[0]); i >= 0 {
		return s[1 : 1+i]
	}
	return s[1:]
}
