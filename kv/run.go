package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/schema"
)

// Runs returns all runs, oldest first.
func (tx *Tx) Runs() ([]schema.Run, error) {
	var runs []schema.Run
	err := tx.each(bRuns, nil, func(key []byte, r *reader) (bool, error) {
		if len(key) != 4 {
			return false, damaged(bRuns, key, "is no key")
		}
		runs = append(runs, decodeRun(r, schema.RunID(binary.BigEndian.Uint32(key))))
		return true, nil
	})
	if err == nil && len(runs) != int(tx.s.state.runs) {
		err = fmt.Errorf("%w: %d runs recorded, %d counted", ErrDamaged, len(runs), tx.s.state.runs)
	}
	return runs, err
}

// Run returns a run, or [ErrNotFound].
func (tx *Tx) Run(id schema.RunID) (schema.Run, error) {
	key := key32(uint32(id))
	r, err := tx.get(bRuns, key)
	if err != nil {
		return schema.Run{}, err
	}
	run := decodeRun(&r, id)
	if r.bad {
		return run, damaged(bRuns, key, "cannot be decoded")
	}
	return run, nil
}

// PutRun stores a run: one that is known, or the next, whose id is one more
// than that of the last.
func (tx *Tx) PutRun(run schema.Run) error {
	if err := tx.change(); err != nil {
		return err
	}
	if run.ID == 0 || run.ID > tx.s.lastRun()+1 {
		return fmt.Errorf("kv: run %d does not follow run %d", run.ID, tx.s.lastRun())
	}
	w := tx.fields()
	encodeRun(w, &run)
	tx.s.state.runs = max(tx.s.state.runs, uint32(run.ID))
	return tx.put(bRuns, key32(uint32(run.ID)), w)
}

func (s *Store) lastRun() schema.RunID { return schema.RunID(s.state.runs) }

func encodeRun(w *writer, run *schema.Run) {
	w.millis(run.Started)
	w.millis(run.Finished)
	w.raw(run.Config[:])
	w.byte(byte(run.Status))
	w.string(run.Reason)
	w.bool(run.Walked)
	w.uint(uint64(run.FirstVisit))
	w.uint(uint64(run.Pages))
	w.uint(uint64(run.Requests))
	w.uint(uint64(run.Generation))
	w.int(int64(run.Running / time.Millisecond))
	w.uint(uint64(len(run.Errors)))
	for _, name := range slices.Sorted(maps.Keys(run.Errors)) {
		w.string(name)
		w.uint(uint64(run.Errors[name]))
	}
}

func decodeRun(r *reader, id schema.RunID) schema.Run {
	run := schema.Run{ID: id, Started: r.millis(), Finished: r.millis()}
	copy(run.Config[:], r.raw(32))
	run.Status = schema.RunStatus(r.byte())
	run.Reason = r.string()
	run.Walked = r.bool()
	run.FirstVisit = schema.Seq(r.uint())
	run.Pages = int(r.uint())
	run.Requests = int(r.uint())
	run.Generation = uint32(r.id())
	run.Running = time.Duration(r.int()) * time.Millisecond
	for range r.count(2) {
		if run.Errors == nil {
			run.Errors = make(map[string]int)
		}
		name := r.string()
		run.Errors[name] = int(r.uint())
	}
	return run
}

// Caps returns how often a rule's group was counted in the last run.
func (tx *Tx) Caps(rule, group string) (int, error) {
	key := capKey(tx.s.seed, rule, group)
	r, err := tx.get(bCaps, key)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	run, n := schema.RunID(r.id()), r.uint()
	switch {
	case err != nil:
		return 0, err
	case r.bad:
		return 0, damaged(bCaps, key, "cannot be decoded")
	case run != tx.s.lastRun():
		return 0, nil
	}
	return int(n), nil
}

// AddCap counts a rule's group once more in a run, which must be the last.
func (tx *Tx) AddCap(rule, group string, run schema.RunID) error {
	if err := tx.change(); err != nil {
		return err
	}
	if run != tx.s.lastRun() {
		return fmt.Errorf("kv: count for run %d in run %d", run, tx.s.lastRun())
	}
	n, err := tx.Caps(rule, group)
	if err != nil {
		return err
	}
	w := tx.fields()
	w.uint(uint64(run))
	w.uint(uint64(n) + 1)
	return tx.put(bCaps, capKey(tx.s.seed, rule, group), w)
}

func capKey(seed uint64, rule, group string) []byte {
	sum := xxh3.HashString128Seed(rule+"\x00"+group, seed).Bytes()
	return sum[:]
}

// Config returns the effective configuration of a hash, or [ErrNotFound].
func (tx *Tx) Config(hash [32]byte) ([]byte, error) {
	r, err := tx.get(bConfigs, hash[:])
	if err != nil {
		return nil, err
	}
	text, err := tx.s.zip.unpack(&r)
	if err != nil {
		return nil, damaged(bConfigs, hash[:], err.Error())
	}
	return text, nil
}

// PutConfig stores an effective configuration under its hash.
func (tx *Tx) PutConfig(hash [32]byte, text []byte) error {
	if err := tx.change(); err != nil {
		return err
	}
	w := tx.fields()
	if err := tx.s.zip.pack(w, text); err != nil {
		return err
	}
	return tx.put(bConfigs, hash[:], w)
}
