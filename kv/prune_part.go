package kv

import "github.com/sumi-ripple/ripple/schema"

// markPart keeps the URLs that other shards have reported, or that are still to be sent to them.
func (p *pruning) markPart(tx *Tx) error {
	for shard := range p.old.of.Shards {
		err := tx.Outbox.Each(shard, 0, func(id schema.ID, _ uint64) (bool, error) {
			p.urls[id] = 1
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return tx.Inbound.Each(func(id schema.ID, _ schema.Inbound) (bool, error) {
		p.urls[id] = 1
		return true, nil
	})
}

// beginPart makes the new file hold the same part as the old one.
func (p *pruning) beginPart() error {
	if p.old.rule == nil {
		return nil
	}
	return p.next.Update(func(next *Tx) error { return next.Part.Put(p.old.of) })
}

// copyPart copies what is to be sent to other shards, and what they have reported.
func (p *pruning) copyPart() error {
	if p.old.rule == nil {
		return nil
	}
	err := p.both(func(old, next *Tx) error {
		for shard := range p.old.of.Shards {
			peer, err := old.Peers.At(shard)
			if peer.Cursor != 0 {
				peer.Cursor = 1 // ids have changed
			}
			if err == nil && peer != (schema.Peer{}) {
				err = next.Peers.Put(shard, peer)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.batches(p.urls, func(old, next *Tx, n int) error {
		told, ok, err := old.Inbound.At(schema.ID(n))
		if err == nil && ok {
			err = next.Inbound.Put(p.url(schema.ID(n)), told)
		}
		if err != nil {
			return err
		}
		marked, err := old.Outbox.at(schema.ID(n))
		if err != nil || marked == 0 {
			return err
		}
		return next.Outbox.put(p.url(schema.ID(n)), marked)
	})
}
