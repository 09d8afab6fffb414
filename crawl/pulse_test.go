package crawl

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/slots"
)

// A process that does not beat for longer than noise was stopped.
func TestPulse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := pulse{suspended: func() time.Duration { return 0 }, last: time.Now()}
		for _, tt := range []struct{ gap, late time.Duration }{
			{beat, 0}, {beat + noise - 1, 0}, {beat + noise, noise}, {beat, 0}, {time.Hour, time.Hour - beat}, {0, 0},
		} {
			time.Sleep(tt.gap)
			if got := p.beat(); got.late != tt.late || got.asleep != 0 {
				t.Errorf("after %v: %+v, want %v late", tt.gap, got, tt.late)
			}
		}
	})
}

// gapped makes attribution find a gap, twice.
func gapped(m *Shared, crawl uint64, asleep, late time.Duration) {
	w := &attribution{shared: m, crawl: crawl, log: slog.New(slog.DiscardHandler)}
	w.pulse.suspended, w.pulse.last = func() time.Duration { return asleep }, time.Now().Add(-beat-late)
	w.wake()
	w.wake()
}

// A process that is late by itself opens half as many requests, once for all its crawls; one whose
// machine was suspended opens as many as before.
func TestAttributionLate(t *testing.T) {
	for _, tt := range []struct {
		name         string
		asleep, late time.Duration
		excused      bool
		limit        int
	}{
		{"on time", noise - 1, noise - 1, false, 100},
		{"late", 0, noise, true, 50},
		{"late for long", 0, outlived, true, 50},
		{"asleep", noise, 0, true, 100},
		{"asleep, and late after that", time.Hour, noise, true, 100},
	} {
		bubble(t, func(t *testing.T) {
			m := NewShared(0)
			share := m.slots.Share(100)
			for share.Take(time.Now(), slots.Proven, slots.Tally{}) {
			}
			for crawl := range uint64(2) {
				gapped(m, crawl, tt.asleep, tt.late)
			}
			if excused := m.network.Woke().Equal(time.Now()); excused != tt.excused {
				t.Errorf("%s: what was sent before is excused: %t", tt.name, excused)
			}
			for range 100 {
				share.Give(slots.Proven)
			}
			limit := 0
			for share.Take(time.Now(), slots.Proven, slots.Tally{}) {
				limit++
			}
			if limit != tt.limit {
				t.Errorf("%s: %d can be open, want %d", tt.name, limit, tt.limit)
			}
		})
	}
}

// Connections are kept over short gaps of the process alone: otherwise the machine may be in
// another network.
func TestAttributionRenews(t *testing.T) {
	for _, tt := range []struct {
		name         string
		asleep, late time.Duration
		renewed      bool
	}{
		{"late", 0, noise, false},
		{"late for long", 0, outlived, true},
		{"asleep", noise, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					conns.Add(1)
				}
			}
			s.Start()
			defer s.Close()
			m := NewShared(0)
			client, err := m.clients.Client(fetch.Config{
				KeepAlive: true, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			for range 2 {
				res, err := client.Do(t.Context(), fetch.Request{URL: s.URL})
				if err != nil {
					t.Fatal(err)
				}
				res.Release()
				gapped(m, 1, tt.asleep, tt.late)
			}
			if renewed := conns.Load() > 1; renewed != tt.renewed {
				t.Errorf("%d connections were made for two requests", conns.Load())
			}
		})
	}
}
