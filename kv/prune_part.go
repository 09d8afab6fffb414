package kv

import (
	"context"

	"github.com/sumi-ripple/ripple/schema"
)

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

// copyInlinks copies the in-links from outside, whichever runs are dropped.
func (p *pruning) copyInlinks() error {
	graph, counts := schema.Graph{}, false
	err := p.old.View(func(old *Tx) (err error) {
		graph, counts, err = old.Inlinks.Graph()
		return err
	})
	if err != nil || !counts {
		return err
	}
	for after, more := "", true; more; {
		if err := context.Cause(p.ctx); err != nil {
			return err
		}
		err := p.both(func(old, next *Tx) error {
			n := 0
			more = false
			return old.Inlinks.each(after, func(l *schema.Inlink) (bool, error) {
				if n++; n > pruneCommit {
					more = true
					return false, nil
				}
				after = l.Host
				_, err := next.Inlinks.Put(l)
				return err == nil, err
			})
		})
		if err != nil {
			return err
		}
	}
	return p.next.Update(func(next *Tx) error { return next.Inlinks.PutGraph(&graph) })
}
