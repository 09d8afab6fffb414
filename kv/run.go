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

// Runs owns the buckets runs, configs and caps.
type Runs struct{ tx *base }

// All returns all runs, oldest first.
func (rs *Runs) All() ([]schema.Run, error) {
	var runs []schema.Run
	err := rs.tx.each(bRuns, nil, func(key []byte, r *reader) (bool, error) {
		if string(key) != string(key32(uint32(len(runs)+1))) {
			return false, damaged(bRuns, key, "does not follow the run before")
		}
		runs = append(runs, decodeRun(r, schema.RunID(binary.BigEndian.Uint32(key))))
		return true, nil
	})
	if err == nil && len(runs) != int(rs.tx.s.state.runs) {
		err = fmt.Errorf("%w: %d runs recorded, %d counted", ErrDamaged, len(runs), rs.tx.s.state.runs)
	}
	return runs, err
}

// At returns a run, or [ErrNotFound].
func (rs *Runs) At(id schema.RunID) (schema.Run, error) {
	key := key32(uint32(id))
	r, err := rs.tx.get(bRuns, key)
	if err != nil {
		return schema.Run{}, err
	}
	run := decodeRun(&r, id)
	if r.bad {
		return run, damaged(bRuns, key, "cannot be decoded")
	}
	return run, nil
}

// Put stores a run: an existing one, or the next, whose id is one more than the last.
func (rs *Runs) Put(run schema.Run) error {
	if err := rs.tx.change(); err != nil {
		return err
	}
	if run.ID == 0 || run.ID > rs.tx.s.state.lastRun()+1 {
		return fmt.Errorf("kv: run %d does not follow run %d", run.ID, rs.tx.s.state.lastRun())
	}
	w := rs.tx.fields()
	encodeRun(w, &run)
	rs.tx.s.state.runs = max(rs.tx.s.state.runs, uint32(run.ID))
	rs.tx.s.setRun(&run)
	return rs.tx.put(bRuns, key32(uint32(run.ID)), w)
}

// rebuild notes which visits belong to which run. A run that cannot be read is found when it is read again.
func (rs *Runs) rebuild() error {
	runs, err := rs.All()
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	for i := range runs {
		rs.tx.s.setRun(&runs[i])
	}
	return err
}

func encodeRun(w *writer, run *schema.Run) {
	w.millis(run.Started)
	w.millis(run.Finished)
	w.raw(run.Config[:])
	w.byte(byte(run.Status))
	w.end(&run.End)
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
	w.uint(uint64(run.Rendered))
	w.uint(uint64(run.Unrendered))
	w.uint(uint64(run.Portion))
	w.millis(run.Changed)
	w.string(run.Rules)
	w.byte(byte(run.Kind))
	w.millis(run.Oldest)
	w.millis(run.Newest)
	w.uint(uint64(run.Joined))
	if run.Kind == schema.RunImport {
		w.raw(run.Source[:])
	}
}

func decodeRun(r *reader, id schema.RunID) schema.Run {
	run := schema.Run{ID: id, Started: r.millis(), Finished: r.millis()}
	copy(run.Config[:], r.raw(32))
	run.Status = schema.RunStatus(r.byte())
	run.End = r.end()
	run.Walked = r.bool()
	run.FirstVisit = schema.Seq(r.uint())
	run.Pages = int(r.uint())
	run.Requests = int(r.uint())
	run.Generation = uint32(r.id())
	run.Running = time.Duration(r.int()) * time.Millisecond
	for range r.length(2) {
		if run.Errors == nil {
			run.Errors = make(map[string]int)
		}
		name := r.string()
		run.Errors[name] = int(r.uint())
	}
	run.Rendered, run.Unrendered, run.Portion = int(r.uint()), int(r.uint()), int(r.uint())
	run.Changed = r.millis()
	run.Rules = r.string()
	if run.Kind = schema.RunKind(r.byte()); run.Kind >= schema.RunKindCount {
		r.fail()
		run.Kind = schema.RunCrawl
	}
	run.Oldest, run.Newest = r.millis(), r.millis()
	run.Joined = schema.RunID(r.id())
	if run.Kind == schema.RunImport {
		copy(run.Source[:], r.raw(32))
	}
	return run
}

// Count returns the count of a rule's group in the last run.
func (rs *Runs) Count(rule, group string) (int, error) {
	c, err := rs.counted(rule, group)
	if c.run != rs.tx.s.state.lastRun() {
		return 0, err
	}
	return c.n, err
}

