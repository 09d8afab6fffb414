package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// maxLeaves limits the cached certificates, for webs with an endless number of names.
const maxLeaves = 4096

// An authority issues certificates for any name. It exists only in memory.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte

	mu     sync.Mutex
	leaf   *ecdsa.PrivateKey // shared by all names
	leaves map[leafID]*tls.Certificate
	serial int64
}

type leafID struct {
	name    string
	expired bool
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := validFor(pkix.Name{CommonName: name}, 1, false)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{
		cert: cert, key: key, leaf: leaf, serial: 1,
		pem:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		leaves: map[leafID]*tls.Certificate{},
	}, nil
}

// certificate returns the certificate for a name, created on first use.
func (a *authority) certificate(name string, expired bool) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := leafID{name, expired}
	if c, ok := a.leaves[id]; ok {
		return c, nil
	}
	c, err := a.mint(id)
	if err != nil {
		return nil, fmt.Errorf("mint certificate for %s: %w", name, err)
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves)
	}
	a.leaves[id] = c
	return c, nil
}

func (a *authority) mint(id leafID) (*tls.Certificate, error) {
	a.serial++
	template := validFor(pkix.Name{Organization: []string{"Ripple synthetic web"}}, a.serial, id.expired)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if ip := net.ParseIP(id.name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{id.name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.leaf.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leaf}, nil
}

// validFor returns a certificate template. A client accepts it even if its clock is off by years.
// If expired is set, the certificate ended ten years ago.
func validFor(subject pkix.Name, serial int64, expired bool) *x509.Certificate {
	from, to := time.Now().AddDate(-10, 0, 0), time.Now().AddDate(10, 0, 0)
	if expired {
		from, to = from.AddDate(-10, 0, 0), from
	}
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: subject, NotBefore: from, NotAfter: to,
	}
}
