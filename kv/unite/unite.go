// Package unite makes one state file of the shards of a terrain: that of one crawl of the
// whole, as far as the shards have come.
//
// URLs are numbered by their first run, when they were first seen, and where that is the
// same by shard; visits by run, shard and their place in the log. Depths and first
// sightings are minima, forms and HTTPS unions, and a page has the referrer of its earliest
// sighting. The rest of a host is what its own shard knows of it. The counts of groups that
// a cap has limited are not taken over, nor messages, and stored paths stay as they are.
//
// Memory holds a number for every URL, visit and host of every shard, and no text.
package unite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// most is the number of records in a commit.
const most = 4096

// A source is the file of one shard, and what its numbers have become.
type source struct {
	store  *kv.Store
	tx     *kv.Tx
	runs   []schema.Run
	urls   []schema.ID  // by old id
	visits []schema.Seq // by old number
	next   schema.Seq   // visit that is to be copied
}

// A uniting copies the shards into one file.
type uniting struct {
	ctx     context.Context
	sources []*source // by shard
	dst     *kv.Store
}

// Files writes what the files of all shards of a terrain hold into a new file, which must
// be empty. They are read at one commit each. It fails with the cause soon after ctx is
// done.
func Files(ctx context.Context, paths []string, dst *kv.Store) (err error) {
	u := &uniting{ctx: ctx, dst: dst}
	defer func() {
		for _, s := range u.sources {
			if s != nil {
				err = errors.Join(err, s.store.Close())
			}
		}
	}()
	for _, path := range paths {
		if err := u.open(path, len(paths)); err != nil {
			return err
		}
	}
	return u.view(0, u.copy)
}

// open opens the file of a shard, which must fit in with the others.
func (u *uniting) open(path string, shards int) error {
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	part := store.Part()
	switch {
	case part == (schema.Part{}):
		err = fmt.Errorf("%s holds a whole terrain", path)
	case part.Shards != shards:
		err = fmt.Errorf("%s is shard %d of %d, and %d files are given", path, part.Shard, part.Shards, shards)
	case u.sources == nil:
		u.sources = make([]*source, shards)
	}
	for _, s := range u.sources {
		switch {
		case err != nil || s == nil:
		case s.store.Part().Terrain != part.Terrain:
			err = fmt.Errorf("%s is of another terrain than %s", path, s.store.Path())
		case s.store.Part().Shard == part.Shard:
			err = fmt.Errorf("%s and %s are both shard %d", path, s.store.Path(), part.Shard)
		}
	}
	if err != nil {
		return errors.Join(err, store.Close())
	}
	u.sources[part.Shard] = &source{
		store: store, next: 1,
		urls: make([]schema.ID, store.URLs()+1), visits: make([]schema.Seq, store.LastSeq()+1),
	}
	return nil
}

// view runs f with a transaction of every source.
func (u *uniting) view(n int, f func() error) error {
	if n == len(u.sources) {
		return f()
	}
	s := u.sources[n]
	return s.store.View(func(tx *kv.Tx) (err error) {
		s.tx = tx
		if s.runs, err = tx.Runs.All(); err != nil {
			return err
		}
		return u.view(n+1, f)
	})
}

func (u *uniting) copy() error {
	for _, step := range []func() error{u.copyURLs, u.copyHosts, u.copyRuns, u.copyDepths, u.copyQueues, u.copyMeta} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// batches calls f in transactions of a limited size until it has no more to do.
func (u *uniting) batches(f func(tx *kv.Tx) (more bool, err error)) error {
	for more := true; more; {
		if err := context.Cause(u.ctx); err != nil {
			return err
		}
		err := u.dst.Update(func(tx *kv.Tx) (err error) {
			for n := 0; n < most && more && err == nil; n++ {
				more, err = f(tx)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f for the numbers from 1 to last(s) of every shard.
func (u *uniting) each(last func(*source) int, f func(tx *kv.Tx, s *source, n int) error) error {
	shard, n := 0, 0
	return u.batches(func(tx *kv.Tx) (bool, error) {
		for n++; n > last(u.sources[shard]); n = 1 {
			if shard++; shard == len(u.sources) {
				return false, nil
			}
		}
		return true, f(tx, u.sources[shard], n)
	})
}

// own reports whether a host belongs to the shard.
func (s *source) own(id schema.HostID) bool { return !s.store.Foreign(id) }
