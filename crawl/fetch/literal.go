package fetch

import (
	"net/netip"
	"strconv"
	"strings"
)

// literal parses a host that is an address in any spelling accepted by resolvers or browsers: "::1", "[::1]",
// "127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1". That includes "localhost" and its
// subdomains (RFC 6761).
func literal(host string) (netip.Addr, bool) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	return looseIPv4(host)
}

// looseIPv4 parses one to four numbers, decimal, octal or hexadecimal; the last fills the remaining bytes.
func looseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		limit, shift := uint64(0xff), 8*(3-i)
		if i == len(parts)-1 {
			limit, shift = 1<<(8*(4-i))-1, 0
		}
		n, ok := looseNumber(part)
		if !ok || n > limit {
			return netip.Addr{}, false
		}
		sum |= n << shift
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

func looseNumber(s string) (uint64, bool) {
	base := 10
	switch lower := strings.ToLower(s); {
	case strings.HasPrefix(lower, "0x"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
