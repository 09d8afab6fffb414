package fetch

import (
	"fmt"
	"net/netip"
	"syscall"
)

// A guard decides which addresses may be dialled.
type guard struct {
	refused []netip.Prefix
	allowed []netip.Prefix // exceptions
}

func newGuard(allowed []netip.Prefix) guard {
	return guard{refused: privatePrefixes(), allowed: allowed}
}

// privatePrefixes lists addresses outside the public internet. IPv4 addresses inside ::ffff:0:0/96 and
// 64:ff9b::/96 have already been converted to IPv4.
func privatePrefixes() []netip.Prefix {
	list := [...]string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
		"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
		"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	}
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// refuses reports whether a may not be dialled.
func (g *guard) refuses(a netip.Addr) bool {
	a = a.WithZone("") // a prefix never contains an address with a zone
	inner := embedded(a)
	return within(g.refused, inner) && !within(g.allowed, inner) && !within(g.allowed, a)
}

// control is the Control of a net.Dialer: the final check, on the address of the socket.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{Cause: RefusedAddress, Op: "connect", Err: err}
	}
	if g.refuses(ap.Addr()) {
		return refusal(ap.Addr())
	}
	return nil
}

func refusal(a netip.Addr) *Error {
	return &Error{Cause: RefusedAddress, Op: "connect", Err: fmt.Errorf("%s is not a public address", a)}
}

// embedded returns the IPv4 address inside a mapped or NAT64 address, or a itself.
func embedded(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if a.Is6() && netip.MustParsePrefix("64:ff9b::/96").Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
