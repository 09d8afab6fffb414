package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// network fakes dialling: each address answers after a delay, with an error or not.
type network struct {
	mu     sync.Mutex
	tried  []string
	open   int
	delays map[string]time.Duration // absent: it hangs
	errs   map[string]error
}

func (n *network) dial(ctx context.Context, to netip.AddrPort, _ bool) (net.Conn, error) {
	addr := to.Addr().String()
	n.mu.Lock()
	n.tried = append(n.tried, addr)
	delay, ok := n.delays[addr]
	n.mu.Unlock()
	if !ok {
		delay = time.Hour
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := n.errs[addr]; err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open++
	client, server := net.Pipe()
	closed := sync.OnceFunc(func() { server.Close(); n.mu.Lock(); n.open--; n.mu.Unlock() })
	return &closing{Conn: client, close: closed}, nil
}

type closing struct {
	net.Conn
	close func()
}

func (c *closing) Close() error { c.close(); return c.Conn.Close() }

func TestRace(t *testing.T) {
	down := errors.New("down")
	tests := []struct {
		name  string
		net   *network
		tried []string
		want  bool
		took  time.Duration
	}{
		{"first", &network{delays: map[string]time.Duration{"192.0.2.1": 100 * time.Millisecond}},
			[]string{"192.0.2.1"}, true, 100 * time.Millisecond},
		{"next after a failure", &network{delays: map[string]time.Duration{"192.0.2.1": 0, "192.0.2.2": 0},
			errs: map[string]error{"192.0.2.1": down}},
			[]string{"192.0.2.1", "192.0.2.2"}, true, 0},
		{"next after a silence", &network{delays: map[string]time.Duration{"192.0.2.2": 100 * time.Millisecond}},
			[]string{"192.0.2.1", "192.0.2.2"}, true, 400 * time.Millisecond},
		{"two answer at once", &network{delays: map[string]time.Duration{"192.0.2.1": 400 * time.Millisecond,
			"192.0.2.2": 100 * time.Millisecond}},
			[]string{"192.0.2.1", "192.0.2.2"}, true, 400 * time.Millisecond},
		{"none", &network{}, []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}, false, 2 * time.Second},
		{"all down", &network{delays: map[string]time.Duration{"192.0.2.1": 0, "192.0.2.2": 0, "192.0.2.3": 0},
			errs: map[string]error{"192.0.2.1": down, "192.0.2.2": down, "192.0.2.3": down}},
			[]string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dialler{dial: tt.net.dial, stagger: 300 * time.Millisecond}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				start := time.Now()
				c, err := d.race(ctx, addresses("192.0.2.1", "192.0.2.2", "192.0.2.3"), 443, &exchange{})
				if (c != nil) != tt.want || (err == nil) != tt.want || time.Since(start) != tt.took {
					t.Errorf("%v, %v after %v", c, err, time.Since(start))
				}
				if c != nil {
					c.Close()
				}
				if !slices.Equal(tt.net.tried, tt.tried) || tt.net.open != 0 {
					t.Errorf("tried %v, %d left open", tt.net.tried, tt.net.open)
				}
			})
		})
	}
}

func addresses(list ...string) []netip.Addr {
	out := make([]netip.Addr, len(list))
	for i, s := range list {
		out[i] = netip.MustParseAddr(s)
	}
	return out
}

func TestTake(t *testing.T) {
	var many []netip.Addr
	for i := range 10_000 {
		many = append(many, netip.MustParseAddr(fmt.Sprintf("2606:4700::%x", i+1)))
	}
	got := interleave(append(many, addresses("8.8.8.8", "::ffff:8.8.4.4")...), maxAddresses)
	want := addresses("2606:4700::1", "8.8.8.8", "2606:4700::2", "8.8.4.4", "2606:4700::3", "2606:4700::4",
		"2606:4700::5", "2606:4700::6")
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "https://" + l.Addr().String()
	l.Close()
	c := newClient(t, Config{AllowPrivate: loopback()})
	_, err = do(c, t.Context(), Request{URL: url})
	if causeOf(t, err) != Refused {
		t.Error(err)
	}
}

