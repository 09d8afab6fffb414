package desk

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/schema/config"
)

// A certificate is what the files of a configuration hold, also when they were renewed:
// they are looked at when somebody begins to speak TLS, and read again when one of them
// has changed. As long as what they hold cannot be used, what they held before is. It may
// be used from any goroutine.
type certificate struct {
	files config.Monitor
	log   *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	read [2]stamp // when the files were last read
}

// A stamp is by which a file is known to be the one that was read.
type stamp struct {
	modified time.Time
	size     int64
}

// newCertificate reads the certificate and its key.
func newCertificate(m config.Monitor, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: m, log: log, read: stamps(m)}
	pair, err := tls.LoadX509KeyPair(m.CertFile, m.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("[monitor] cert-file and key-file: %w", err)
	}
	c.pair = &pair
	return c, nil
}

// now is for [tls.Config.GetCertificate].
func (c *certificate) now(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := stamps(c.files); found != c.read {
		c.read = found
		if pair, err := tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile); err == nil {
			c.pair = &pair
		} else {
			c.log.Warn("[monitor] cert-file and key-file were changed and cannot be used; the desk goes on with those before",
				"error", err)
		}
	}
	return c.pair, nil
}

// stamps are those of the two files as they are now; of one that is not there it is zero.
func stamps(m config.Monitor) (found [2]stamp) {
	for i, path := range []string{m.CertFile, m.KeyFile} {
		if info, err := os.Stat(path); err == nil {
			found[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return found
}
