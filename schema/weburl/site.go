package weburl

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// NormalizeHost brings a host that a person wrote, with or without port, to the
// host of identities. It is stricter than Parse: the host must be one that DNS can
// hold, or an address. A scheme, user or path in it is an error.
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

// maxName is the length in bytes of the longest name that DNS can hold.
const maxName = 253

// isDNSName reports a name within the lengths of RFC 1035 section 2.3.4.
func isDNSName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if len(label) < 1 || len(label) > 63 {
			return false
		}
	}
	return len(name) <= maxName && isName(name)
}

// wwwLength is the number of bytes that the identity drops from the start of
// host: every "www." whose removal leaves no public suffix. What remains is never
// an address, since "www." before one is no host.
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

// isRegistry reports a suffix that the ICANN part of the list holds. The private
// part and the default rule do not count: www.github.io loses its "www.", and
// www.com does not.
func isRegistry(name string) bool {
	if len(name) > maxName { // the look-up reads all of it
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	return icann && suffix == name
}

// Site is the registrable domain of a host, by the whole public suffix list; its
// port is dropped. An address is its own site, as is a public suffix.
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

// Unicode is a host with its A-labels decoded, to be searched. [Shown] is what a person is shown.
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

// ReverseHost turns the labels of a name around, "com,example,blog", so that
// hosts of one domain sort together; a port stays at the end, an address as it is.
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

// SURT is the sort key of an identity: com,example,blog)/path?query, with a port
// com,example:8443)/.
func SURT(norm string) string {
	host, pathQuery := Split(norm)
	return ReverseHost(host) + ")" + pathQuery
}

// SplitPort cuts a host before the colon of its port, if it has one.
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
