package statefile

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// LastConfig is the effective configuration of the last run.
func LastConfig(store *kv.Store) (cfg *config.Config, err error) {
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err == nil && len(runs) == 0 {
			err = survey.ErrNoRun
		}
		if err != nil {
			return err
		}
		cfg, err = ConfigOf(tx, runs[len(runs)-1])
		return err
	})
	return cfg, err
}

func ConfigOf(tx *kv.Tx, run schema.Run) (*config.Config, error) {
	text, err := tx.Runs.Config(run.Config)
	if err != nil {
		return nil, err
	}
	return config.ParseEffective(text)
}
