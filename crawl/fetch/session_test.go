package fetch

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// The number of sessions follows that of possible open requests, within the available memory.
func TestSessions(t *testing.T) {
	for _, tt := range []struct {
		open   int
		bodies int64 // 0: no limit
		want   int
	}{
		{0, 0, 512}, {10, 1 << 30, 512}, {100, 1 << 30, 3200}, {1000, 1 << 30, 21_845}, {10_000, 1 << 30, 21_845},
		{1000, 256 << 20, 5461}, {1000, 1 << 20, 512}, {1000, 0, 512},
	} {
		cfg := &Config{MaxOpen: tt.open}
		if tt.bodies > 0 {
			cfg.Bodies = NewBudget(tt.bodies)
		}
		if got := sessions(cfg); got != tt.want {
			t.Errorf("%d open, %d bytes for bodies: %d sessions, want %d", tt.open, tt.bodies, got, tt.want)
		}
	}
}

// TestResumption connects twice to servers, some of which have unusually large sessions.
func TestResumption(t *testing.T) {
	ca := newAuthority(t)
	for name, tt := range map[string]struct {
		ticket int // additional bytes
		chain  int // additional certificates
		want   bool
	}{
		"usual":                {want: true},
		"long ticket":          {ticket: 4 << 10, want: true},
		"many certificates":    {chain: 20, want: true},
		"longest ticket":       {ticket: 60_000},
		"endless certificates": {chain: 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Resumed", fmt.Sprint(r.TLS.DidResume))
			}))
			own := ca.issue(t, "a.test")
			own.Certificate = append(own.Certificate, slices.Repeat([][]byte{ca.cert.Raw}, tt.chain)...)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
			s.TLS.WrapSession = func(cs tls.ConnectionState, state *tls.SessionState) ([]byte, error) {
				ticket, err := s.TLS.EncryptTicket(cs, state)
				return append(ticket, make([]byte, tt.ticket)...), err
			}
			s.TLS.UnwrapSession = func(ticket []byte, cs tls.ConnectionState) (*tls.SessionState, error) {
				return s.TLS.DecryptTicket(ticket[:len(ticket)-tt.ticket], cs)
			}
			s.StartTLS()
			defer s.Close()
			c := newClient(t, Config{CAFile: ca.file(t), MaxOpen: 1, AllowPrivate: loopback(),
				ConnectTo: map[string]string{"a.test": s.Listener.Addr().String()}})
			for i := range 2 {
				res, err := do(c, t.Context(), Request{URL: "https://a.test/"})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := res.Header.Get("Resumed"), fmt.Sprint(tt.want && i > 0); got != want {
					t.Errorf("connection %d is resumed: %s, want %s", i+1, got, want)
				}
			}
		})
	}
}
