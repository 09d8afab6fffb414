package exchange

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Enter has a file be a part of a terrain, and list its openings. Where the terrain has come
// to another run or configuration since, all that other shards are to know is told again
// under the new numbers, from a cursor on. It is idempotent; what [kv.Part.Put] refuses it
// does.
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
