package kv

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// An Outbox owns the bucket outbox: the foreign URLs that have changed since their shard acknowledged them,
// each with the last commit that changed it.
type Outbox struct {
	tx     *base
	marks  [][]schema.ID             // by shard, in this commit
	blocks map[outboxKey]*markedURLs // read in this commit
	last   *markedURLs               // last block used
}

// Mark records that a foreign URL has changed in this commit; other URLs are ignored.
func (o *Outbox) Mark(id schema.ID) {
	if o.tx.s.rule == nil {
		return
	}
	if err := errors.Join(o.tx.change(), o.tx.known(id)); err != nil {
		o.tx.fail(err)
		return
	}
	host := o.tx.s.HostOf(id)
	if !o.tx.s.Foreign(host) {
		return
	}
	if o.marks == nil {
		o.marks = make([][]schema.ID, o.tx.s.of.Shards)
	}
	shard := o.tx.s.ShardOf(host)
	o.marks[shard] = append(o.marks[shard], id)
}

// Each calls f for the URLs of a shard by id, starting at from, with the commits that last marked them, until
// f returns false. It does not include marks of this commit. f must not change the set.
func (o *Outbox) Each(shard int, from schema.ID, f func(id schema.ID, marked uint64) (bool, error)) error {
	if o.tx.s.rule == nil {
		return nil
	}
	if err := o.writeAll(); err != nil {
		return err
	}
	return o.tx.each(bOutbox, blockKey(shard, from).bytes(), func(key []byte, r *reader) (bool, error) {
		k, all, err := openMarked(key, r)
		if err != nil || k.shard != shard {
			return false, err
		}
		for _, u := range all {
			if u.id < from {
				continue
			}
			if more, err := f(u.id, u.commit); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// Acknowledge removes URLs that no commit after the given one has marked. Ids that are not in the set are
// ignored.
func (o *Outbox) Acknowledge(ids []schema.ID, commit uint64) error {
	if err := o.tx.change(); err != nil {
		return err
	}
	for _, id := range ids {
		b, at, in, err := o.find(id)
		if err != nil {
			return err
		}
		if !in || b.all[at].commit > commit {
			continue
		}
		b.all, b.changed = slices.Delete(b.all, at, at+1), true
		o.tx.s.marked[b.key.shard]--
	}
	return nil
}

// at returns the commit that last marked a URL; 0: it is not in the set.
func (o *Outbox) at(id schema.ID) (marked uint64, err error) {
	b, at, in, err := o.find(id)
	if !in {
		return 0, err
	}
	return b.all[at].commit, nil
}

// find returns the block of a URL, and the URL's position in it, or the position it would have. A file of a
// whole terrain has no blocks.
func (o *Outbox) find(id schema.ID) (b *markedURLs, at int, in bool, err error) {
	if err := o.tx.known(id); err != nil || o.tx.s.rule == nil {
		return nil, 0, false, err
	}
	if b, err = o.block(blockKey(o.tx.s.ShardOf(o.tx.s.HostOf(id)), id)); err != nil {
		return nil, 0, false, err
	}
	at, in = slices.BinarySearchFunc(b.all, id, func(u markedURL, id schema.ID) int { return cmp.Compare(u.id, id) })
	return b, at, in, nil
}

// block returns a block, which may be empty.
func (o *Outbox) block(key outboxKey) (b *markedURLs, err error) {
	if o.last != nil && o.last.key == key {
		return o.last, nil
	}
	if b = o.blocks[key]; b == nil {
		if b, err = o.read(key); err != nil {
			return nil, err
		}
		if o.tx.writable {
			o.keep(b)
		}
	}
	o.last = b
	return b, nil
}

func (o *Outbox) keep(b *markedURLs) {
	if o.blocks == nil {
		o.blocks = map[outboxKey]*markedURLs{}
	}
	o.blocks[b.key] = b
}

func (o *Outbox) read(key outboxKey) (*markedURLs, error) {
	b := &markedURLs{key: key}
	r, ok, err := o.tx.find(bOutbox, key.bytes())
	if ok {
		_, b.all, err = openMarked(key.bytes(), &r)
	}
	return b, err
}

// put marks a URL with a commit.
func (o *Outbox) put(id schema.ID, commit uint64) error {
	b, at, in, err := o.find(id)
	switch {
	case err != nil:
		return err
	case in:
		b.all[at].commit = commit
	default:
		if b.all == nil {
			b.all = make([]markedURL, 0, outboxBlock/4)
		}
		b.all = slices.Insert(b.all, at, markedURL{id, commit})
		o.tx.s.marked[b.key.shard]++
	}
	b.changed = true
	return nil
}

func (o *Outbox) flush() error {
	for _, marks := range o.marks {
		slices.Sort(marks)
		for _, id := range slices.Compact(marks) {
			if err := o.put(id, o.tx.commit); err != nil {
				return err
			}
		}
	}
	return o.writeAll()
}

// writeAll writes the changed blocks.
func (o *Outbox) writeAll() error {
	var changed []*markedURLs
	for _, b := range o.blocks {
		if b.changed {
			changed = append(changed, b)
		}
	}
	slices.SortFunc(changed, func(a, b *markedURLs) int {
		return cmp.Or(cmp.Compare(a.key.shard, b.key.shard), cmp.Compare(a.key.url, b.key.url))
	})
	for _, b := range changed {
		if err := o.write(b); err != nil {
			return err
		}
		b.changed = false
	}
	return nil
}

func (o *Outbox) write(b *markedURLs) error {
	if len(b.all) == 0 {
		return o.tx.delete(bOutbox, b.key.bytes())
	}
	w := o.tx.fields()
	b.encode(w)
	return o.tx.put(bOutbox, b.key.bytes(), w)
}

func (o *Outbox) rebuild() error { return o.all(func(shard, n int) { o.tx.s.marked[shard] += n }) }

func (o *Outbox) check() error { return o.all(func(int, int) {}) }

// all reads every block, and passes its shard and number of URLs to f.
func (o *Outbox) all(f func(shard, n int)) error {
	s := o.tx.s
	if s.rule == nil {
		return nil
	}
	return o.tx.each(bOutbox, nil, func(key []byte, r *reader) (bool, error) {
		k, all, err := openMarked(key, r)
		if err != nil {
			return false, err
		}
		for _, u := range all {
			if host := s.HostOf(u.id); host == 0 || !s.Foreign(host) || s.ShardOf(host) != k.shard {
				return false, damaged(bOutbox, key, "has what is no foreign URL of that shard")
			}
			if u.commit-1 >= s.state.commit {
				return false, damaged(bOutbox, key, "has what was marked by no commit")
			}
		}
		f(k.shard, len(all))
		return true, nil
	})
}
