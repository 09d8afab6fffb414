package kv

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/sumi-ripple/ripple/schema"
)

// A state holds the counters of the file, which are written with every commit.
type state struct {
	commit     uint64
	urls       uint32
	hosts      uint32
	visits     uint32
	generation uint32
	runs       uint32
	shapes     uint64 // number of values in that bucket
	depths     uint64 // number of values of this generation
	pending    bool   // there is a list of pending URLs
	reapply    bool
}

func (s *state) encode(w *writer) {
	w.uint(s.commit)
	w.uint(uint64(s.urls))
	w.uint(uint64(s.hosts))
	w.uint(uint64(s.visits))
	w.uint(uint64(s.generation))
	w.uint(uint64(s.runs))
	w.uint(s.shapes)
	w.uint(s.depths)
	w.bool(s.pending)
	w.bool(s.reapply)
}

func (s *state) decode(r *reader) {
	s.commit = r.uint()
	s.urls = uint32(r.id())
	s.hosts = uint32(r.id())
	s.visits = uint32(r.id())
	s.generation = uint32(r.id())
	s.runs = uint32(r.id())
	s.shapes = r.uint()
	s.depths = r.uint()
	s.pending = r.bool()
	s.reapply = r.bool()
}

func (s *state) lastRun() schema.RunID { return schema.RunID(s.runs) }

func (tx *base) putState() error {
	w := tx.fields()
	tx.s.state.encode(w)
	return tx.put(bMeta, []byte("state"), w)
}

func (tx *base) putFormat() error {
	w := tx.fields()
	w.uint(formatVersion)
	w.fixed(tx.s.seed)
	return tx.put(bMeta, []byte("format"), w)
}

// readMeta reads the format, which must be supported, and the counters.
func (tx *base) readMeta() error {
	if tx.b.Bucket([]byte(bMeta.String())) == nil {
		return ErrForeign
	}
	r, ok, err := tx.find(bMeta, []byte("format"))
	if !ok {
		return cmp.Or(err, ErrForeign)
	}
	version := r.uint()
	if !r.bad && version != formatVersion {
		return ErrFormat
	}
	if tx.s.seed = r.fixed(); r.bad {
		return damaged(bMeta, []byte("format"), "cannot be decoded")
	}
	if r, err = tx.get(bMeta, []byte("state")); err != nil {
		return err
	}
	var counted state
	if counted.decode(&r); r.bad {
		return damaged(bMeta, []byte("state"), "cannot be decoded")
	}
	if int64(max(counted.urls, counted.hosts, counted.visits)) > tx.b.Size()/8 {
		return damaged(bMeta, []byte("state"), "counts more than the file can hold")
	}
	tx.s.state = counted
	tx.commit = tx.s.state.commit
	return nil
}

// Meta owns the named values in the bucket meta, and the mark that a changed configuration must still be
// applied.
type Meta struct{ tx *base }

// MetaRecreated is the name of the value with the run in which a shard's file replaced a lost one; a map with such
// a shard has it, too. What the old file told others in that run is in their depths, possibly without any
// remaining link.
const MetaRecreated = "recreated in run"

// MetaRecreatedAt is the name of the value with the time at which such a file was made, in RFC 3339. The requests
// of the previous file until then, and the suspensions that hosts asked it for, are unknown.
const MetaRecreatedAt = "recreated at"

// MetaMerged is the name of a value that only a file merged from shards has.
const MetaMerged = "merged"

// MetaSplit is the name of the value that a file has once it is split into shards, which are crawled in its place.
const MetaSplit = "split"

// MetaGiven is the name of the value that a shard's file has once it is given to another machine, which has a copy from
// before that commit.
const MetaGiven = "given"

// Value returns a value stored by [Meta.Put]; nil if there is none.
func (m *Meta) Value(name string) ([]byte, error) {
	r, ok, err := m.tx.find(bMeta, metaKey(name))
	if !ok {
		return nil, err
	}
	return append([]byte{}, r.b...), nil
}

// Each calls f for every named value, by name.
func (m *Meta) Each(f func(name string, value []byte) error) error {
	return m.tx.each(bMeta, []byte(valuePrefix), func(key []byte, r *reader) (bool, error) {
		name, ok := bytes.CutPrefix(key, []byte(valuePrefix))
		if !ok {
			return false, nil
		}
		err := f(string(name), bytes.Clone(r.b))
		return err == nil, err
	})
}

// Put stores a named value; nil removes it.
func (m *Meta) Put(name string, value []byte) error {
	if err := m.tx.change(); err != nil {
		return err
	}
	if value == nil {
		return m.tx.delete(bMeta, metaKey(name))
	}
	w := m.tx.fields()
	w.raw(value)
	return m.tx.put(bMeta, metaKey(name), w)
}

const valuePrefix = "value/"

func metaKey(name string) []byte { return []byte(valuePrefix + name) }

// Pruned returns the first run whose visits are all in the file; 0: it was never pruned.
func (m *Meta) Pruned() (schema.RunID, error) {
	text, err := m.Value(MetaPruned)
	if err != nil || text == nil {
		return 0, err
	}
	first, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil {
		return 0, damaged(bMeta, metaKey(MetaPruned), "names no run")
	}
	return schema.RunID(first), nil
}

// Reapply reports whether a changed configuration must still be applied.
func (m *Meta) Reapply() bool { return m.tx.s.state.reapply }

// SetReapply sets whether a changed configuration must still be applied.
func (m *Meta) SetReapply(on bool) error {
	if err := m.tx.change(); err != nil {
		return err
	}
	m.tx.s.state.reapply = on
	return nil
}
