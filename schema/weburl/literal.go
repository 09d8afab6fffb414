package weburl

import (
	"net/netip"
	"strings"
)

// Literal returns the IP address of a canonical host, with or without a port, or "" if the host is a
// name that needs a look-up.
func Literal(host string) string {
	if ap, err := netip.ParseAddrPort(host); err == nil {
		return ap.Addr().Unmap().String()
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return ""
	}
	return a.Unmap().String()
}
