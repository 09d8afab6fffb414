package webtest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestDown(t *testing.T) {
	s := newServer(t)
	for mode, want := range map[Down]string{
		DownSilent: "handshake timeout", DownHanging: "handshake timeout", DownClosed: "EOF",
		DownReset:   "connection reset",
		DownRefused: "remote error: tls", DownGarbled: "first record does not look like a TLS handshake",
		DownExpired: "expired", DownWrongName: "not a.test", DownUnknownCA: "unknown authority",
	} {
		t.Run(mode.String(), func(t *testing.T) {
			h := s.Host("a.test")
			h.Page("/", "up")
			h.Down(mode)
			s.ResetLog()
			c := newClient(t, s)
			if want == "handshake timeout" {
				c.Transport.(*http.Transport).TLSHandshakeTimeout = time.Second
			}
			if resp, err := c.Get("https://a.test/"); err == nil {
				resp.Body.Close()
				t.Fatal("answered")
			} else if !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			waitFor(t, func() bool { return len(s.Log()) > 0 })
			if e := s.Log()[0]; e.Host != "a.test" || e.Method != "" || !e.Aborted || e.Done.IsZero() {
				t.Errorf("logged as %+v", e)
			}
			h.Down(Up)
			if got := get(t, newClient(t, s), "https://a.test/"); got.body != "up" {
				t.Errorf("up again: %q", got.body)
			}
		})
	}
}

// A fault of one name does not affect others.
func TestDownByName(t *testing.T) {
	s := newServer(t)
	s.Host("*.a.test").Down(DownRefused)
	s.Host("good.a.test").Page("/", "good")
	s.Host("a.test").Page("/", "bare")
	c := newClient(t, s)
	if resp, err := c.Get("https://bad.a.test/"); err == nil {
		resp.Body.Close()
		t.Error("bad.a.test answered")
	}
	for _, host := range []string{"good.a.test", "a.test"} {
		if got := get(t, c, "https://"+host+"/"); got.StatusCode != 200 {
			t.Errorf("%s = %d", host, got.StatusCode)
		}
	}
}

// An endless number of names must not fill the memory with certificates.
func TestCertificatesAreBounded(t *testing.T) {
	ca, err := newAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxLeaves {
		ca.leaves[leafID{name: string(rune(i))}] = nil
	}
	if _, err := ca.certificate("one-more.test", false); err != nil || len(ca.leaves) != 1 {
		t.Errorf("%d certificates are kept, %v", len(ca.leaves), err)
	}
}
