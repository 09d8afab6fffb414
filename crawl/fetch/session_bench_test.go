package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/process"
)

// BenchmarkSession measures the memory of a stored TLS session. The host has a certificate of its
// own, signed by an intermediate that many share.
func BenchmarkSession(b *testing.B) {
	ca := newAuthority(b)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	cache := tls.NewLRUClientSessionCache(b.N + 1)
	shake := func(i int) {
		name := fmt.Sprintf("host-%d.test", i)
		server := &tls.Config{Certificates: []tls.Certificate{ca.issue(b, name)}}
		client, peer := net.Pipe()
		go func() {
			s := tls.Server(peer, server)
			_, _ = s.Write([]byte{1})
			s.Close()
		}()
		c := tls.Client(client, &tls.Config{ServerName: name, RootCAs: roots, ClientSessionCache: cache})
		if _, err := c.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		client.Close()
	}
	shake(-1)
	before := process.LiveHeap()
	for i := range b.N {
		shake(i)
	}
	b.ReportMetric(float64(process.LiveHeap()-before)/float64(b.N), "B/session")
	runtime.KeepAlive(cache)
}

// BenchmarkResume requests 2,000 hosts twice, with a connection for each request and 125 open requests, and
// reports how many of the second handshakes are resumed.
func BenchmarkResume(b *testing.B) {
	ca := newAuthority(b)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Resumed", fmt.Sprint(r.TLS.DidResume))
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.issue(b, "*.test")}}
	s.StartTLS()
	defer s.Close()
	resumed, asked := 0, 0
	for b.Loop() {
		c := newClient(b, Config{CAFile: ca.file(b), MaxOpen: 125, Bodies: NewBudget(1 << 30), AllowPrivate: loopback(),
			ConnectTo: map[string]string{"*.test": s.Listener.Addr().String()}})
		for i := range 4000 {
			res, err := do(c, b.Context(), Request{URL: fmt.Sprintf("https://host-%d.test/", i%2000)})
			if err != nil {
				b.Fatal(err)
			}
			if i >= 2000 {
				asked++
			}
			if res.Header.Get("Resumed") == "true" {
				resumed++
			}
		}
	}
	b.ReportMetric(float64(resumed)/float64(asked), "resumed")
}

// An authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// file writes the authority's root certificate, and returns its path.
func (a *authority) file(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// issue makes a certificate for a name, as long as those of public authorities.
func (a *authority) issue(t testing.TB, name string) tls.Certificate {
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name, "www." + name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		OCSPServer:            []string{"http://ocsp.authority.test/"},
		IssuingCertificateURL: []string{"http://authority.test/ca.crt"}}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}
}
