package kv

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// An Outbox owns the bucket outbox: the foreign URLs of which something has changed since
// their shard acknowledged it, each with the last commit that changed it.
type Outbox struct {
	tx    *base
	marks []schema.ID
}

// Mark notes that a foreign URL has changed in this commit; of any other it does nothing.
func (o *Outbox) Mark(id schema.ID) {
	if o.tx.s.rule == nil {
		return
	}
	if err := errors.Join(o.tx.change(), o.tx.known(id)); err != nil {
		o.tx.fail(err)
	} else if o.tx.s.Foreign(o.tx.s.HostOf(id)) {
		o.marks = append(o.marks, id)
	}
}

// Each calls f for the URLs of a shard by id, from one on, with the commits that have
// last marked them, until f returns false. It does not see what this commit marks. f must
// not change the set.
func (o *Outbox) Each(shard int, from schema.ID, f func(id schema.ID, marked uint64) (bool, error)) error {
	if o.tx.s.rule == nil {
		return nil
	}
	return o.tx.each(bOutbox, outboxKey(shard, from), func(key []byte, r *reader) (bool, error) {
		if len(key) != 5 {
			return false, damaged(bOutbox, key, "is no URL")
		}
		if int(key[0]) != shard {
			return false, nil
		}
		return f(schema.ID(binary.BigEndian.Uint32(key[1:])), r.uint())
	})
}

// Acknowledge takes URLs out that no commit after the given one has marked. Ids that are
// not in the set are no error.
func (o *Outbox) Acknowledge(ids []schema.ID, commit uint64) error {
	if err := o.tx.change(); err != nil {
		return err
	}
	for _, id := range ids {
		marked, err := o.at(id)
		if err != nil {
			return err
		}
		if marked == 0 || marked > commit {
			continue
		}
		shard := o.tx.s.ShardOf(o.tx.s.HostOf(id))
		if err := o.tx.delete(bOutbox, outboxKey(shard, id)); err != nil {
			return err
		}
		o.tx.s.marked[shard]--
	}
	return nil
}

// at returns the commit that has last marked a URL; 0: it is not in the set.
func (o *Outbox) at(id schema.ID) (marked uint64, err error) {
	if err := o.tx.known(id); err != nil || o.tx.s.rule == nil {
		return 0, err
	}
	key := outboxKey(o.tx.s.ShardOf(o.tx.s.HostOf(id)), id)
	r, ok, err := o.tx.find(bOutbox, key)
	if !ok {
		return 0, err
	}
	if marked = r.uint(); marked == 0 {
		err = damaged(bOutbox, key, "was marked by no commit")
	}
	return marked, err
}

// put marks a URL as of a commit.
func (o *Outbox) put(id schema.ID, commit uint64) error {
	was, err := o.at(id)
	if err != nil || was == commit {
		return err
	}
	shard := o.tx.s.ShardOf(o.tx.s.HostOf(id))
	if was == 0 {
		o.tx.s.marked[shard]++
	}
	w := o.tx.fields()
	w.uint(commit)
	return o.tx.put(bOutbox, outboxKey(shard, id), w)
}

func (o *Outbox) flush() error {
	slices.Sort(o.marks)
	for _, id := range slices.Compact(o.marks) {
		if err := o.put(id, o.tx.commit); err != nil {
			return err
		}
	}
	return nil
}

func (o *Outbox) rebuild() error { return o.all(func(shard int) { o.tx.s.marked[shard]++ }) }

func (o *Outbox) check() error { return o.all(func(int) {}) }

// all looks at every entry.
func (o *Outbox) all(f func(shard int)) error {
	s := o.tx.s
	if s.rule == nil {
		return nil
	}
	return o.tx.each(bOutbox, nil, func(key []byte, r *reader) (bool, error) {
		id := schema.ID(0)
		if len(key) == 5 {
			id = schema.ID(binary.BigEndian.Uint32(key[1:]))
		}
		if host := s.HostOf(id); host == 0 || !s.Foreign(host) || s.ShardOf(host) != int(key[0]) {
			return false, damaged(bOutbox, key, "is no foreign URL of that shard")
		}
		if r.uint()-1 >= s.state.commit {
			return false, damaged(bOutbox, key, "was marked by no commit")
		}
		f(int(key[0]))
		return true, nil
	})
}

func outboxKey(shard int, id schema.ID) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(shard)}, uint32(id))
}
