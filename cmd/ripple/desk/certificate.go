package desk

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A Certificate is the content of two files, even after they were renewed: every TLS handshake
// checks the files, and reads them again if one of them has changed. While their content cannot be
// used, the previous content stays in use. It may be used from any goroutine.
type Certificate struct {
	files [2]string // the certificate and its key
	named string
	log   *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	read [2]stamp // when the files were last read
}

// A stamp identifies the version of a file that was read.
type stamp struct {
	modified time.Time
	size     int64
}

// NewCertificate reads a certificate and its key, as PEM. Messages call the files named.
func NewCertificate(cert, key, named string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{files: [2]string{cert, key}, named: named, log: log}
	c.read = c.stamps()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", named, err)
	}
	c.pair = &pair
	return c, nil
}

// Now is for [tls.Config.GetCertificate].
func (c *Certificate) Now(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.stamps(); found != c.read {
		c.read = found
		if pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1]); err == nil {
			c.pair = &pair
		} else {
			c.log.Warn(c.named+" have changed and cannot be used; the previous ones stay in use", "error", err)
		}
	}
	return c.pair, nil
}

// stamps returns the stamps of the two files as they are now; zero for a missing file.
func (c *Certificate) stamps() (found [2]stamp) {
	for i, path := range c.files {
		if info, err := os.Stat(path); err == nil {
			found[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return found
}
