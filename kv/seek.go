package kv

import "github.com/sumi-ripple/ripple/schema"

// maxSeeks is the number of partial look-ups before the complete table is built, which takes as long as ten
// of them.
const maxSeeks = 8

// seek ensures that the table contains the URLs with the given hashes. In a read-only store the table is
// empty at first: most commands look up only a few URLs, and would otherwise wait for all to be entered.
func (us *URLs) seek(hashes ...uint64) error {
	x := &us.tx.s.index
	if x.foundAll {
		return nil
	}
	fresh := make(map[uint64]bool, len(hashes))
	for _, hash := range hashes {
		if !x.sought[hash] {
			fresh[hash] = true
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if x.seeks++; x.seeks > maxSeeks {
		return us.findAll()
	}
	if err := us.find(fresh); err != nil {
		return err
	}
	if x.sought == nil {
		x.sought = make(map[uint64]bool)
	}
	for hash := range fresh {
		x.sought[hash] = true
	}
	return nil
}

// find enters the URLs with the given hashes into the table.
func (us *URLs) find(hashes map[uint64]bool) error {
	var maybe [1 << 10]uint64 // a bit for the highest 16 bits of each hash: most URLs match none
	for hash := range hashes {
		maybe[hash>>54] |= 1 << (hash >> 48 & 63)
	}
	_, err := us.eachSeen(func(id schema.ID, hash uint64, _ int64, _, _ byte) {
		if maybe[hash>>54]&(1<<(hash>>48&63)) != 0 && hashes[hash] {
			us.tx.s.lookup.add(hash, id)
		}
	})
	return err
}

// findAll enters all URLs into the table.
func (us *URLs) findAll() error {
	x := &us.tx.s.index
	x.lookup, x.sought = table{}, nil
	x.lookup.reserve(int(us.tx.s.state.urls))
	_, err := us.eachSeen(func(id schema.ID, hash uint64, _ int64, _, _ byte) { x.lookup.add(hash, id) })
	x.foundAll = err == nil
	return err
}
