package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
)

// join opens the files that are here, and finds the charter that they and the configuration
// belong to. The next run begins with the first node that comes after the last one.
func (n *node) join(ctx context.Context) (map[int]*file, error) {
	files, err := n.open()
	if err != nil {
		return files, err
	}
	known, over, err := n.announce(ctx, files)
	if err != nil {
		return files, err
	}
	for waits := false; ; waits = true {
		n.charter, err = n.registry.change(ctx, func(c *charter) (next *charter, err error) {
			if c != nil {
				return n.enter(c, over)
			}
			lost := known.clone()
			lost.Portions.forget()
			if next, err = n.enter(lost, over); err == nil && next == nil {
				next = lost
			}
			return next, err
		})
		if !errors.Is(err, errOthers) {
			return files, err
		}
		if !waits {
			n.Log.Info("waiting for the other nodes, whose files have to say that the last run is over")
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return files, err
		}
	}
}

// open opens the files that are here; also where it fails, some may be.
func (n *node) open() (map[int]*file, error) {
	here, err := found(n.Folder)
	if err != nil {
		return nil, err
	}
	files := map[int]*file{}
	for _, shard := range here {
		f, err := openFile(&n.Options, shard)
		if err != nil {
			return files, err
		}
		files[shard] = f
	}
	return files, nil
}

// announce publishes what the files here say. A node without any leaves it to others to tell
// a hub of their terrain that has lost its charter: for a while, or as long as it takes where
// the folder is marked.
func (n *node) announce(ctx context.Context, files map[int]*file) (known *charter, over bool, err error) {
	for waits := false; ; waits = true {
		if len(files) == 0 {
			if err := n.await(ctx); err != nil {
				return nil, false, err
			}
		}
		known, over, err = n.publish(ctx, files)
		if !errors.Is(err, errMarked) {
			return known, over, err
		}
		if !waits {
			n.Log.Warn("waiting for a machine that has a shard", "why", err,
				"to begin another terrain remove", filepath.Join(n.Folder, MarkName))
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return nil, false, err
		}
	}
}

// publish has the charter say what the files here do, and returns it; over: the run was over
// everywhere, without that news.
func (n *node) publish(ctx context.Context, files map[int]*file) (known *charter, over bool, err error) {
	over = true
	known, err = n.registry.change(ctx, func(c *charter) (*charter, error) {
		news := c == nil
		if news {
			c, err = n.first(files)
		} else {
			err = n.belongs(c, files)
		}
		if err != nil {
			return nil, err
		}
		over = over && c.over() // also when it was told already, and the answer was lost
		more, err := n.know(c, files)
		if err != nil || !news && !more {
			return nil, err
		}
		return c, nil
	})
	return known, over, err
}

// bucket opens a bucket of the hub, which may be away for a while.
func (o *Options) bucket(ctx context.Context, terrain [16]byte) (*hub.Bucket, error) {
	for began := time.Now(); ; {
		b, err := o.Hub.Bucket(ctx, terrain)
		if err == nil || time.Since(began) > o.Timing.Watch {
			return b, err
		}
		if err := sleep(ctx, o.Timing.Renew/10); err != nil {
			return nil, err
		}
	}
}

