package merge

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// partial reports whether shards are left out.
func (m *merger) partial() bool { return m.without != schema.Shards{} }

// beginPart makes the new file a part of the terrain if shards are left out, with the run and configuration
// of the most advanced shard.
func (m *merger) beginPart() error {
	if !m.partial() {
		return nil
	}
	return m.dst.Update(func(tx *kv.Tx) error { return tx.Part.Put(m.part()) })
}

func (m *merger) part() schema.Part {
	whole := m.sources[0].store.Part()
	for _, s := range m.sources {
		part := s.store.Part()
		whole.Run, whole.Configuration = max(whole.Run, part.Run), max(whole.Configuration, part.Configuration)
	}
	whole.Shard, whole.Without = 0, m.without
	return whole
}

// copyTold copies the inbound records of the shards, which include those from shards that are left out; these
// cannot be told apart. Records from the other shards are also in the links of their visits, with the same
// depths. A record counts in the new file if it counts in the file of its shard.
func (m *merger) copyTold() error {
	if !m.partial() {
		return nil
	}
	now := m.part()
	return m.each(func(s *source) int { return s.store.URLs() }, func(tx *kv.Tx, s *source, n int) error {
		told, ok, err := s.tx.Inbound.At(schema.ID(n))
		if err != nil || !ok {
			return err
		}
		if !told.Counts(s.store.Part()) {
			return nil
		}
		told.Run, told.Configuration = now.Run, now.Configuration
		return tx.Inbound.Put(s.urls[n], told)
	})
}
