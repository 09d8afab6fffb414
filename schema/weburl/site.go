package weburl

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// NormalizeHost brings a host typed by a person, with or without port, to canonical form. It is
// stricter than Parse: the host must be an address or valid in DNS. A scheme, user or path is an error.
func NormalizeHost(raw string) (string, error) {
	if len(raw) > maxHost {
		return "", refuse(ErrTooLong, raw)
	}
	if strings.ContainsFunc(raw, neverInHost) {
		return "", fmt.Errorf("%w; a host is written without scheme, user, path and spaces", refuse(ErrMalformed, raw))
	}
	host, err := parseAuthority(raw, false)
	if err != nil {
		return "", refuse(err, raw)
	}
	host = host[wwwLength(host):]
	if name, _ := SplitPort(host); !isIP(name) && !isDNSName(name) {
		return "", refuse(ErrMalformed, raw)
	}
	return host, nil
}

func neverInHost(c rune) bool {
	return c <= ' ' || c == 0x7f || strings.ContainsRune(`/\?#@`, c)
}

// maxName is the maximum length of a DNS name, in bytes.
const maxName = 253

// isDNSName reports a name within the length limits of RFC 1035 section 2.3.4.
func isDNSName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if len(label) < 1 || len(label) > 63 {
			return false
		}
	}
	return len(name) <= maxName && isName(name)
}

// wwwLength returns the number of bytes that the identity drops from the start of host: every "www."
// whose removal does not leave a public suffix. The rest is never an address, because "www." before one
// is not a valid host.
func wwwLength(host string) int {
	const www = "www."
	name, _ := SplitPort(host)
	n := 0
	for rest, ok := strings.CutPrefix(name, www); ok && rest != "" && !isRegistry(rest); {
		n += len(www)
		rest, ok = strings.CutPrefix(rest, www)
	}
	return n
}

// isRegistry reports a suffix in the ICANN part of the list. The private part and the default rule do
// not count: www.github.io loses its "www.", and www.com does not.
func isRegistry(name string) bool {
	if len(name) > maxName { // the look-up reads all of it
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	return icann && suffix == name
}

// Site returns the registrable domain of a host by the whole public suffix list. The port is dropped.
// An address is its own site, as is a public suffix.
func Site(host string) string {
	name, _ := SplitPort(host)
	if isIP(name) {
		return name
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return site
}

// Unicode returns a host with its A-labels decoded, for searching. For display use [ShownIfOther].
func Unicode(host string) string {
	if !strings.Contains(host, acePrefix) {
		return host
	}
	name, port := SplitPort(host)
	decoded, err := idnaProfile().ToUnicode(name)
	if err != nil {
		return host
	}
	return decoded + port
}

// ReverseHost reverses the labels of a name, "com,example,blog", so that hosts of one domain sort
// together. A port stays at the end; an address is returned unchanged.
func ReverseHost(host string) string {
	name, port := SplitPort(host)
	if isIP(name) {
		return host
	}
	reversed := make([]byte, 0, len(host))
	for name != "" {
		i := strings.LastIndexByte(name, '.')
		reversed = append(reversed, name[i+1:]...)
		if i < 0 {
			break
		}
		reversed = append(reversed, ',')
		name = name[:i]
	}
	return string(append(reversed, port...))
}

// SURT returns the sort key of an identity: com,example,blog)/path?query, or com,example:8443)/ with a
// port.
func SURT(norm string) string {
	host, pathQuery := Split(norm)
	return ReverseHost(host) + ")" + pathQuery
}

// SplitPort cuts a host before the colon of its port. port includes the colon, and is empty if there is
// none.
func SplitPort(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.IndexByte(host[i:], ']') >= 0 {
		return host, ""
	}
	return host[:i], host[i:]
}

func isIP(name string) bool {
	if name == "" {
		return false
	}
	if name[0] == '[' {
		return true
	}
	if !isDigit(name[len(name)-1]) {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}
