package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/snapshot"
	"github.com/sumi-ripple/ripple/schema"
)

// maxFetched is how many shards are copied at a time.
const maxFetched = 4

// Copies asks the nodes of a terrain for copies of their files.
type Copies struct {
	Folder string                  // where the copies are written, named like the files
	Fits   func(size int64) error  // returns an error if there is no room there for another file of this size
	See    func(done, total int64) // called with the bytes received, of those known so far; may be nil

	mu          sync.Mutex
	done, total map[int]int64 // compressed bytes by shard
}

// A Copied is a copy of the file of a shard.
type Copied struct {
	Shard int
	Path  string       // empty: there is none
	Live  bool         // the shard was being crawled
	Why   error        // why there is no copy; [exchange.ErrNobody] is in it if no machine answers for the shard
	Last  lease.Holder // that has or had the shard; its newest file contains that opening and commit
}

// Fetch asks all shards of a hub's terrain, and returns what it got by shard. A shard that does not answer is no
// error: its file may be found elsewhere. Fetch fails with [ErrNone] if there is no terrain, and with [ErrUnmade] if
// shards have no file yet.
func (o *Copies) Fetch(ctx context.Context, conn *hub.Conn) (id [16]byte, all []Copied, err error) {
	t, err := find(ctx, conn)
	if err != nil {
		return id, nil, err
	}
	o.done, o.total = map[int]int64{}, map[int]int64{}
	all = make([]Copied, t.charter.shards())
	carrier := t.bucket.Carrier()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxFetched)
	for n := range all {
		g.Go(func() error {
			last, err := lease.Look(ctx, t.bucket, hub.Key(n))
			if err == nil && !t.charter.Made && !last.Made() {
				err = fmt.Errorf("shard %d: %w", n, ErrUnmade)
			}
			if err != nil {
				return err
			}
			all[n] = Copied{Shard: n, Last: last}
			err = o.fetch(ctx, t.bucket, carrier, &all[n])
			if all[n].Why = err; ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		})
	}
	return t.ID, all, g.Wait()
}

// fetch asks the node that holds a shard, or else a machine that only has its file.
func (o *Copies) fetch(ctx context.Context, bucket *hub.Bucket, carrier *hub.Carrier, to *Copied) error {
	f := &snapshot.Fetcher{Fits: o.Fits, See: func(done, total int64) { o.see(to.Shard, done, total) }}
	f.Ask = func(ctx context.Context, question []byte) ([]byte, error) {
		return carrier.Ask(ctx, forCopy, to.Shard, question)
	}
	path := FilePath(o.Folder, to.Shard)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	live, err := f.Fetch(ctx, file)
	if errors.Is(err, exchange.ErrNobody) && ctx.Err() == nil {
		f.Ask = func(ctx context.Context, question []byte) ([]byte, error) {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			return bucket.Ask(ctx, forCopy, to.Shard, schema.Opening{}, question)
		}
		if err = file.Truncate(0); err == nil {
			_, err = file.Seek(0, 0)
		}
		if err == nil {
			live, err = f.Fetch(ctx, file)
		}
	}
	if err == nil {
		to.Path, to.Live = path, live
		return file.Close()
	}
	return errors.Join(err, os.Remove(path))
}

// see adds up what was received of all shards.
func (o *Copies) see(shard int, done, total int64) {
	if o.See == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done[shard], o.total[shard] = done, total
	done, total = 0, 0
	for n := range o.total {
		done, total = done+o.done[n], total+o.total[n]
	}
	o.See(done, total)
}

// copier returns a copier of the file of a shard.
func (h *holding) copier() *snapshot.Copier {
	return snapshot.New(h.file.path, h.file, func() bool {
		s := h.door.Load()
		if s == nil {
			return false
		}
		_, crawled := (*s).(running)
		return crawled
	})
}
