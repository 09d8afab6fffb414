package node

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/snapshot"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// offerAgain is how often a folder is searched for files that no node holds.
const offerAgain = 5 * time.Second

// Offer hands out copies of the shards in a folder that no node holds, as after the end of a run, until ctx is done.
// It locks a file only while it is copied, so that a node can begin. A file that is not the newest one of its shard,
// as far as the hub knows, is not handed out.
func Offer(ctx context.Context, conn *hub.Conn, folder string, log *slog.Logger) {
	var mu sync.Mutex
	offered := map[int]bool{}
	var work sync.WaitGroup
	defer work.Wait()
	for again := true; again; again = sleep(ctx, offerAgain) == nil {
		t, err := find(ctx, conn)
		if err != nil {
			continue // the hub is away, or knows no terrain yet
		}
		shards, err := found(folder)
		if err != nil {
			log.Warn("no shard can be handed out", "error", err)
		}
		for _, n := range shards {
			mu.Lock()
			known := offered[n]
			offered[n] = true
			mu.Unlock()
			if known {
				continue
			}
			work.Go(func() {
				if err := t.offer(ctx, FilePath(folder, n), n); err != nil && ctx.Err() == nil {
					log.Debug("a shard is not handed out", "shard", n, "why", err)
				}
				mu.Lock()
				delete(offered, n)
				mu.Unlock()
			})
		}
	}
}

// offer hands out copies of a file until it is written, moved or locked, another file of the shard is newer, or ctx is
// done.
func (t *Terrain) offer(ctx context.Context, path string, shard int) error {
	f := &resting{path: path}
	var err error
	if f.info, err = os.Stat(path); err != nil {
		return err
	}
	last, err := t.newest(ctx, path, shard)
	if err != nil {
		return err
	}
	copies := snapshot.New(path, f, func() bool { return false })
	defer copies.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer aside(ctx, func(ctx context.Context) error {
		for sleep(ctx, offerAgain) == nil {
			now, err := lease.Look(ctx, t.bucket, hub.Key(shard))
			if !f.rests() || err == nil && (now.Opening != last.Opening || now.Commit != last.Commit) {
				cancel()
			}
		}
		return nil
	})()
	return t.bucket.Serve(ctx, hub.Post{
		Shard: shard, Held: f.rests, Lanes: map[string]int{forCopy: maxQuestions},
		Answer: func(_ context.Context, _ string, message []byte) ([]byte, error) { return copies.Answer(message) },
	})
}

// newest returns the record of a shard of the terrain, or an error if a file is not the newest one.
func (t *Terrain) newest(ctx context.Context, path string, shard int) (lease.Holder, error) {
	store, err := kv.Open(path, kv.Options{ReadOnly: true, Timeout: time.Millisecond})
	if err != nil {
		return lease.Holder{}, err
	}
	defer store.Close()
	h, err := lease.Look(ctx, t.bucket, hub.Key(shard))
	if err != nil {
		return h, err
	}
	part, has := store.Part(), h.Opening == (schema.Opening{})
	if !has {
		err = store.View(func(tx *kv.Tx) error { has, err = tx.Openings.Contains(h.Opening, h.Commit); return err })
	}
	if err == nil && (!has || part.Terrain != t.ID || part.Shard != shard) {
		err = lease.ErrFile
	}
	return h, err
}

// A resting file is that of a shard that no node holds.
type resting struct {
	path string
	info fs.FileInfo
}

// rests reports whether the file is as it was, and no process writes it.
func (f *resting) rests() bool {
	file, err := os.Open(f.path)
	if err != nil {
		return false
	}
	defer file.Close()
	now, err := file.Stat()
	if err != nil || !os.SameFile(now, f.info) || !now.ModTime().Equal(f.info.ModTime()) {
		return false
	}
	free, err := disk.TryLock(file, false)
	return err == nil && free
}

// Snapshot implements [snapshot.Source].
func (f *resting) Snapshot(w io.Writer) (n int64, err error) {
	store, err := kv.Open(f.path, kv.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return 0, err
	}
	n, err = store.Snapshot(w)
	return n, errors.Join(err, store.Close())
}

// Size implements [snapshot.Source].
func (f *resting) Size() int64 { return f.info.Size() }

// Commit implements [snapshot.Source]. A file with another commit is another one.
func (f *resting) Commit() uint64 { return 0 }
