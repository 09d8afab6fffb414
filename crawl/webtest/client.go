package webtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
)

// Transport trusts the server and finds every name there. Its idle connections are the
// caller's to close.
func (s *Server) Transport() *http.Transport {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CAPEM())
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.Addr())
		},
	}
}
