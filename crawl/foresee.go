package crawl

import (
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Foresee says which run [Begin] would continue or begin under a configuration,
// or refuses as it would, with [ErrIdentity]. It writes nothing.
func Foresee(store *kv.Store, cfg *config.Config) (Begun, error) {
	var b Begun
	r := &recorder{store: store, set: &settings{cfg: cfg}, started: time.Now()}
	err := store.View(func(tx *kv.Tx) error {
		identity, err := tx.Meta(metaIdentity)
		if err == nil && identity != nil {
			err = r.checkIdentity(tx)
		}
		if err == nil {
			_, err = r.chooseRun(tx, &b)
		}
		return err
	})
	b.Run = r.run
	return b, err
}
