package desk

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/config"
)

// renew replaces the files of a configuration by those of another certificate, with a given
// modification time; empty names remove them.
func renew(t *testing.T, m config.Monitor, at time.Time, cert, key string) {
	t.Helper()
	for path, from := range map[string]string{m.CertFile: cert, m.KeyFile: key} {
		if from == "" {
			continue
		}
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// A renewed certificate is shown to the next client. One that cannot be used is reported once, and
// the previous one stays in use.
func TestCertificateRenewed(t *testing.T) {
	m, next, last := certified(t), certified(t), certified(t)
	var told bytes.Buffer
	c, err := NewCertificate(m.CertFile, m.KeyFile, "files", slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	first, err := tls.LoadX509KeyPair(m.CertFile, m.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	second, err := tls.LoadX509KeyPair(next.CertFile, next.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	steps := []struct {
		name      string
		cert, key string
		want      tls.Certificate
		warnings  int // so far
	}{
		{"nothing", "", "", first, 0},
		{"both", next.CertFile, next.KeyFile, second, 0},
		{"no certificate", next.KeyFile, "", second, 1},
		{"a key of another one", last.CertFile, "", second, 2},
	}
	for i, tt := range steps {
		renew(t, m, at.Add(time.Duration(i)*time.Minute), tt.cert, tt.key)
		for range 2 {
			got, err := c.Now(nil)
			if err != nil || !bytes.Equal(got.Certificate[0], tt.want.Certificate[0]) {
				t.Errorf("%s: another certificate, or %v", tt.name, err)
			}
		}
		if n := strings.Count(told.String(), "level=WARN"); n != tt.warnings {
			t.Errorf("%s: %d warnings, want %d: %s", tt.name, n, tt.warnings, &told)
		}
	}
	if err := os.Remove(m.KeyFile); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Now(nil); err != nil || !bytes.Equal(got.Certificate[0], second.Certificate[0]) {
		t.Errorf("without a key: another certificate, or %v", err)
	}
	renew(t, m, at.Add(time.Hour), "", last.KeyFile)
	third, err := tls.LoadX509KeyPair(last.CertFile, last.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Now(nil); err != nil || !bytes.Equal(got.Certificate[0], third.Certificate[0]) {
		t.Errorf("when its key has come: another certificate, or %v", err)
	}
}

// A running desk shows its new certificate.
func TestTLSRenewed(t *testing.T) {
	m, next := certified(t), certified(t)
	s := serveWith(t, m, &fakeLive{})
	renew(t, m, time.Now().Add(time.Minute), next.CertFile, next.KeyFile)
	over := trusting(t, next)
	s.over = over
	if code, text, _ := s.ask("GET", "/api/v1/now", ""); code != 200 {
		t.Errorf("over its new certificate: %d %s", code, text)
	}
}
