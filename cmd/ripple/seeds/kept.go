package seeds

import (
	"encoding/json"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// WithKept adds the additional seeds of the last run to its configuration.
func WithKept(store *kv.Store, cfg *config.Config) (*config.Config, error) {
	var kept Extra
	err := store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		text, err := tx.Meta.Value(metaSeeds)
		if err == nil && text != nil {
			err = json.Unmarshal(text, &kept)
		}
		if kept.Run != runs[len(runs)-1].ID {
			kept.URLs = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return kept.JoinKept(cfg, 0)
}
