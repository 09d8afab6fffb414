package kv

import (
	"encoding/binary"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// A writer appends the fields of a value. Integers are varints, signed ones
// zigzag-coded; a string is its length and its bytes.
type writer struct{ b []byte }

func (w *writer) byte(v byte)     { w.b = append(w.b, v) }
func (w *writer) uint(v uint64)   { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)     { w.b = binary.AppendVarint(w.b, v) }
func (w *writer) raw(v []byte)    { w.b = append(w.b, v...) }
func (w *writer) fixed(v uint64)  { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *writer) string(v string) { w.uint(uint64(len(v))); w.b = append(w.b, v...) }

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
		return
	}
	w.byte(0)
}

// seconds writes a time in whole seconds; 0 is the zero time.
func (w *writer) seconds(t time.Time) { w.stamp(t, t.Unix()) }

// millis writes a time in milliseconds; 0 is the zero time.
func (w *writer) millis(t time.Time) { w.stamp(t, t.UnixMilli()) }

func (w *writer) stamp(t time.Time, v int64) {
	if t.IsZero() {
		w.uint(0)
		return
	}
	w.uint(zigzag(v) + 1)
}

// ids writes a list of ids, each as its difference from the previous one.
func (w *writer) ids(ids []schema.ID) {
	w.uint(uint64(len(ids)))
	w.deltas(ids)
}

func (w *writer) deltas(ids []schema.ID) {
	before := int64(0)
	for _, id := range ids {
		w.int(int64(id) - before)
		before = int64(id)
	}
}

// A reader reads the fields of a value. After the first unreadable field it is bad and returns only zero
// values, so a decoder needs to check only once, at its end.
type reader struct {
	b    []byte
	bad  bool
	lean bool // text skips texts
}

func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) bool() bool { return r.byte() != 0 }

func (r *reader) uint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 { return unzigzag(r.uint()) }

func (r *reader) fixed() uint64 {
	b := r.raw(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// raw returns the next n bytes without copying; nil if there are fewer.
func (r *reader) raw(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) string() string { return string(r.raw(r.uint())) }

// text is string, but returns an empty string if the reader is lean.
func (r *reader) text() string {
	b := r.raw(r.uint())
	if r.lean {
		return ""
	}
	return string(b)
}

// length returns the number of following elements, each of at least size bytes.
func (r *reader) length(size int) int {
	n := r.uint()
	if n > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// narrow returns an unsigned integer that must not exceed limit.
func (r *reader) narrow(limit uint64) uint64 {
	v := r.uint()
	if v > limit {
		r.fail()
		return 0
	}
	return v
}

func (r *reader) id() schema.ID { return schema.ID(r.narrow(1<<32 - 1)) }

func (r *reader) seconds() time.Time {
	v, given := r.stamp()
	if !given {
		return time.Time{}
	}
	return time.Unix(v, 0).UTC()
}

func (r *reader) millis() time.Time {
	v, given := r.stamp()
	if !given {
		return time.Time{}
	}
	return time.UnixMilli(v).UTC()
}

func (r *reader) stamp() (int64, bool) {
	v := r.uint()
	if v == 0 {
		return 0, false
	}
	return unzigzag(v - 1), true
}

// ids appends a list written by [writer.ids].
func (r *reader) ids(dst []schema.ID) []schema.ID {
	return r.deltas(dst, r.length(1))
}

func (r *reader) deltas(dst []schema.ID, n int) []schema.ID {
	before := int64(0)
	for range n {
		before += r.int()
		if before < 0 || before > 1<<32-1 {
			r.fail()
		}
		if r.bad {
			return dst
		}
		dst = append(dst, schema.ID(before))
	}
	return dst
}

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
