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

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/schema"
)

// A joiner adds a node to the terrain of its hub.
type joiner struct {
	*Options
	registry *registry
	fresh    func(context.Context) (bool, error) // see [hub.Bucket.Fresh]
	config   map[string]string                   // digests of the shared configuration
	began    time.Time
}

// join opens the files in the node's folder, tells the charter what they say, adds the node, and returns the charter.
// The first node that joins after a run is over begins the next run. If the hub has no charter, a node without crawled
// files waits for others to restore it, unless it may create one. After an error some files may be open.
func (j *joiner) join(ctx context.Context) (c *charter, files map[int]*file, err error) {
	if files, err = openFiles(j.Options); err != nil {
		return nil, files, err
	}
	over, said := true, "" // the run was over on all shards before the files here said so
	for began := time.Now(); ; {
		var others error
		c, err = j.registry.change(ctx, func(c *charter) (_ *charter, err error) {
			news := c == nil
			if news {
				c, err = j.first(ctx, files, j.NewTerrain && time.Since(began) > j.Timing.Renew)
			} else {
				err = j.belongs(c, files)
			}
			if err != nil {
				return nil, err
			}
			over = over && c.over() // the first call counts: a retry may find what it has written
			told, err := c.know(files)
			if err != nil {
				return nil, err
			}
			entered, err := j.enter(c, files, over)
			if others = nil; errors.Is(err, errOthers) {
				others, err = err, nil
			}
			if err != nil || !news && !told && !entered {
				return nil, err
			}
			return c, nil
		})
		if err == nil {
			err = others
		}
		waits, advice := j.waits(err)
		if !waits {
			break
		}
		if why := err.Error(); advice != nil && said != why {
			said = why
			j.Log.Warn("waiting for a machine that has a shard", append([]any{"why", why}, advice...)...)
		}
		if err := sleep(ctx, j.Timing.Renew/10); err != nil {
			return nil, files, err
		}
	}
	if err == nil && c.Release != j.Release {
		j.Log.Warn("the machines of this terrain run different releases; use one on all", "here", j.Release,
			"of the run", schema.Clean(c.Release, 100))
	}
	return c, files, err
}

// waits reports whether the node waits for others after an error, and what a person can do about it; nil: it is not
// worth mentioning.
func (j *joiner) waits(err error) (waits bool, advice []any) {
	switch {
	case errors.Is(err, errOthers):
		return true, []any{}
	case errors.Is(err, errMarked):
		return true, []any{"to begin another terrain remove", filepath.Join(j.Folder, MarkName)}
	case errors.Is(err, hub.ErrAway), errors.Is(err, errUsed) && j.NewTerrain: // not for long
		return true, nil
	case errors.Is(err, errUsed):
		return true, []any{"to begin a terrain", "ripple crawl --new-terrain, on one machine"}
	}
	return false, nil
}

// settled is how long no node has joined before the nodes that are there share the shards, so that machines that are
// started together get as many each.
func (o *Options) settled() time.Duration { return max(o.Timing.Renew/5, time.Second) }

// late is how long a node may take to make the files of its share, or to claim its shards again at a hub that has lost
// the charter.
func (o *Options) late() time.Duration { return 2*o.Timing.Renew + o.Timing.Patience() }

// bucket opens a bucket of the hub, which may be away for as long as [lease.Timing.Patience].
func (o *Options) bucket(ctx context.Context, terrain [16]byte) (*hub.Bucket, error) {
	for began := time.Now(); ; {
		b, err := o.Hub.Bucket(ctx, terrain)
		if err == nil || time.Since(began) > o.Timing.Patience() {
			return b, err
		}
		if err := sleep(ctx, o.Timing.Renew/10); err != nil {
			return nil, err
		}
	}
}

// first returns a charter for a hub that has none: restored from the files here, or that of a new terrain. If the
// files say nothing, it returns errMarked if the folder is marked, and errUsed if others may have used the hub, unless
// anyway is set.
func (j *joiner) first(ctx context.Context, files map[int]*file, anyway bool) (*charter, error) {
	for _, f := range files {
		if !f.empty() {
			c := restored(f.Part(), j.config)
			c.Release = j.Release
			return f.charter(f.Part().Shard, c)
		}
	}
	return j.begin(ctx, anyway)
}

// begin returns the charter of a new terrain, or the reason why this node does not begin one.
func (j *joiner) begin(ctx context.Context, anyway bool) (*charter, error) {
	terrain, err := marked(j.Folder)
	if err != nil {
		return nil, err
	}
	if terrain != nil {
		return nil, errMarked
	}
	fresh, err := j.fresh(ctx)
	session := ""
	if err == nil {
		session, err = j.registry.bucket.Session(ctx)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", hub.ErrAway, err)
	case !fresh && !anyway:
		return nil, errUsed
	}
	c := newCharter(j.Shards, j.config)
	c.Founded, c.Release = lease.Instance(session), j.Release
	return c, nil
}

// belongs returns [ErrTerrain] if the folder is marked with another terrain than the charter's, and no file here
// was crawled: the other terrain may still need the files that were never crawled.
func (j *joiner) belongs(c *charter, files map[int]*file) error {
	for _, f := range files {
		if !f.empty() {
			return nil
		}
	}
	terrain, err := marked(j.Folder)
	if err == nil && terrain != nil && !bytes.Equal(terrain, c.Terrain) {
		err = fmt.Errorf("%w: %s says %x, the hub's is %x", ErrTerrain, filepath.Join(j.Folder, MarkName), terrain,
			c.Terrain)
	}
	return err
}

// errOthers reports that other nodes are missing, whose files may say that the run is over.
var errOthers = errors.New("the other nodes have not confirmed that the last run is over")

// enter adds this node to the charter, and reports whether that changed it. It begins the next run if the last one was
// over before this node joined, or if the hub had lost everything and the files have since reported one by one that it
// is over.
func (j *joiner) enter(c *charter, files map[int]*file, over bool) (changed bool, err error) {
	if c.over() && (over || c.Restored) {
		if err := c.tellsApart(j.config); err != nil {
			return false, err
		}
		c.Run, c.Restored, c.Release, changed = c.Run+1, false, j.Release, true
		c.pause(false)
		clear(c.Over)
		c.Portions.begin()
		if !maps.Equal(c.Config, j.config) {
			c.Config, c.Configuration = j.config, c.Configuration+1
		}
	}
	if !maps.Equal(c.Config, j.config) {
		if c.Config[leaseKey] != j.config[leaseKey] {
			return false, ErrLease
		}
		own := slices.Collect(maps.Keys(files))
		if c.Restored && !slices.ContainsFunc(own, func(shard int) bool { return !c.Over[shard] }) {
			return false, errOthers
		}
		return false, fmt.Errorf("%w: %s differ", ErrConfig, differing(c.Config, j.config))
	}
	return c.introduce(peer{j.ID, j.Name}) || changed, nil
}
