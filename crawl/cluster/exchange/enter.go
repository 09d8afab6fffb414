package exchange

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Enter makes a file part of a terrain, with a list of its openings. If the terrain has a new run or
// configuration, everything is sent to other shards again under the new numbers, starting from a cursor.
// Enter is idempotent, and refuses what [kv.Part.Put] refuses.
func Enter(tx *kv.Tx, part schema.Part) error {
	was := tx.Part.Of()
	if _, err := tx.Openings.Begin(); err != nil {
		return err
	}
	if err := tx.Part.Put(part); err != nil || was.Shards == 0 ||
		was.Run == part.Run && was.Configuration == part.Configuration {
		return err
	}
	for n := range part.Shards {
		if n == part.Shard {
			continue
		}
		peer, err := tx.Peers.At(n)
		if err != nil {
			return err
		}
		peer.Cursor = 1
		if err := tx.Peers.Put(n, peer); err != nil {
			return err
		}
	}
	return nil
}
