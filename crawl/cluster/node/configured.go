package node

import (
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"github.com/sumi-ripple/ripple/schema/config"
)

// A configured holds the configuration that this machine follows. It is read from the machine's own file, and
// adopted only if the file agrees with the charter.
type configured struct {
	load    func() (*config.Config, error)
	prepare func(*config.Config) error
	log     *slog.Logger

	mu      sync.Mutex
	cfg     *config.Config
	number  uint64 // of cfg in the terrain
	refused string // why the configuration of the charter is not followed, as last logged
}

// now returns the configuration that is followed, and its number.
func (c *configured) now() (*config.Config, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cfg, c.number
}

// adopt follows the configuration of a charter once the file of this machine agrees with it.
func (c *configured) adopt(of *charter) {
	if _, number := c.now(); number == of.Configuration {
		return
	}
	cfg, err := c.read(of.Config)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.cfg, c.number, c.refused = cfg, of.Configuration, ""
		c.log.Info("the configuration was read again", "number", of.Configuration)
	} else if text := err.Error(); text != c.refused {
		c.refused = text
		c.log.Warn("the configuration of the terrain has changed; change the file of this machine to match",
			"error", err)
	}
}

// read reads the file, which must have the given digests, and prepares what the configuration needs.
func (c *configured) read(want map[string]string) (*config.Config, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	if own := digests(cfg.Shared()); !maps.Equal(own, want) {
		return nil, fmt.Errorf("%w: %s differ", ErrConfig, differing(own, want))
	}
	return cfg, c.prepare(cfg)
}
