package weburl

import (
	"strconv"
	"strings"
)

// maxHost limits, in bytes, a host and the input of the IDNA and address parsers, whose time is not
// linear. A resolvable name has at most 253 bytes; escaping can multiply them by up to nine.
const maxHost = 2304

// parseAuthority parses user@host:port and returns host[:port] in canonical form, but with its "www.".
// The result shares memory with text where possible.
func parseAuthority(text string, http bool) (string, error) {
	text = text[strings.LastIndexByte(text, '@')+1:]
	rawHost, rawPort := cutPort(text)
	host, err := parseHost(rawHost)
	if err != nil {
		return "", err
	}
	port, err := parsePort(rawPort)
	if err != nil {
		return "", err
	}
	switch {
	case port == "" || port == "443" || port == "80" && http:
		return host, nil
	case len(host)+1+len(port) == len(text) && text[:len(host)] == host:
		return text, nil
	}
	return host + ":" + port, nil
}

// cutPort cuts at the first colon outside brackets.
func cutPort(text string) (host, port string) {
	bracket := false
	for i := range len(text) {
		switch text[i] {
		case '[':
			bracket = true
		case ']':
			bracket = false
		case ':':
			if !bracket {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// parsePort drops leading zeros. An empty port means no port.
func parsePort(text string) (string, error) {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return "", ErrMalformed
		}
	}
	for len(text) > 1 && text[0] == '0' {
		text = text[1:]
	}
	if text == "" {
		return "", nil
	}
	if _, err := strconv.ParseUint(text, 10, 16); err != nil {
		return "", ErrMalformed
	}
	return text, nil
}

// parseHost is the WHATWG host parser, but drops trailing dots. It parses the rest again, because
// "1.2.3.." has become an address.
func parseHost(text string) (string, error) {
	host, err := parseHostDotted(text)
	for err == nil && strings.HasSuffix(host, ".") {
		host, err = parseHostDotted(strings.TrimRight(host, "."))
	}
	if err == nil && len(host) > maxHost {
		err = ErrTooLong
	}
	return host, err
}

func parseHostDotted(text string) (string, error) {
	switch {
	case text == "":
		return "", ErrNoHost
	case isName(text) && !strings.Contains(text, acePrefix):
		return text, nil
	case len(text) > maxHost:
		return "", ErrTooLong
	case text[0] == '[':
		return parseIPv6(text)
	}
	name, err := toASCII(text)
	switch {
	case err != nil || isName(name):
		return name, err
	case strings.ContainsFunc(name, isForbidden):
		return "", ErrMalformed
	case endsInNumber(name):
		return parseIPv4(name)
	}
	return name, nil
}

// isName reports a name that certainly needs no further parsing: it has only lower-case letters,
// digits, hyphens and underscores, and is not an address because its last label does not begin with a
// digit.
func isName(text string) bool {
	label := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.':
			if i+1 < len(text) {
				label = i + 1
			}
		case 'a' <= c && c <= 'z' || isDigit(c) || c == '-' || c == '_':
		default:
			return false
		}
	}
	return text != "" && !isDigit(text[label])
}

// isForbidden reports a WHATWG forbidden domain code point.
func isForbidden(c rune) bool {
	return c <= ' ' || c == 0x7f || strings.ContainsRune(`#%/:<>?@[\]^|`, c)
}