// Close ends pending requests, and closes open connections.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network{delays: map[string]time.Duration{"192.0.2.1": 0}}
		c := newClient(t, Config{dial: n.dial, KeepAlive: true})
		failed := make(chan error, 2)
		for _, url := range []string{"https://192.0.2.1/", "https://192.0.2.9/"} {
			go func() {
				_, err := do(c, t.Context(), Request{URL: url})
				failed <- err
			}()
		}
		synctest.Wait()
		start := time.Now()
		c.Close()
		for range 2 {
			if err := <-failed; causeOf(t, err) != Cancelled {
				t.Error(err)
			}
		}
		if _, err := do(c, t.Context(), Request{URL: "https://192.0.2.1/"}); causeOf(t, err) != Cancelled {
			t.Errorf("after the end: %v", err)
		}
		if n.open != 0 || time.Since(start) != 0 {
			t.Errorf("%d connections open after %v", n.open, time.Since(start))
		}
	})
}

// Connections that the transport does not count, such as idle HTTP/2 ones, are limited too. The one
// that has been idle longest is closed, and no other has to be re-established.
func TestCrowded(t *testing.T) {
	made := make([]atomic.Int64, 4)
	var urls []string
	var trusted string
	for i := range made {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.EnableHTTP2 = true
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				made[i].Add(1)
			}
		}
		s.StartTLS()
		defer s.Close()
		urls, trusted = append(urls, s.URL), caFile(t, s) // all have the same certificate
	}
	c := newClient(t, Config{CAFile: trusted, HTTP2: true, KeepAlive: true, AllowPrivate: loopback()})
	c.dialler.most = 3
	for step, asked := range []struct {
		server int
		made   [4]int64
	}{
		{0, [4]int64{1, 0, 0, 0}}, {1, [4]int64{1, 1, 0, 0}}, {2, [4]int64{1, 1, 1, 0}},
		{0, [4]int64{1, 1, 1, 0}}, // used again, so the connection to 1 has been idle longest
		{3, [4]int64{1, 1, 1, 1}}, {0, [4]int64{1, 1, 1, 1}}, {2, [4]int64{1, 1, 1, 1}},
		{1, [4]int64{1, 2, 1, 1}}, {0, [4]int64{1, 2, 1, 1}}, {2, [4]int64{1, 2, 1, 1}},
	} {
		if _, err := do(c, t.Context(), Request{URL: urls[asked.server]}); err != nil {
			t.Fatal(err)
		}
		for i := range made {
			if got := made[i].Load(); got != asked.made[i] {
				t.Errorf("step %d: %d connections to server %d, want %d", step, got, i, asked.made[i])
			}
		}
		if n := len(c.dialler.open); n > 3 {
			t.Errorf("step %d: %d connections are open", step, n)
		}
	}
}

// A connection used by a request is not idle, whatever it is waiting for.
func TestCrowdedInUse(t *testing.T) {
	d := &dialler{most: 1, open: map[*conn]struct{}{}}
	defer d.close()
	next := func() *conn {
		client, server := net.Pipe()
		t.Cleanup(func() { server.Close() })
		c, err := d.track(client)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	used := next()
	used.take()
	used.take()
	used.release()
	if next(); used.severed.Load() {
		t.Error("a connection that another request still uses was closed")
	}
	used.release()
	if next(); !used.severed.Load() || !used.take() {
		t.Error("an idle connection was not closed, or is given away after that")
	}
}

// No address is dialled without permission, except the one whose clock was started for the request.
func TestRaceAdmits(t *testing.T) {
	at := func(ms time.Duration) time.Duration { return ms * time.Millisecond }
	down := map[string]error{"192.0.2.1": errors.New("down")}
	tests := []struct {
		name     string
		net      *network
		favoured string
		stays    bool
		busy     string // address that is never free
		tried    []string
		ended    string // the address at which the race ends as busy; empty: it connects
		took     time.Duration
	}{
		{"the first answers", &network{delays: map[string]time.Duration{"192.0.2.1": at(100)}},
			"192.0.2.1", false, "192.0.2.2", []string{"192.0.2.1"}, "", at(100)},
		{"the first is down", &network{delays: map[string]time.Duration{"192.0.2.1": at(50)}, errs: down},
			"192.0.2.1", false, "192.0.2.2", []string{"192.0.2.1"}, "192.0.2.2", at(50)},
		{"the first is silent", &network{}, "192.0.2.1", false, "192.0.2.2", []string{"192.0.2.1"}, "192.0.2.2",
			at(300)},
		{"the second is free", &network{delays: map[string]time.Duration{"192.0.2.1": 0, "192.0.2.2": 0}, errs: down},
			"192.0.2.1", false, "192.0.2.3", []string{"192.0.2.1", "192.0.2.2"}, "", 0},
		{"the last try is patient", &network{delays: map[string]time.Duration{"192.0.2.1": at(1000)}},
			"192.0.2.1", true, "192.0.2.2", []string{"192.0.2.1", "192.0.2.3"}, "", at(1000)},
		{"one that was not asked for", &network{}, "192.0.2.9", true, "192.0.2.1", nil, "192.0.2.1", 0},
		{"from the favoured on", &network{delays: map[string]time.Duration{"192.0.2.1": 0}},
			"192.0.2.3", false, "192.0.2.2", []string{"192.0.2.3", "192.0.2.1"}, "", at(300)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dialler{dial: tt.net.dial, stagger: 300 * time.Millisecond}
				x := &exchange{favoured: netip.MustParseAddr(tt.favoured), stays: tt.stays,
					mayAsk: func(a netip.Addr) bool { return a.String() != tt.busy }}
				start := time.Now()
				c, err := d.race(t.Context(), favouring(addresses("192.0.2.1", "192.0.2.2", "192.0.2.3"), x.favoured),
					443, x)
				var busy *Busy
				switch {
				case errors.As(err, &busy) && busy.Address.String() == tt.ended:
				case err != nil || tt.ended != "":
					t.Errorf("%v, %v; want it to end at %q", c, err, tt.ended)
				default:
					c.Close()
				}
				if took := time.Since(start); took != tt.took || !slices.Equal(tt.net.tried, tt.tried) ||
					tt.net.open != 0 {
					t.Errorf("tried %v for %v, %d left open", tt.net.tried, took, tt.net.open)
				}
			})
		})
	}
}

