package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
)

// localNames returns a resolver with a name server on loopback.
func localNames(t *testing.T, answer func(name string) nameserver.Answer) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := nameserver.Serve(conn, answer)
	t.Cleanup(func() { s.Close() })
	return s.Resolver()
}

func TestNameserver(t *testing.T) {
	names := localNames(t, func(name string) nameserver.Answer {
		switch name {
		case "good.test":
			return nameserver.At([4]byte{127, 0, 0, 1})
		case "empty.test":
			return nameserver.At()
		case "servfail.test":
			return nameserver.Answer{Code: dnsmessage.RCodeServerFailure}
		case "silent.test":
			return nameserver.Answer{Silent: true}
		case "mute.test":
			return nameserver.Answer{IPv4: [][4]byte{{127, 0, 0, 1}}, Mute6: true}
		}
		return nameserver.Unknown()
	})
	lookup := systemLookup(watched(names))
	c := newClient(t, Config{lookup: lookup, limits: limits{dns: time.Minute}})
	usual := newClient(t, Config{lookup: lookup, limits: limits{dns: 2 * time.Second}})
	impatient := newClient(t, Config{lookup: lookup, limits: limits{dns: 200 * time.Millisecond}})
	for host, want := range map[string]Cause{
		"good.test": RefusedAddress, "empty.test": NXDomain, "none.test": NXDomain,
		"servfail.test": DNSTemporary, "silent.test": DNSTemporary, "mute.test": RefusedAddress,
	} {
		c := c
		switch host {
		case "silent.test":
			c = impatient
		case "mute.test": // an address is found in time although IPv6 gets no answer
			c = usual
		}
		_, err := do(c, t.Context(), Request{URL: "https://" + host + "/"})
		if causeOf(t, err) != want {
			t.Errorf("%s: %v, want %v", host, err, want)
		}
	}
	if got, err := c.Resolve(t.Context(), "good.test:8443"); err != nil || !slices.Equal(got, addresses("127.0.0.1")) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := c.Resolve(t.Context(), "none.test"); causeOf(t, err) != NXDomain {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	notFound := &net.DNSError{Err: "no such host", IsNotFound: true}
	servfail := &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	tests := []struct {
		name string
		err  error
		at   []time.Duration // times of the look-ups
		want int             // look-ups
	}{
		{"found", nil, []time.Duration{0, time.Minute, 4 * time.Minute, 5 * time.Minute}, 2},
		{"not found", notFound, []time.Duration{0, 30 * time.Second, time.Minute}, 2},
		{"temporary", servfail, []time.Duration{0, 0, time.Second}, 3},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			asked, start := 0, time.Now()
			r := newResolver(func(context.Context, string) ([]netip.Addr, error) {
				asked++
				return addresses("8.8.8.8"), tt.err
			}, limits{}.orDefaults())
			for _, at := range tt.at {
				time.Sleep(time.Until(start.Add(at)))
				if _, err := r.resolve(t.Context(), "a.test"); (err == nil) != (tt.err == nil) {
					t.Errorf("%s: %v", tt.name, err)
				}
			}
			if asked != tt.want {
				t.Errorf("%s: %d look-ups, want %d", tt.name, asked, tt.want)
			}
		})
	}
}

// Concurrent callers share one look-up; it is repeated if the caller that made it is cancelled.
func TestSharedLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := newResolver(func(ctx context.Context, _ string) ([]netip.Addr, error) {
			asked.Add(1)
			select {
			case <-time.After(time.Second):
				return addresses("8.8.8.8"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, limits{}.orDefaults())
		impatient, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.resolve(impatient, "a.test"); causeOf(t, err) != Cancelled {
				t.Errorf("impatient: %v", err)
			}
		})
		synctest.Wait()
		for range 20 {
			wg.Go(func() {
				if got, err := r.resolve(t.Context(), "a.test"); err != nil || len(got) != 1 {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		wg.Wait()
		if n := asked.Load(); n != 2 {
			t.Errorf("%d look-ups, want 2", n)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	r := newResolver(func(context.Context, string) ([]netip.Addr, error) {
		return nil, errors.New("down")
	}, limits{}.orDefaults())
	for i := range 3 * maxNames {
		r.resolve(t.Context(), fmt.Sprintf("h%d.test", i))
	}
	if n := len(r.names) + len(r.old); n > 2*maxNames {
		t.Errorf("%d names", n)
	}
}

// After a failed connection, the next one looks the address up again.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		n := network{delays: map[string]time.Duration{"192.0.2.1": 0},
			errs: map[string]error{"192.0.2.1": errors.New("down")}}
		c := newClient(t, Config{dial: n.dial, lookup: func(context.Context, string) ([]netip.Addr, error) {
			asked++
			return addresses("192.0.2.1"), nil
		}})
		for range 2 {
			if _, err := do(c, t.Context(), Request{URL: "https://a.test/"}); causeOf(t, err) != NoRoute {
				t.Error(err)
			}
		}
		if asked != 2 {
			t.Errorf("%d look-ups, want 2", asked)
		}
	})
}

// The number of concurrent look-ups of new names is limited; a slow one makes room, and a name found before
// does not wait.
func TestLookupsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asking, most atomic.Int32
		lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
			if n := asking.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer asking.Add(-1)
			if host != "known.test" {
				time.Sleep(4 * time.Second)
			}
			return addresses("192.0.2.1"), nil
		}
		c := newClient(t, Config{limits: limits{dnsTTL: time.Minute}, lookup: lookup})
		resolve := func(host string) {
			if _, err := c.Resolve(t.Context(), host); err != nil {
				t.Error(err)
			}
		}
		resolve("known.test")
		time.Sleep(2 * time.Minute)
		var g sync.WaitGroup
		for i := range 3 * maxLookups {
			g.Go(func() { resolve(fmt.Sprintf("h%d.test", i)) })
		}
		synctest.Wait()
		if n := most.Load(); n != maxLookups {
			t.Errorf("%d look-ups at a time, want %d", n, maxLookups)
		}
		before := time.Now()
		resolve("known.test")
		if took := time.Since(before); took != 0 {
			t.Errorf("a name that is known waited for %v", took)
		}
		g.Wait()
		if took := time.Since(before); took != 6*time.Second {
			t.Errorf("all were found after %v, want 6s", took)
		}
	})
}

// A look-up that waits for its turn ends with its caller's context.
func TestLookupGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Config{lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var g sync.WaitGroup
		for i := range 2 * maxLookups {
			g.Go(func() {
				if _, err := c.Resolve(ctx, fmt.Sprintf("h%d.test", i)); causeOf(t, err) != Cancelled {
					t.Errorf("%v, want cancelled", err)
				}
			})
		}
		g.Wait()
	})
}
