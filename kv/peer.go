package kv

import "github.com/sumi-ripple/ripple/schema"

// Peers owns the bucket peers: the last answer of each shard.
type Peers struct{ tx *base }

// At returns what is known about a shard; the zero value: nothing.
func (ps *Peers) At(shard int) (schema.Peer, error) {
	if ps.tx.s.rule == nil {
		return schema.Peer{}, nil
	}
	r, ok, err := ps.tx.find(bPeers, []byte{byte(shard)})
	if !ok {
		return schema.Peer{}, err
	}
	p := decodePeer(&r)
	if r.bad {
		return p, damaged(bPeers, []byte{byte(shard)}, "cannot be decoded")
	}
	return p, nil
}

// Put replaces what is known about another shard.
func (ps *Peers) Put(shard int, p schema.Peer) error {
	if err := ps.tx.change(); err != nil {
		return err
	}
	s := ps.tx.s
	key := []byte{byte(shard)}
	if s.rule == nil || shard == s.of.Shard || shard < 0 || shard >= s.of.Shards {
		return damaged(bPeers, key, "is no other shard")
	}
	s.cursors[shard] = p.Cursor != 0
	w := ps.tx.fields()
	w.raw(p.Opening[:])
	w.uint(p.Commit)
	w.uint(uint64(p.Cursor))
	return ps.tx.put(bPeers, key, w)
}

func (ps *Peers) rebuild() error {
	return ps.each(func(shard int, p schema.Peer) { ps.tx.s.cursors[shard] = p.Cursor != 0 })
}

func (ps *Peers) check() error { return ps.each(func(int, schema.Peer) {}) }

func (ps *Peers) each(f func(shard int, p schema.Peer)) error {
	s := ps.tx.s
	if s.rule == nil {
		return nil
	}
	return ps.tx.each(bPeers, nil, func(key []byte, r *reader) (bool, error) {
		if len(key) != 1 || int(key[0]) == s.of.Shard || int(key[0]) >= s.of.Shards {
			return false, damaged(bPeers, key, "is no other shard")
		}
		f(int(key[0]), decodePeer(r))
		return true, nil
	})
}

func decodePeer(r *reader) (p schema.Peer) {
	copy(p.Opening[:], r.raw(uint64(len(p.Opening))))
	p.Commit, p.Cursor = r.uint(), r.id()
	return p
}
