package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// refusedBy returns the error of a socket call that failed with errno.
func refusedBy(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

// A failure is this machine's own if no other address is reachable either.
func TestOwnDial(t *testing.T) {
	v4, v6 := addresses("192.0.2.1"), addresses("2001:db8::1")
	last := netip.MustParseAddr("198.51.100.1")
	nothing := func(netip.Addr) bool { return false }
	onlyLast := func(a netip.Addr) bool { return a == last }
	only4 := func(a netip.Addr) bool { return a.Is4() }
	tests := []struct {
		name   string
		err    error
		tried  []netip.Addr
		last   netip.Addr
		routed func(netip.Addr) bool
		want   Own
	}{
		{"no network at all", refusedBy(syscall.ENETUNREACH), v4, last, nothing, OwnNetwork},
		{"interface down", refusedBy(syscall.ENETDOWN), v4, last, nothing, OwnNetwork},
		{"no network at the start", refusedBy(syscall.ENETUNREACH), v4, netip.Addr{}, nothing, OwnNetwork},
		{"no way to an IPv6 host alone", refusedBy(syscall.ENETUNREACH), v6, last, only4, OwnNothing},
		{"the same at the start", refusedBy(syscall.ENETUNREACH), v6, netip.Addr{}, only4, OwnNothing},
		{"a router says so", refusedBy(syscall.ENETUNREACH), v4, last, only4, OwnNothing},
		{"no way to one network", refusedBy(syscall.ENETUNREACH), v4, last, onlyLast, OwnNothing},
		{"the host is not there", refusedBy(syscall.EHOSTUNREACH), v4, last, nothing, OwnNothing},
		{"refused", refusedBy(syscall.ECONNREFUSED), v4, last, nothing, OwnNothing},
		{"no descriptor", refusedBy(syscall.EMFILE), v4, last, nothing, OwnMeans},
		{"no descriptor in the system", refusedBy(syscall.ENFILE), v4, last, nothing, OwnMeans},
		{"no port", refusedBy(syscall.EADDRNOTAVAIL), v4, last, only4, OwnMeans},
		{"no address of the family", refusedBy(syscall.EADDRNOTAVAIL), v6, last, only4, OwnNothing},
		{"no buffer", refusedBy(syscall.ENOBUFS), v4, last, nothing, OwnMeans},
		{"no memory", refusedBy(syscall.ENOMEM), v4, last, nothing, OwnMeans},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ownDial(tt.err, tt.tried, tt.last, tt.routed); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// If several addresses fail, the explanation is the failure that is not this machine's own.
func TestOwnOfSeveral(t *testing.T) {
	n := &network{
		delays: map[string]time.Duration{"2001:db8::1": 0, "192.0.2.1": 0},
		errs: map[string]error{"2001:db8::1": refusedBy(syscall.ENETUNREACH),
			"192.0.2.1": refusedBy(syscall.ECONNREFUSED)},
	}
	lookup := func(context.Context, string) ([]netip.Addr, error) { return addresses("2001:db8::1", "192.0.2.1"), nil }
	c := newClient(t, Config{lookup: lookup, dial: n.dial})
	_, err := do(c, t.Context(), Request{URL: "http://a.test/"})
	var e *Error
	if !errors.As(err, &e) || e.Cause != Refused || e.Own != OwnNothing {
		t.Errorf("%+v", e)
	}
}

// The error of a look-up that reached no name server says so. A failure reported by a server
// concerns the name itself.
func TestOwnResolver(t *testing.T) {
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	var dialer net.Dialer
	tests := []struct {
		name string
		dial func(context.Context, string, string) (net.Conn, error)
		want Own
	}{
		{"no route to it", func(context.Context, string, string) (net.Conn, error) {
			return nil, refusedBy(syscall.ENETUNREACH)
		}, OwnNoResolver},
		{"none is there", func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, closed.LocalAddr().String())
		}, OwnNoResolver},
		{"no descriptor", func(context.Context, string, string) (net.Conn, error) {
			return nil, refusedBy(syscall.EMFILE)
		}, OwnMeans},
		{"it says nothing", func(context.Context, string, string) (net.Conn, error) {
			return nil, os.ErrDeadlineExceeded
		}, OwnNothing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, Config{Resolver: NewResolver(&net.Resolver{PreferGo: true, Dial: tt.dial})})
			_, err := do(c, t.Context(), Request{URL: "http://a.test/"})
			var e *Error
			if !errors.As(err, &e) || e.Own != tt.want || !e.Cause.Connection() {
				t.Errorf("%v: %+v, want %v", err, e, tt.want)
			}
		})
	}
}

// A name server that no longer answers is distinguished from the silent servers of one name.
func TestOwnResolverLater(t *testing.T) {
	away, zone := false, "lame.test"
	silent := &net.DNSError{Err: "no answer", IsTimeout: true}
	r := newResolver(func(_ context.Context, host string) ([]netip.Addr, error) {
		switch {
		case away, strings.HasSuffix(host, zone):
			return nil, silent
		case host == "test.":
			return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
		}
		return addresses("192.0.2.1"), nil
	}, limits{}.orDefaults())
	want := func(host string, want Own) {
		t.Helper()
		_, err := r.resolve(t.Context(), host)
		var e *Error
		if errors.As(err, &e); err == nil || e.Own != want {
			t.Errorf("%s: %v, want %v", host, err, want)
		}
	}
	want("lame.test", OwnNothing)
	if _, err := r.resolve(t.Context(), "a.test"); err != nil {
		t.Fatal(err)
	}
	want("lame.test", OwnNothing)
	zone = ".test" // also of the name found before
	want("lame.test", OwnNothing)
	away = true
	want("lame.test", OwnResolver)
	want("b.test", OwnResolver)
	if c := newClient(t, Config{Resolver: r}); !c.Deaf(t.Context()) {
		t.Error("the client hears a name server")
	}
	away = false
	if c := newClient(t, Config{Resolver: r}); c.Deaf(t.Context()) {
		t.Error("the client hears no name server")
	}
}

// If no name server answers, many concurrent callers share one query.
func TestDeafTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away bool
		var asked atomic.Int32
		c := newClient(t, Config{lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
			if !away {
				return addresses("192.0.2.1"), nil
			}
			asked.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if _, err := c.Resolve(t.Context(), "a.test"); err != nil {
			t.Fatal(err)
		}
		away = true
		var g sync.WaitGroup
		for range 1000 {
			g.Go(func() {
				if !c.Deaf(t.Context()) {
					t.Error("the client hears a name server")
				}
			})
		}
		g.Wait()
		if n := asked.Load(); n != 2 {
			t.Errorf("%d look-ups, want 2", n)
		}
	})
}
