package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/sumi-ripple/ripple/crawl/accord"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A file is the state file of a shard, which is open. The lease asks it for its last commit
// while a crawl has the store.
type file struct {
	*kv.Store
	path    string
	sender  *webhook.Sender // of the messages that wait in it
	commit  atomic.Uint64
	opening schema.Opening // once it has begun
}

func openFile(o *Options, n int) (*file, error) {
	path := filePath(o.Folder, n)
	store, err := o.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{Store: store, path: path}
	f.committed()
	if f.sender, err = webhook.New(o.Config, o.Log.With("shard", n)); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return f, nil
}

func filePath(folder string, n int) string {
	return filepath.Join(folder, fmt.Sprintf("shard-%03d.bolt", n))
}

// found are the numbers of the shards whose files lie in a folder.
func found(folder string) (shards []int, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "shard-???.bolt"))
	for _, path := range paths {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(path), "shard-%03d.bolt", &n); err == nil && n < shard.MaxShards {
			shards = append(shards, n)
		}
	}
	return shards, err
}

// config is the configuration of the last run; nil: there was none.
func (f *file) config() (cfg *config.Config, err error) {
	err = f.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		text, err := tx.Runs.Config(runs[len(runs)-1].Config)
		if err == nil {
			cfg, err = config.ParseEffective(text)
		}
		return err
	})
	return cfg, err
}

// committed notes the last commit. It belongs to whoever has the store.
func (f *file) committed() { f.commit.Store(f.LastCommit()) }

// Commit implements [lease.File].
func (f *file) Commit() uint64 { return f.commit.Load() }

// Contains implements [lease.File].
func (f *file) Contains(o schema.Opening, commit uint64) (ok bool, err error) {
	err = f.View(func(tx *kv.Tx) error { ok, err = tx.Openings.Contains(o, commit); return err })
	return ok, err
}

// Begin implements [lease.File].
func (f *file) Begin() (o schema.Opening, err error) {
	err = f.Update(func(tx *kv.Tx) error { o, err = tx.Openings.Begin(); return err })
	f.opening = o
	f.committed()
	return o, err
}

// over reports whether the file says that a run of the terrain is over, and its outputs
// need nothing more.
func (f *file) over(run uint64) (over bool, err error) {
	err = f.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		over = len(runs) > 0 && tx.Part.Of().Run == run && runs[len(runs)-1].Status == schema.RunCompleted
		return err
	})
	return over, err
}

// An ended shard answers for a file whose run is over. Nothing is written to it but what becomes of
// messages.
type ended struct {
	reading accord.Reading
	number  uint64 // of the configuration
	status  census.Status
	portion portion // of max-pages
	desk    *desk
	held    func() bool
	stop    func()
}

func newEnded(f *file, config [32]byte, held func() bool) (e ended, err error) {
	e = ended{desk: &desk{file: f, held: held}, held: held}
	if e.reading, err = accord.Of(f.Store); err != nil {
		return e, err
	}
	if e.reading.Config = config; !e.reading.Over {
		return e, errors.New("its run is not over")
	}
	err = f.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err == nil {
			last := runs[len(runs)-1]
			e.status, e.portion = census.Ended(last), portion{Pages: last.Portion, Spent: true}
		}
		return err
	})
	return e, err
}
