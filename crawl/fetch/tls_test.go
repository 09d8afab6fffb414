package fetch

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// certificate returns a certificate for 127.0.0.1 that expires at end, and a CA file that trusts it.
func certificate(t testing.TB, end time.Time) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return certificateOf(t, key, end)
}

func rsaKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificateOf(t testing.TB, key crypto.Signer, end time.Time) (tls.Certificate, string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: end.Add(-48 * time.Hour), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames: []string{"a.test"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// secured runs a script after a TLS handshake.
func secured(cfg *tls.Config, play script) script {
	return func(conn net.Conn, _ *bufio.Reader) {
		server := tls.Server(conn, cfg)
		if server.Handshake() == nil {
			play(server, bufio.NewReader(server))
		}
		server.Close()
	}
}

func TestHandshake(t *testing.T) {
	good, goodFile := certificate(t, time.Now().Add(time.Hour))
	rsaCert, rsaFile := certificateOf(t, rsaKey(t), time.Now().Add(time.Hour))
	expired, expiredFile := certificate(t, time.Now().Add(-time.Hour))
	config := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	ok := answer(page + "Content-Length: 2\r\n\r\nok")
	tests := []struct {
		name, ca string
		play     script
		want     Cause
	}{
		{"good", goodFile, secured(config(good), ok), None},
		{"RSA key exchange", rsaFile, secured(&tls.Config{Certificates: []tls.Certificate{rsaCert}, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}}, ok), None},
		{"unknown authority", "", secured(config(good), ok), TLS},
		{"expired", expiredFile, secured(config(expired), ok), TLS},
		{"no certificate", goodFile, secured(new(tls.Config), ok), TLS},
		{"old version", goodFile, secured(&tls.Config{Certificates: []tls.Certificate{good},
			MaxVersion: tls.VersionTLS11},
			ok), TLS},
		{"wants a certificate", goodFile, secured(&tls.Config{Certificates: []tls.Certificate{good},
			ClientAuth: tls.RequireAnyClientCert}, ok), TLS},
		{"wants a certificate, in an older version", goodFile, secured(&tls.Config{
			Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12},
			ok), TLS},
		{"no TLS", goodFile, func(c net.Conn, _ *bufio.Reader) { io.WriteString(c, "HTTP/1.1 400 No\r\n\r\n") }, TLS},
		{"hanging", goodFile, silent, TLSTimeout},
		{"closed", goodFile, func(net.Conn, *bufio.Reader) {}, Reset},
		{"reset", goodFile, func(c net.Conn, in *bufio.Reader) { in.Peek(1); c.(*net.TCPConn).SetLinger(0) }, Reset},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			addr, accepted := listen(t, tt.play)
			timeout := time.Minute
			if tt.want == TLSTimeout {
				timeout = 3 * time.Second
			}
			c := newClient(t, Config{CAFile: tt.ca, AllowPrivate: loopback(), ConnectTimeout: timeout})
			_, err := do(c, t.Context(), Request{URL: "https://" + addr + "/"})
			if causeOf(t, err) != tt.want || accepted.Load() != 1 {
				t.Errorf("%v after %d connections, want %v after 1", err, accepted.Load(), tt.want)
			}
		})
	}
}

// A reset is distinguished from an orderly end, over a real socket.
func TestResetInTheBody(t *testing.T) {
	read := make(chan struct{}) // closed when the client has the data; header and body arrive together
	addr, _ := listen(t, func(conn net.Conn, in *bufio.Reader) {
		answer(page+"Content-Length: 100\r\n\r\nabc")(conn, in)
		select {
		case <-read:
		case <-t.Context().Done():
		}
		conn.(*net.TCPConn).SetLinger(0)
	})
	c := newClient(t, Config{AllowPrivate: loopback()})
	res, err := do(c, t.Context(), Request{URL: "http://" + addr + "/", Accept: func(int, http.Header) int64 {
		close(read)
		return 1000
	}})
	if causeOf(t, err) != Reset || res == nil || res.Status != 200 {
		t.Errorf("%+v, %v", res, err)
	}
}

