package statefile

import (
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
)

// load reads a configuration that is to be followed, and tells its notices.
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
