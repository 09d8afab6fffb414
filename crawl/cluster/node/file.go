package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A file is the open state file of a shard. It remembers the last commit, which the lease needs while a crawl uses
// the store.
type file struct {
	*kv.Store
	path    string
	place   os.FileInfo     // of path, when it was opened
	sender  *webhook.Sender // of the webhook messages in the file
	commit  atomic.Uint64
	opening schema.Opening // once it has begun
	epoch   uint64         // of the shard; set before the lease is taken
	release func(error)    // makes the node let go of the shard, for a reason; set before the lease is taken
}

func openFile(o *Options, n int) (*file, error) {
	path := FilePath(o.Folder, n)
	store, err := o.Open(path)
	if err != nil {
		return nil, err
	}
	if err := split.Refuse(store); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), store.Close())
	}
	f := &file{Store: store, path: path}
	f.committed()
	if f.place, err = os.Stat(path); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if f.sender, err = webhook.New(o.Config, o.Log.With("shard", n)); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return f, nil
}

// openFiles opens the files in a node's folder. After an error some may be open.
func openFiles(o *Options) (map[int]*file, error) {
	here, err := found(o.Folder)
	if err != nil {
		return nil, err
	}
	files := map[int]*file{}
	for _, shard := range here {
		f, err := openFile(o, shard)
		if err != nil {
			return files, err
		}
		files[shard] = f
	}
	return files, nil
}

// discard removes a closed file, unless it no longer exists or another file has taken its place.
func (f *file) discard() error {
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(now, f.place):
		return nil
	case err != nil:
		return err
	}
	return os.Remove(f.path)
}

func closeAll(files map[int]*file) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// FilePath returns the path of a shard's state file in a folder.
func FilePath(folder string, n int) string {
	return filepath.Join(folder, fmt.Sprintf("shard-%03d.bolt", n))
}

// HasShards reports whether a node's folder has files of shards.
func HasShards(folder string) (bool, error) {
	shards, err := found(folder)
	return len(shards) > 0, err
}

// found returns the numbers of the shards whose files are in a folder.
func found(folder string) (shards []int, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		var n int
		_, err := fmt.Sscanf(e.Name(), "shard-%03d.bolt", &n)
		if err == nil && n < shard.MaxShards && e.Name() == filepath.Base(FilePath(folder, n)) {
			shards = append(shards, n)
		}
	}
	return shards, nil
}

// config returns the configuration of the last run; nil: there was no run.
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

// committed remembers the last commit. It must be called by the goroutine that uses the store.
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

// over reports whether the file says that a run of the terrain is over, with its outputs complete.
func (f *file) over(run uint64) (over bool, err error) {
	err = f.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		over = len(runs) > 0 && tx.Part.Of().Run == run && runs[len(runs)-1].Status == schema.RunCompleted
		return err
	})
	return over, err
}

// metaEpochs is the key of the epochs that a file knows.
const metaEpochs = "epochs"

// epochs are the epochs of all shards of a terrain, as stored in a file.
type epochs struct {
	Terrain []byte   `json:"terrain"`
	Epochs  []uint64 `json:"epochs"`
}

// knownEpochs returns the epochs of all shards as the file knows them. They are 0 if the file knows nothing about
// the terrain.
func knownEpochs(tx *kv.Tx, c *charter) ([]uint64, error) {
	text, err := tx.Meta.Value(metaEpochs)
	if err != nil || text == nil {
		return make([]uint64, c.shards()), err
	}
	var known epochs
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, fmt.Errorf("the epochs of a terrain: %w", err)
	}
	if !bytes.Equal(known.Terrain, c.Terrain) || len(known.Epochs) != c.shards() {
		return make([]uint64, c.shards()), nil
	}
	return known.Epochs, nil
}

// keepEpochs writes the epochs of a charter into a file. No epoch decreases.
func keepEpochs(tx *kv.Tx, c *charter) error {
	known, err := knownEpochs(tx, c)
	if err != nil {
		return err
	}
	for n, epoch := range c.Epochs {
		known[n] = max(known[n], epoch)
	}
	return tx.Meta.Put(metaEpochs, strictjson.Encode(epochs{c.Terrain, known}))
}

// epochs returns the epochs that the file knows.
func (f *file) epochs(c *charter) (known []uint64, err error) {
	err = f.View(func(tx *kv.Tx) error { known, err = knownEpochs(tx, c); return err })
	return known, err
}