// CountBefore returns the largest count of a rule's group in any run before the last.
func (rs *Runs) CountBefore(rule, group string) (int, error) {
	c, err := rs.counted(rule, group)
	if c.run != rs.tx.s.state.lastRun() {
		return max(c.n, c.before), err
	}
	return c.before, err
}

// Total returns the count of a rule's group by [Runs.AddToTotal], over all runs.
func (rs *Runs) Total(rule, group string) (int, error) {
	c, err := rs.counted(rule, group)
	return c.n, err
}

// CountUp increments the count of a rule's group in a run, which must be the last.
func (rs *Runs) CountUp(rule, group string, run schema.RunID) error {
	return rs.CountMore(rule, group, run, 1)
}

// CountMore adds n to the count of a rule's group in a run, which must be the last.
func (rs *Runs) CountMore(rule, group string, run schema.RunID, n int) error {
	c, err := rs.counted(rule, group)
	if err == nil && c.run != run {
		c = count{run: run, before: max(c.n, c.before)}
	}
	c.n += n
	return errors.Join(err, rs.isLast(run), rs.putCount(rule, group, c))
}

// AddToTotal increments the count of a rule's group in a run, on top of earlier runs.
func (rs *Runs) AddToTotal(rule, group string, run schema.RunID) error {
	c, err := rs.counted(rule, group)
	return errors.Join(err, rs.isLast(run), rs.putCount(rule, group, count{run: run, n: c.n + 1}))
}

// MergeCounts adds up what files in the same run have counted of a rule's group, unless that was done before.
func (rs *Runs) MergeCounts(rule, group string, files []*Runs) error {
	last := rs.tx.s.state.lastRun()
	if c, err := rs.counted(rule, group); err != nil || c.run == last {
		return err
	}
	sum := count{run: last}
	for _, file := range files {
		n, err := file.Count(rule, group)
		if err != nil {
			return err
		}
		before, err := file.CountBefore(rule, group)
		if err != nil {
			return err
		}
		sum.n, sum.before = sum.n+n, sum.before+before
	}
	if sum.n+sum.before == 0 {
		return nil
	}
	return rs.putCount(rule, group, sum)
}

// countDown decrements a count, if it is not 0.
func (rs *Runs) countDown(rule, group string) error {
	c, err := rs.counted(rule, group)
	if err != nil || c.n == 0 {
		return err
	}
	c.n--
	return rs.putCount(rule, group, c)
}

func (rs *Runs) isLast(run schema.RunID) error {
	if last := rs.tx.s.state.lastRun(); run != last {
		return fmt.Errorf("kv: count for run %d in run %d", run, last)
	}
	return nil
}

// A count is a count in a run, and the largest in any run before it.
type count struct {
	run       schema.RunID
	n, before int
}

// counted reads a count; the zero count means that there is none.
func (rs *Runs) counted(rule, group string) (count, error) {
	key := capKey(rs.tx.s.seed, rule, group)
	r, ok, err := rs.tx.find(bCaps, key)
	if !ok {
		return count{}, err
	}
	c := count{run: schema.RunID(r.id()), n: int(r.uint()), before: int(r.uint())}
	if r.bad {
		return count{}, damaged(bCaps, key, "cannot be decoded")
	}
	return c, nil
}

func (rs *Runs) putCount(rule, group string, c count) error {
	if err := rs.tx.change(); err != nil {
		return err
	}
	w := rs.tx.fields()
	w.uint(uint64(c.run))
	w.uint(uint64(c.n))
	w.uint(uint64(c.before))
	return rs.tx.put(bCaps, capKey(rs.tx.s.seed, rule, group), w)
}

func capKey(seed uint64, rule, group string) []byte {
	sum := xxh3.HashString128Seed(rule+"\x00"+group, seed).Bytes()
	return sum[:]
}

// Config returns the effective configuration of a hash, or [ErrNotFound].
func (rs *Runs) Config(hash [32]byte) ([]byte, error) {
	r, err := rs.tx.get(bConfigs, hash[:])
	if err != nil {
		return nil, err
	}
	text, err := unzip(&r, nil, maxUnzipped)
	if err != nil {
		return nil, damaged(bConfigs, hash[:], err.Error())
	}
	return text, nil
}

// PutConfig stores an effective configuration under its hash.
func (rs *Runs) PutConfig(hash [32]byte, text []byte) error {
	if err := rs.tx.change(); err != nil {
		return err
	}
	w := rs.tx.fields()
	if err := zip(w, text, maxUnzipped); err != nil {
		return err
	}
	return rs.tx.put(bConfigs, hash[:], w)
}