// await gives other nodes time to give a hub that has lost its charter that of their terrain,
// before this one, which knows of none, creates another.
func (n *node) await(ctx context.Context) error {
	for time.Since(n.began) < n.Timing.Renew {
		c, _, err := n.registry.read(ctx)
		if c != nil || errors.Is(err, ErrProtocol) || errors.Is(err, errCharter) {
			return err
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// first is the charter for a hub without one, as the files here say, or of a new terrain.
func (n *node) first(files map[int]*file) (*charter, error) {
	var last *file
	for _, f := range files {
		part := f.Part()
		if part.Shards != 0 && (last == nil || last.Part().Run < part.Run ||
			last.Part().Run == part.Run && last.Part().Configuration < part.Configuration) {
			last = f
		}
	}
	if last == nil {
		terrain, err := marked(n.Folder)
		if err == nil && terrain != nil {
			err = errMarked
		}
		return newCharter(n.Shards, n.config), err
	}
	cfg, err := last.config()
	if err != nil {
		return nil, err
	}
	if cfg == nil {
		cfg = n.Config
	}
	return restored(last.Part(), digests(cfg.Shared())), nil
}

// belongs reports a charter of another terrain than the folder is marked with, where nothing was
// crawled that says the same: what was never crawled here may be missed there.
func (n *node) belongs(c *charter, files map[int]*file) error {
	for _, f := range files {
		if !f.empty() {
			return nil
		}
	}
	terrain, err := marked(n.Folder)
	if err == nil && terrain != nil && !bytes.Equal(terrain, c.Terrain) {
		err = fmt.Errorf("%w: %s says %x, the hub's is %x", ErrTerrain, filepath.Join(n.Folder, MarkName), terrain, c.Terrain)
	}
	return err
}

// errOthers reports that nodes are missing whose files may say that the run is over.
var errOthers = errors.New("other nodes are missing")

// enter is the charter with this node; nil: as it is. The next run begins if the last one was
// over before this node came, or if a hub that had lost everything has only been told so file
// by file.
func (n *node) enter(c *charter, over bool) (*charter, error) {
	changed := false
	if c.over() && (over || c.Restored) {
		c.Run, c.Restored, changed = c.Run+1, false, true
		c.pause(false)
		clear(c.Over)
		c.Portions.begin()
		if !maps.Equal(c.Config, n.config) {
			c.Config, c.Configuration = n.config, c.Configuration+1
		}
	}
	if !maps.Equal(c.Config, n.config) {
		if c.Restored && !slices.ContainsFunc(c.of(n.Name), func(shard int) bool { return !c.Over[shard] }) {
			return nil, errOthers
		}
		return nil, fmt.Errorf("%w: %s differ", ErrConfig, differing(c.Config, n.config))
	}
	if !slices.Contains(c.Nodes, n.Name) {
		c.number(n.Name)
		changed = true
	}
	if !changed {
		return nil, nil
	}
	return c, nil
}

// know brings what files say into a charter, and reports whether something is news: first what
// epochs they know of, for one of the files may be one that was given up.
func (n *node) know(c *charter, files map[int]*file) (news bool, err error) {
	for _, f := range files {
		known, err := f.epochs(c)
		if err != nil {
			return false, err
		}
		for shard, epoch := range known {
			news = c.raise(shard, epoch) || news
		}
		more, err := f.tellStop(c)
		if err != nil {
			return false, err
		}
		news = news || more
	}
	for shard, f := range files {
		more, err := n.knows(c, shard, f)
		if err != nil {
			return false, err
		}
		news = news || more
	}
	return news, nil
}

// knows brings what a file says into a charter, and reports whether that is news.
func (n *node) knows(c *charter, shard int, f *file) (news bool, err error) {
	part := f.Part()
	if shard >= len(c.Made) && part.Shards == 0 {
		return false, fmt.Errorf("%w: %s was never crawled, and that of the hub has shards 0 to %d", ErrTerrain, f.path,
			len(c.Made)-1)
	}
	if part.Shards == 0 { // it was made, and never crawled
		if news = c.Made[shard] == nobody; news {
			c.Made[shard] = c.number(n.Name)
		}
		return news, nil
	}
	if part.United() {
		return false, fmt.Errorf("%w: %s is no shard, but was united without %s", ErrTerrain, f.path, part.Without.Named())
	}
	want := c.part(shard)
	want.Run, want.Configuration = part.Run, part.Configuration
	if part != want {
		return false, fmt.Errorf("%w: %s is shard %d of %d of terrain %x, the hub's is %x with %d",
			ErrTerrain, f.path, part.Shard, part.Shards, part.Terrain, c.Terrain, len(c.Made))
	}
	known, err := f.epochs(c)
	if err == nil && known[shard] < c.Epochs[shard] {
		err = fmt.Errorf("%s: %w", f.path, lease.ErrAnew)
	}
	if err != nil {
		return false, err
	}
	if own := c.number(n.Name); c.Made[shard] != own {
		c.Made[shard], news = own, true
	}
	if part.Run > c.Run || part.Run == c.Run && part.Configuration > c.Configuration {
		if part.Run > c.Run {
			clear(c.Over)
		}
		cfg, err := f.config()
		if err != nil {
			return false, err
		}
		if cfg != nil {
			c.Config = digests(cfg.Shared())
		}
		c.Run, c.Configuration, news = part.Run, max(part.Configuration, c.Configuration), true
		c.Portions.forget()
	}
	over, err := f.over(c.Run)
	if over && !c.Over[shard] {
		c.Over[shard], news = true, true
	}
	return news, err
}
