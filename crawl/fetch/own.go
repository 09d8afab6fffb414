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

// An Own says what of this machine, rather than of the peer, explains a failure.
type Own uint8

const (
	OwnNothing    Own = iota
	OwnNoResolver     // no name server can be asked, and none ever could
	OwnResolver       // no name server can be asked any more
	OwnNetwork        // no network, no route
	OwnAddress        // the address of this machine that it was asked from is gone
	OwnMeans          // no descriptor, port or memory left
	OwnWait           // it waited for memory, longer than the peer did
)

// ownOf classes an error of a socket. That a peer refuses or is silent is not our own.
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

// ownDial is what a failure to connect to any of the addresses tells of this
// machine. Where there is a way to the last address that was connected to, or to the
// other address family, it is the host's fault that there is none to its own.
func ownDial(err error, tried []netip.Addr, last netip.Addr, routed func(netip.Addr) bool) Own {
	own := ownOf(err)
	if own == OwnMeans && isAny(err, syscall.EADDRNOTAVAIL) && !slices.ContainsFunc(tried, routed) {
		own = OwnNetwork // not a port is missing, but an address to ask from
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

// routed reports whether this machine has a way to an address; it sends nothing. A
// router may say of a host that there is none, which looks alike to who connects.
func routed(a netip.Addr) bool {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 9)))
	if err != nil {
		return !isAny(err, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EADDRNOTAVAIL)
	}
	c.Close()
	return true
}

// gone reports whether a connection was made from an address that this machine does
// not have any more.
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

// A fault is what kept a look-up from any name server.
type fault struct {
	mu       sync.Mutex
	own      Own  // OwnNetwork stands for either lack of a resolver
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

// watched returns a resolver that notes in a look-up's fault why name servers can
// not be asked, which the errors of the resolver tell as text only, and passes over those
// that are silent.
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

// ownServer classes an error in asking a name server: one that is not there, on
// this machine or behind its network, is our own.
func ownServer(err error) Own {
	if isAny(err, syscall.ECONNREFUSED, syscall.EHOSTUNREACH) {
		return OwnNetwork
	}
	return ownOf(err)
}
