package node

import (
	"context"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// Shards are what the records of all shards say, by shard. What the hub has lost since it was read remains.
type shards []lease.Holder

// unmade returns the shards that never had a file.
func (s shards) unmade() (unmade []int) {
	for n := range s {
		if !s[n].Made() {
			unmade = append(unmade, n)
		}
	}
	return unmade
}

// nodes returns the number of nodes that have files. A file whose node is unknown counts as one.
func (s shards) nodes() (nodes int) {
	seen := map[string]bool{}
	for _, h := range s {
		if h.ID == "" || !seen[h.ID] {
			nodes++
		}
		seen[h.ID] = true
	}
	return nodes
}

// share returns the shards for which a node that has some already makes files next: up to its share of all, or, with
// left, whatever others have left unmade for long; but no more than most in total (0: no limit). Each node begins at
// another place, so that two of them rarely make a file for the same shard. A shard for which skip returns true is
// left out.
func (s shards) share(own, place, nodes, most int, left bool, skip func(shard int) bool) (next []int) {
	share := (len(s) + nodes - 1) / nodes
	limit := share
	if left {
		limit = len(s)
	}
	if most > 0 {
		limit = min(limit, most)
	}
	for i := range s {
		shard := (place*share + i) % len(s)
		if own+len(next) < limit && !s[shard].Made() && !skip(shard) {
			next = append(next, shard)
		}
	}
	return next
}

// survey reads the records of shards that have changed. Once every shard has a file, it writes that into the charter.
func (m *member) survey(ctx context.Context) error {
	changed, _, err := m.changes.Changes(ctx)
	if err != nil {
		return err
	}
	known, now := m.records(), slices.Clone(m.records())
	for _, r := range changed {
		n, ok := hub.Shard(r.Key)
		h, err := lease.HolderOf(r.Key, r.Value)
		if !ok || n >= len(now) || err != nil || !h.Made() && h.Epoch <= known[n].Epoch {
			continue
		}
		now[n] = h
	}
	m.mu.Lock()
	m.shards = now
	m.shared.ShareAddresses(now.nodes())
	m.mu.Unlock()
	if m.get().Made || len(now.unmade()) > 0 {
		return nil
	}
	_, err = m.change(ctx, func(c *charter) (bool, error) {
		was := c.Made
		c.Made = true
		return !was, nil
	})
	return err
}

// surveyFirst calls survey until it succeeds or ctx is done. The hub may be away.
func (m *member) surveyFirst(ctx context.Context) error {
	for said := false; ; {
		err := m.survey(ctx)
		if err == nil {
			return nil
		}
		if !said && !errors.Is(err, hub.ErrAway) {
			said = true
			m.log.Warn("the records of the shards cannot be read yet", "error", err)
		}
		if err := sleep(ctx, m.timing.Renew/10); err != nil {
			return err
		}
	}
}
