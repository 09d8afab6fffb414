package kv

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"

	"github.com/sumi-ripple/ripple/schema"
)

// Openings owns the list of openings of the file for writing: the values of the bucket meta whose names begin
// with "opening/". A file has none until [Openings.Begin]; from then on the first commit of every store
// opened for writing adds one, whichever process opens it.
//
// An opening with a commit thus identifies one content of one file. Copies of a file that were written to
// have different openings from then on, and a restored file lacks the later ones. Commit numbers never go
// back, even if [Store.Prune] rewrites the file.
type Openings struct{ tx *base }

// Begin makes the file list its openings, and returns that of this store.
func (o *Openings) Begin() (schema.Opening, error) {
	if err := o.tx.change(); err != nil {
		return schema.Opening{}, err
	}
	if own, begun, err := o.before(o.tx.commit); err != nil || begun != 0 {
		return own, err
	}
	return o.add()
}

// Last returns the newest opening, or zero if the file lists none.
func (o *Openings) Last() (schema.Opening, error) {
	last, _, err := o.before(o.tx.commit)
	return last, err
}

// Now returns the newest opening with the last commit; in an update, with the previous one.
func (o *Openings) Now() (opening schema.Opening, commit uint64, err error) {
	opening, err = o.Last()
	return opening, o.tx.s.state.commit, err
}

// Contains reports whether the file lists an opening and contains a commit of it: one before the next
// opening, and not after the last commit.
func (o *Openings) Contains(opening schema.Opening, commit uint64) (bool, error) {
	if commit > o.tx.s.state.commit {
		return false, nil
	}
	at, begun, err := o.before(commit)
	return begun != 0 && at == opening, err
}

// before returns the opening of a commit, and the commit with which it began; 0: none.
func (o *Openings) before(commit uint64) (last schema.Opening, begun uint64, err error) {
	c := o.tx.bucket(bMeta).Cursor()
	key, value := c.Seek(openingKey(commit)) // or the next key, which is "state" at the latest
	if !bytes.Equal(key, openingKey(commit)) {
		key, value = c.Prev()
	}
	number, ok := bytes.CutPrefix(key, []byte(openingPrefix))
	if !ok {
		return last, 0, nil
	}
	body, err := o.tx.s.seal.open(bMeta, key, value)
	if err == nil && (len(number) != 8 || len(body) < len(last)) {
		err = damaged(bMeta, key, "cannot be decoded")
	}
	if err != nil {
		return last, 0, err
	}
	return schema.Opening(body[:len(last)]), binary.BigEndian.Uint64(number), nil
}

// enter adds the opening of a store to a file that lists openings, in the store's first commit.
func (o *Openings) enter() error {
	_, begun, err := o.before(o.tx.commit)
	if err != nil || begun == 0 {
		return err
	}
	_, err = o.add()
	return err
}

func (o *Openings) add() (id schema.Opening, err error) {
	_, _ = rand.Read(id[:]) // never fails
	w := o.tx.fields()
	w.raw(id[:])
	return id, o.tx.put(bMeta, openingKey(o.tx.commit), w)
}

// check reports an opening that cannot be read or has no commit.
func (o *Openings) check() error {
	return o.tx.each(bMeta, []byte(openingPrefix), func(key []byte, r *reader) (bool, error) {
		number, ok := bytes.CutPrefix(key, []byte(openingPrefix))
		if !ok {
			return false, nil
		}
		if len(number) != 8 || binary.BigEndian.Uint64(number)-1 >= o.tx.s.state.commit || r.raw(16) == nil {
			return false, damaged(bMeta, key, "is no opening")
		}
		return true, nil
	})
}

const openingPrefix = "opening/"

func openingKey(commit uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(openingPrefix), commit)
}