// A request that may no longer be sent when its connection is ready ends before the server sees it.
func TestMaySend(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2 %v", http2), func(t *testing.T) {
			var served atomic.Int64
			c, url := serve(t, Config{KeepAlive: true, HTTP2: http2}, func(http.ResponseWriter, *http.Request) { served.Add(1) })
			withdrawn := errors.New("withdrawn")
			for i, want := range []error{withdrawn, nil, withdrawn, nil} {
				_, err := do(c, t.Context(), Request{URL: url, MaySend: func() error { return want }})
				var e *Error
				if !errors.Is(err, want) || want != nil && (!errors.As(err, &e) || e.Cause != Cancelled) {
					t.Errorf("request %d: %v, want %v", i, err, want)
				}
			}
			if n := served.Load(); n != 2 {
				t.Errorf("%d requests were served, want 2", n)
			}
		})
	}
}

// A request that may no longer be sent when it is written, after a pause of the process, is not written.
func TestMaySendAfterPause(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, before := range []int{0, 1} { // requests on the connection
			t.Run(fmt.Sprintf("http2 %v after %d", http2, before), func(t *testing.T) {
				var served, asked atomic.Int64
				c, url := serve(t, Config{KeepAlive: true, HTTP2: http2}, func(http.ResponseWriter, *http.Request) { served.Add(1) })
				for range before {
					if _, err := do(c, t.Context(), Request{URL: url}); err != nil {
						t.Fatal(err)
					}
				}
				withdrawn := errors.New("withdrawn")
				_, err := do(c, t.Context(), Request{URL: url, MaySend: func() error {
					if asked.Add(1) > 1 {
						return withdrawn
					}
					return nil
				}})
				var e *Error
				if !errors.Is(err, withdrawn) || !errors.As(err, &e) || e.Cause != Cancelled || int(served.Load()) != before {
					t.Errorf("%v, %d requests were served, want %d", err, served.Load(), before)
				}
				if _, err := do(c, t.Context(), Request{URL: url, MaySend: func() error { return nil }}); err != nil {
					t.Errorf("the next request: %v", err)
				}
			})
		}
	}
}

// A kept-alive connection is not used if its address must not be requested now.
func TestKeptAliveElsewhere(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2 %v", http2), func(t *testing.T) {
			served := 0
			c, url := serve(t, Config{KeepAlive: true, HTTP2: http2},
				func(http.ResponseWriter, *http.Request) { served++ })
			ask := func(address string, free bool) error {
				_, err := do(c, t.Context(), Request{URL: url, Address: address,
					MayAsk: func(netip.Addr) bool { return free }})
				return err
			}
			if err := errors.Join(ask("127.0.0.1", false), ask("192.0.2.1", true)); err != nil {
				t.Fatal(err)
			}
			var busy *Busy
			if err := ask("192.0.2.1", false); !errors.As(err, &busy) || busy.Address.String() != "127.0.0.1" ||
				served != 2 {
				t.Errorf("%v; %d requests were served, want 2", err, served)
			}
			if err := ask("127.0.0.1", false); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
}
