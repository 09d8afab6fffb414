package statefile

import (
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
)

// LoadConfig reads a configuration that will be followed, and reports its notices.
func LoadConfig(path string, v *term.Voice) (*config.Config, error) {
	cfg, notices, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	for _, n := range notices {
		v.Warn(term.Event("configuration", string(n), "notice", string(n)))
	}
	return cfg, nil
}
