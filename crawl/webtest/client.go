package webtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
)

// Transport returns a transport that trusts the server and connects every name to it. The caller must
// close its idle connections.
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
