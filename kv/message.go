package kv

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/sumi-ripple/ripple/schema"
)

// Messages owns the messages not yet sent to the webhook: the values of the bucket meta whose names begin
// with "message/".
type Messages struct{ tx *base }

// Each calls f for every message, oldest first, until f returns false. f must not add,
// change or delete one.
func (ms *Messages) Each(f func(*schema.Message) (more bool, err error)) error {
	return ms.tx.each(bMeta, messageKey(0), func(key []byte, r *reader) (bool, error) {
		seq, ok := messageSeq(key)
		if !ok {
			return false, nil
		}
		m := decodeMessage(r, seq)
		if r.bad {
			return false, damaged(bMeta, key, "cannot be decoded")
		}
		return f(m)
	})
}

// Heads calls f for every message without its body, oldest first, until f returns false. It reads no bodies,
// and so, unlike [Messages.At], verifies no checksums.
func (ms *Messages) Heads(f func(*schema.Message) (more bool)) error {
	c := ms.tx.bucket(bMeta).Cursor()
	for key, value := c.Seek(messageKey(0)); key != nil; key, value = c.Next() {
		seq, ok := messageSeq(key)
		if !ok {
			break
		}
		r := &reader{b: value[min(1, len(value)):]}
		m := decodeHead(r, seq)
		if r.bad {
			return damaged(bMeta, key, "cannot be decoded")
		}
		if !f(m) {
			break
		}
	}
	return nil
}

// Last returns the newest message, and the number of messages; nil if there are none.
func (ms *Messages) Last() (last *schema.Message, n int, err error) {
	var newest uint64
	c := ms.tx.bucket(bMeta).Cursor()
	for key, _ := c.Seek(messageKey(0)); key != nil; key, _ = c.Next() {
		seq, ok := messageSeq(key)
		if !ok {
			break
		}
		newest = seq
		n++
	}
	if n > 0 {
		last, err = ms.At(newest)
	}
	return last, n, err
}

// Put stores a message: an existing one, or a new one, whose Seq it sets.
func (ms *Messages) Put(m *schema.Message) error {
	if err := ms.tx.change(); err != nil {
		return err
	}
	if m.Seq == 0 {
		last, _, err := ms.Last()
		if err != nil {
			return err
		}
		if m.Seq = 1; last != nil {
			m.Seq = last.Seq + 1
		}
	}
	w := ms.tx.fields()
	encodeMessage(w, m)
	return ms.tx.put(bMeta, messageKey(m.Seq), w)
}

// At returns a stored message, or [ErrNotFound].
func (ms *Messages) At(seq uint64) (*schema.Message, error) {
	r, err := ms.tx.get(bMeta, messageKey(seq))
	if err != nil {
		return nil, err
	}
	m := decodeMessage(&r, seq)
	if r.bad {
		return nil, damaged(bMeta, messageKey(seq), "cannot be decoded")
	}
	return m, nil
}

// Delete removes a message; a missing one is not an error.
func (ms *Messages) Delete(seq uint64) error {
	return errors.Join(ms.tx.change(), ms.tx.delete(bMeta, messageKey(seq)))
}

func encodeMessage(w *writer, m *schema.Message) {
	w.string(m.ID)
	w.string(m.Kind)
	w.millis(m.Made)
	w.uint(uint64(m.Tries))
	w.millis(m.Next)
	w.string(string(m.Body))
}

func decodeHead(r *reader, seq uint64) *schema.Message {
	return &schema.Message{
		Seq: seq, ID: r.string(), Kind: r.string(), Made: r.millis(), Tries: int(r.narrow(1 << 20)), Next: r.millis(),
	}
}

func decodeMessage(r *reader, seq uint64) *schema.Message {
	m := decodeHead(r, seq)
	m.Body = bytes.Clone(r.raw(r.uint()))
	return m
}

const messagePrefix = "message/"

func messageKey(seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte(messagePrefix), seq) }

// messageSeq returns the position in a key of the bucket meta, if the key is that of a message.
func messageSeq(key []byte) (seq uint64, ok bool) {
	number, ok := bytes.CutPrefix(key, []byte(messagePrefix))
	if !ok || len(number) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(number), true
}
