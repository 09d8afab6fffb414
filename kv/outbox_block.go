package kv

import (
	"encoding/binary"

	"github.com/sumi-ripple/ripple/schema"
)

// outboxBlock is the number of URLs in a block. Most of what a commit marks, or a letter
// tells, has ids that follow each other.
const outboxBlock = 64

// An outboxKey is a shard and a URL of it: the first that a block may have, or the only one
// of a record of an older release.
type outboxKey struct {
	shard int
	url   schema.ID
}

// blockKey returns the key of the block that has a URL.
func blockKey(shard int, id schema.ID) outboxKey {
	return outboxKey{shard, max(id, 1) - (max(id, 1)-1)%outboxBlock}
}

func (k outboxKey) bytes() []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(k.shard)}, uint32(k.url))
}

// The markedURLs are those of a block, by id.
type markedURLs struct {
	key     outboxKey
	all     []markedURL
	single  []outboxKey // of records of one URL each, which the block takes the place of
	changed bool        // by this commit
}

// A markedURL is in the outbox.
type markedURL struct {
	id     schema.ID
	commit uint64 // that marked it last
}

// encode writes a block. It begins with a zero, where a record of one URL has the commit.
func (b *markedURLs) encode(w *writer) {
	w.uint(0)
	w.uint(uint64(len(b.all)))
	for _, u := range b.all {
		w.byte(byte(u.id - b.key.url))
		w.uint(u.commit)
	}
}

// add adds the URLs of a record of the block.
func (b *markedURLs) add(key []byte, r *reader) error {
	k, all, err := openMarked(key, r)
	if err != nil {
		return err
	}
	if k != b.key {
		b.single = append(b.single, k)
	}
	if n := len(b.all); n > 0 && b.all[n-1].id >= all[0].id {
		return damaged(bOutbox, key, "is there twice")
	}
	b.all = append(b.all, all...)
	return nil
}

// openMarked reads the URLs of a record.
func openMarked(key []byte, r *reader) (k outboxKey, all []markedURL, err error) {
	if len(key) != 5 {
		return k, nil, damaged(bOutbox, key, "is no URL")
	}
	k = outboxKey{int(key[0]), schema.ID(binary.BigEndian.Uint32(key[1:]))}
	if commit := r.uint(); commit != 0 {
		return k, []markedURL{{k.url, commit}}, nil
	}
	n := r.length(2)
	if all = make([]markedURL, 0, n); k != blockKey(k.shard, k.url) || n == 0 {
		r.fail()
	}
	for next := byte(0); n > 0 && !r.bad; n-- {
		place := r.byte()
		if place < next || place >= outboxBlock || uint64(k.url)+uint64(place) > 1<<32-1 {
			r.fail()
		}
		all = append(all, markedURL{k.url + schema.ID(place), r.uint()})
		next = place + 1
	}
	if r.bad {
		return k, nil, damaged(bOutbox, key, "cannot be decoded")
	}
	return k, all, nil
}