// empty reports whether the file was made but never crawled.
func (f *file) empty() bool { return f.Part().Shards == 0 }

// claimed reports whether the shard may ever have been claimed with the file.
func (f *file) claimed() (claimed bool, err error) {
	err = f.View(func(tx *kv.Tx) error {
		last, err := tx.Openings.Last()
		claimed = last != schema.Opening{}
		return err
	})
	return claimed, err
}

// enter finds the epoch of a node's file. It writes the epochs of the terrain into an empty file; keep writes them
// into any other once that is held. It returns [lease.ErrRecreated] if the file was given up, or if it is empty
// and the shard is not this node's, according to its record.
func (f *file) enter(shard int, c *charter, own bool) error {
	known, err := f.epochs(c)
	if err != nil {
		return err
	}
	if f.epoch = max(known[shard], c.Epochs[shard]); known[shard] == f.epoch {
		return nil
	}
	if !f.empty() || !own {
		return fmt.Errorf("%s: %w", f.path, lease.ErrRecreated)
	}
	return f.Update(func(tx *kv.Tx) error { return keepEpochs(tx, c) })
}

// keep writes the epochs of the terrain into a file that is held.
func (f *file) keep(c *charter) error {
	known, err := f.epochs(c)
	if err != nil || slices.Equal(known, c.Epochs) {
		return err
	}
	return f.Update(func(tx *kv.Tx) error { return keepEpochs(tx, c) })
}

// follow adds the runs of the terrain before the file's own first one to an empty file, which knows nothing about
// them. over: its first run is the next one, because other files say that this one is over; recreated: the shard
// had another file before.
func (f *file) follow(part schema.Part, cfg *config.Config, over, recreated bool) error {
	before := part.Run - 1
	if over {
		before = part.Run
	}
	now := time.Now()
	return f.Update(func(tx *kv.Tx) error {
		if recreated {
			if err := putRecreated(tx, part.Run, over, now); err != nil {
				return err
			}
		}
		if before == 0 {
			return nil
		}
		if err := putRuns(tx, schema.RunID(before), cfg, now.Truncate(time.Second)); err != nil || !over {
			return err
		}
		return tx.Part.Put(part)
	})
}

// putRecreated records when a file was recreated, and in which run unless that is over.
func putRecreated(tx *kv.Tx, run uint64, over bool, now time.Time) error {
	text, err := now.UTC().MarshalText()
	if err == nil {
		err = tx.Meta.Put(kv.MetaRecreatedAt, text)
	}
	if err != nil || over {
		return err
	}
	return tx.Meta.Put(kv.MetaRecreated, strconv.AppendUint(nil, run, 10))
}

// putRuns records the runs up to most, about which nothing is known.
func putRuns(tx *kv.Tx, most schema.RunID, cfg *config.Config, now time.Time) error {
	if err := tx.Runs.PutConfig(cfg.Hash(), cfg.Effective()); err != nil {
		return err
	}
	for id := range most {
		err := tx.Runs.Put(schema.Run{
			ID: id + 1, Started: now, Finished: now, Config: cfg.Hash(), Status: schema.RunCompleted, Walked: true,
			End: schema.End{Kind: schema.EndRecreated}, FirstVisit: 1,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// An ended shard answers for a file whose run is over. The only changes to the file concern the delivery of its
// webhook messages.
type ended struct {
	reading termination.Reading
	number  uint64 // of the configuration
	status  census.Status
	portion portion // of max-pages
	desk    *desk
	held    func() bool
	stop    func()
}

func newEnded(f *file, cfg *config.Config, held func() bool) (e ended, err error) {
	e = ended{desk: &desk{file: f, held: held}, held: held}
	if e.reading, err = termination.Of(f.Store); err != nil {
		return e, err
	}
	if e.reading.Config = cfg.SharedHash(); !e.reading.Over {
		return e, errors.New("its run is not over")
	}
	err = f.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		last := runs[len(runs)-1]
		errs, err := survey.RunErrors(f.Store, tx, cfg, &last)
		if err != nil {
			return err
		}
		e.status, err = census.Ended(tx, last, errs)
		e.portion = portion{Pages: max(last.Portion, last.Pages), Spent: true, Visited: last.Pages}
		return err
	})
	return e, err
}
