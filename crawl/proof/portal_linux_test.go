package proof

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A portal stands before a web. Who comes from another network than home meets its certificate, or nothing, as long
// as it is shut.
type portal struct {
	net.Listener
	shut        atomic.Bool
	certificate *tls.Config  // nil: it ends connections
	met         atomic.Int64 // connections that did not come through
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

// strangeCertificate is one of an authority that the crawler does not know.
func strangeCertificate(t testing.TB) *tls.Config {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Clone()
}
