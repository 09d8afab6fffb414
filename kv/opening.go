package kv

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"

	"github.com/sumi-ripple/ripple/schema"
)

// Openings owns the list of the times that the file was opened for writing: the values
// of the bucket meta whose names begin with "opening/". A file has none until
// [Openings.Begin]; from then on the first commit of every store that is opened for
// writing adds one to what it changes, whoever opens it.
//
// So an opening with a commit tells one content of one file from all others. Copies of a
// file that were written to have different openings from there on, and one that was
// restored lacks what came later. Commit numbers never go back, also where [Store.Prune]
// writes the file anew.
type Openings struct{ tx *base }

// Begin has the file list its openings, and returns that of this store.
func (o *Openings) Begin() (schema.Opening, error) {
	if err := o.tx.change(); err != nil {
		return schema.Opening{}, err
	}
	if own, begun, err := o.before(o.tx.commit); err != nil || begun != 0 {
		return own, err
	}
	return o.add()
}

// Last returns the newest opening; it is zero where the file lists none.
func (o *Openings) Last() (schema.Opening, error) {
	last, _, err := o.before(o.tx.commit)
	return last, err
}

// Now returns the newest opening with the last commit; in an update, with that before it.
func (o *Openings) Now() (opening schema.Opening, commit uint64, err error) {
	opening, err = o.Last()
	return opening, o.tx.s.state.commit, err
}

// Contains reports whether the file lists an opening and holds a commit of it: one that
// lies before the next opening, and is not above the last commit.
func (o *Openings) Contains(opening schema.Opening, commit uint64) (bool, error) {
	if commit > o.tx.s.state.commit {
		return false, nil
	}
	at, begun, err := o.before(commit)
	return begun != 0 && at == opening, err
}

// before returns the opening that a commit is of, and the commit that it began with; 0:
// there is none.
func (o *Openings) before(commit uint64) (last schema.Opening, begun uint64, err error) {
	c := o.tx.bucket(bMeta).Cursor()
	key, value := c.Seek(openingKey(commit)) // or what comes after, which is "state" at the latest
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

// enter adds the opening of a store to a file that lists them, in its first commit.
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

// check reports an opening that cannot be read, or that is of no commit.
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
