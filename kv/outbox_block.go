package kv

import (
	"encoding/binary"

	"github.com/sumi-ripple/ripple/schema"
)

// outboxBlock is the number of URLs in a block. Most URLs marked by a commit, or sent in a letter, have
// consecutive ids.
const outboxBlock = 64

// An outboxKey is a shard and the first possible URL of a block.
type outboxKey struct {
	shard int
	url   schema.ID
}

// blockKey returns the key of the block of a URL.
func blockKey(shard int, id schema.ID) outboxKey {
	return outboxKey{shard, max(id, 1) - (max(id, 1)-1)%outboxBlock}
}

func (k outboxKey) bytes() []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(k.shard)}, uint32(k.url))
}

// markedURLs are the URLs of a block, by id.
type markedURLs struct {
	key     outboxKey
	all     []markedURL
	changed bool // in this commit
}

// A markedURL is a URL in the outbox.
type markedURL struct {
	id     schema.ID
	commit uint64 // that last marked it
}

func (b *markedURLs) encode(w *writer) {
	w.uint(uint64(len(b.all)))
	for _, u := range b.all {
		w.byte(byte(u.id - b.key.url))
		w.uint(u.commit)
	}
}

// openMarked decodes a block.
func openMarked(key []byte, r *reader) (k outboxKey, all []markedURL, err error) {
	if len(key) != 5 {
		return k, nil, damaged(bOutbox, key, "is no URL")
	}
	k = outboxKey{int(key[0]), schema.ID(binary.BigEndian.Uint32(key[1:]))}
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
