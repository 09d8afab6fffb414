package proof

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A portal is in front of a web. While it is shut, clients from another network than home get its
// certificate, or nothing.
type portal struct {
	net.Listener
	shut        atomic.Bool
	certificate *tls.Config  // nil: it closes connections
	met         atomic.Int64 // connections that it did not let through
}

func (p *portal) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil || !p.shut.Load() || !strings.HasPrefix(c.RemoteAddr().String(), abroad) {
			return c, err
		}
		go func() {
			if p.certificate != nil {
				_ = tls.Server(c, p.certificate).Handshake()
			}
			_ = c.Close()
			p.met.Add(1)
		}()
	}
}

// strangeCertificate returns a certificate of an authority that the crawler does not know.
func strangeCertificate(t testing.TB) *tls.Config {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Clone()
}
