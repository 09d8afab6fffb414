package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
)

// An Own is a fault of this machine, not of the peer, that explains a failure.
type Own uint8

const (
	OwnNothing    Own = iota
	OwnNoResolver     // no name server is reachable, and none ever was
	OwnResolver       // no name server is reachable any longer
	OwnNetwork        // no network, no route
	OwnAddress        // this machine has lost the local address of the connection
	OwnMeans          // out of descriptors, ports or memory
	OwnWait           // this machine waited for memory for longer than the peer did
)

// ownOf classifies a socket error. A peer's refusal or silence is not this machine's fault.
func ownOf(err error) Own {
	switch {
	case isAny(err, syscall.ENETUNREACH, syscall.ENETDOWN):
		return OwnNetwork
	case isAny(err, syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM):
		return OwnMeans
	}
	return OwnNothing
}

func isAny(err error, list ...syscall.Errno) bool {
	for _, errno := range list {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// ownDial returns the fault of this machine in a failure to connect to any of the addresses. A
// missing route is the host's fault if there is a route to the last address connected to, or to the
// other address family.
func ownDial(err error, tried []netip.Addr, last netip.Addr, routed func(netip.Addr) bool) Own {
	own := ownOf(err)
	if own == OwnMeans && isAny(err, syscall.EADDRNOTAVAIL) && !slices.ContainsFunc(tried, routed) {
		own = OwnNetwork // the local address is missing, not a port
	}
	if own != OwnNetwork {
		return own
	}
	others := append(slices.Clone(tried), last)
	if !last.IsValid() {
		others = append(slices.Clone(tried), netip.AddrFrom4([4]byte{1}), netip.AddrFrom16([16]byte{0: 0x20}))
	}
	if slices.ContainsFunc(others, routed) {
		return OwnNothing
	}
	return own
}

// routed reports whether this machine has a route to an address, without sending anything. A router may also
// report a host as unreachable, which looks the same when connecting.
func routed(a netip.Addr) bool {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 9)))
	if err != nil {
		return !isAny(err, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EADDRNOTAVAIL)
	}
	c.Close()
	return true
}

// gone reports whether a connection's local address no longer belongs to this machine.
func gone(c net.Conn) bool {
	if c == nil {
		return false
	}
	local, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return false
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil || local.IP.IsLoopback() {
		return false
	}
	return !slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(local.IP)
	})
}

// A fault is the reason why a look-up reached no name server.
type fault struct {
	mu       sync.Mutex
	own      Own  // OwnNetwork covers OwnNoResolver and OwnResolver
	answered bool // a server was reached after all
}

type faultKey struct{}

func (f *fault) note(own Own) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.own = max(f.own, own)
}

func (f *fault) reached() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = true
}

func (f *fault) reachedAny() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answered
}

func (f *fault) noted() Own {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answered {
		return OwnNothing
	}
	return f.own
}

// watched returns a resolver that records in a look-up's fault why name servers are unreachable;
// the resolver's errors contain this only as text. It skips silent name servers.
func watched(r *net.Resolver) *net.Resolver {
	dial, all := r.Dial, new(servers)
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return &net.Resolver{
		PreferGo: r.PreferGo, StrictErrors: r.StrictErrors,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if all.passesOver(address) {
				return nil, errPassedOver
			}
			all.meet(address)
			c, err := dial(ctx, network, address)
			f, ok := ctx.Value(faultKey{}).(*fault)
			if !ok {
				return c, err
			}
			if err != nil {
				f.note(ownServer(err))
			}
			if udp, ok := c.(*net.UDPConn); ok {
				return &watchedConn{udp, f, all, address}, nil
			}
			return c, err
		},
	}
}

// ownServer classifies an error in a request to a name server. If the server does not exist, on
// this machine or its network, that is this machine's fault.
func ownServer(err error) Own {
	if isAny(err, syscall.ECONNREFUSED, syscall.EHOSTUNREACH) {
		return OwnNetwork
	}
	return ownOf(err)
}