// A request refused by an HTTP/2 server is sent at most twice, and a failed connection is not reused.
func TestHTTP2Refusals(t *testing.T) {
	cert, file := certificate(t, time.Now().Add(time.Hour))
	for code, want := range map[http2.ErrCode]Cause{
		http2.ErrCodeRefusedStream: Reset, http2.ErrCodeCancel: Reset, http2.ErrCodeInternal: Reset,
		http2.ErrCodeProtocol: Reset,
	} {
		var requests atomic.Int64
		play := secured(&tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}},
			refusing(code, &requests))
		addr, accepted := listen(t, play)
		c := newClient(t, Config{CAFile: file, HTTP2: true, KeepAlive: true, AllowPrivate: loopback()})
		for n := int64(1); n <= 2; n++ {
			_, err := do(c, t.Context(), Request{URL: "https://" + addr + "/"})
			if causeOf(t, err) != want || requests.Load() != n || accepted.Load() < n { // one dial may be unused
				t.Errorf("%v: %v after %d requests on %d connections, want %v after %d on as many", code, err,
					requests.Load(), accepted.Load(), want, n)
			}
		}
		c.Close()
	}
}

// refusing speaks just enough HTTP/2 to reset every stream.
func refusing(code http2.ErrCode, requests *atomic.Int64) script {
	return func(conn net.Conn, in *bufio.Reader) {
		io.CopyN(io.Discard, in, int64(len(http2.ClientPreface)))
		framer := http2.NewFramer(conn, in)
		framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := frame.(*http2.HeadersFrame); ok {
				requests.Add(1)
				framer.WriteRSTStream(h.StreamID, code)
			}
		}
	}
}

// What was spoken with the host is known of new and of reused connections.
func TestSpokenProtocols(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	secured := func(version uint16) string {
		s := httptest.NewUnstartedServer(ok)
		s.EnableHTTP2, s.TLS = true, &tls.Config{MaxVersion: version}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	plain := httptest.NewServer(ok)
	t.Cleanup(plain.Close)
	for _, tt := range []struct {
		url   string
		http2 bool
		want  []string
	}{
		{secured(tls.VersionTLS13), true, []string{"h2", "tls/1.3"}},
		{secured(tls.VersionTLS13), false, []string{"http/1.1", "tls/1.3"}},
		{secured(tls.VersionTLS12), true, []string{"h2", "tls/1.2"}},
		{secured(tls.VersionTLS12), false, []string{"http/1.1", "tls/1.2"}},
		{plain.URL, true, []string{"http/1.1"}},
	} {
		c := newClient(t, Config{HTTP2: tt.http2, KeepAlive: true, AllowPrivate: loopback()})
		c.tls.InsecureSkipVerify = true
		for range 2 {
			res, err := do(c, t.Context(), Request{URL: tt.url})
			if err != nil || !slices.Equal(res.Protocols(), tt.want) {
				t.Errorf("%+v, %v; want %q", res, err, tt.want)
			}
		}
	}
}

func TestProtocols(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		for _, keep := range []bool{true, false} {
			var remotes []string
			c, url := serve(t, Config{HTTP2: http2, KeepAlive: keep}, func(w http.ResponseWriter, r *http.Request) {
				remotes = append(remotes, r.RemoteAddr)
			})
			for range 2 {
				res, err := do(c, t.Context(), Request{URL: url})
				if err != nil || (res.Proto == "HTTP/2.0") != http2 {
					t.Fatalf("%+v, %v", res, err)
				}
			}
			if len(slices.Compact(remotes)) == 1 != keep {
				t.Errorf("http2 %v, keep-alive %v: asked from %v", http2, keep, remotes)
			}
		}
	}
}
