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
	waits    bool // it was logged that the node waits for others
}

// join opens the files in the node's folder, and returns the charter to which they and the configuration belong.
// The first node that joins after a run is over begins the next run. After an error some files may be open.
func (j *joiner) join(ctx context.Context) (c *charter, files map[int]*file, err error) {
	if files, err = openFiles(j.Options); err != nil {
		return nil, files, err
	}
	known, over, err := j.announce(ctx, files)
	if err != nil {
		return nil, files, err
	}
	for waits := false; ; waits = true {
		c, err = j.registry.change(ctx, func(c *charter) (next *charter, err error) {
			if c != nil {
				return j.enter(c, files, over)
			}
			lost := known.forgotten()
			if next, err = j.enter(lost, files, over); err == nil && next == nil {
				next = lost
			}
			return next, err
		})
		if !errors.Is(err, errOthers) {
			if err == nil && c.Release != j.Release {
				j.Log.Warn("the machines of this terrain run different releases; use one on all", "here", j.Release,
					"of the run", schema.Clean(c.Release, 100))
			}
			return c, files, err
		}
		if !waits {
			j.Log.Info("waiting for the other nodes to confirm that the last run is over")
		}
		if err := sleep(ctx, j.Timing.Renew/10); err != nil {
			return nil, files, err
		}
	}
}

// announce publishes what the files here say. If the hub has no charter, a node without crawled files waits for
// others to restore it, unless it may create one.
func (j *joiner) announce(ctx context.Context, files map[int]*file) (known *charter, over bool, err error) {
	for began := time.Now(); ; {
		known, over, err = j.publish(ctx, files, j.NewTerrain && time.Since(began) > j.Timing.Renew)
		waits := []any{"why", err}
		switch {
		case errors.Is(err, errMarked):
			waits = append(waits, "to begin another terrain remove", filepath.Join(j.Folder, MarkName))
		case errors.Is(err, hub.ErrAway), errors.Is(err, errUsed) && j.NewTerrain: // not for long
			waits = nil
		case errors.Is(err, errUsed):
			waits = append(waits, "to begin a terrain", "ripple crawl --new-terrain, on one machine")
		default:
			return known, over, err
		}
		if !j.waits && waits != nil {
			j.waits = true
			j.Log.Warn("waiting for a machine that has a shard", waits...)
		}
		if err := sleep(ctx, j.Timing.Renew/10); err != nil {
			return nil, false, err
		}
	}
}

// publish merges what the files here say into the charter, and returns it. over: the run was over on all shards before
// that. anyway: if the hub has no charter, a new one may be created although others may have used the hub.
func (j *joiner) publish(ctx context.Context, files map[int]*file, anyway bool) (known *charter, over bool, err error) {
	over = true
	known, err = j.registry.change(ctx, func(c *charter) (*charter, error) {
		news := c == nil
		if news {
			if c, err = j.first(ctx, files, anyway); err == nil {
				c.Release = j.Release
			}
		} else {
			err = j.belongs(c, files)
		}
		if err != nil {
			return nil, err
		}
		over = over && c.over() // the first call counts: a retry may find what it has written
		more, err := c.know(files)
		if err != nil || !news && !more {
			return nil, err
		}
		return c, nil
	})
	return known, over, err
}

// settled is how long no node has joined before the nodes that are there share the shards, so that machines that are
// started together get as many each.
func (o *Options) settled() time.Duration { return max(o.Timing.Renew/5, time.Second) }

// late is how long a node may take to make the files of its share, or to claim its shards again at a hub that has lost
// the charter.
func (o *Options) late() time.Duration { return 2*o.Timing.Renew + o.Timing.Watch }

// bucket opens a bucket of the hub, which may be away for up to Watch.
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

// first returns a charter for a hub that has none: restored from the files here, or that of a new terrain. If the
// files say nothing, it returns errMarked if the folder is marked, and errUsed if others may have used the hub, unless
// anyway is set.
func (j *joiner) first(ctx context.Context, files map[int]*file, anyway bool) (*charter, error) {
	for _, f := range files {
		if !f.empty() {
			return f.charter(f.Part().Shard, restored(f.Part(), j.config))
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
	c.Founded = lease.Instance(session)
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
var errOthers = errors.New("other nodes are missing")

// enter returns the charter with this node added; nil: it has not changed. It begins the next run if the last one
// was over before this node joined, or if the hub had lost everything and the files have since reported one by one
// that it is over.
func (j *joiner) enter(c *charter, files map[int]*file, over bool) (*charter, error) {
	changed := false
	if c.over() && (over || c.Restored) {
		if err := c.tellsApart(j.config); err != nil {
			return nil, err
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
		own := slices.Collect(maps.Keys(files))
		if c.Restored && !slices.ContainsFunc(own, func(shard int) bool { return !c.Over[shard] }) {
			return nil, errOthers
		}
		return nil, fmt.Errorf("%w: %s differ", ErrConfig, differing(c.Config, j.config))
	}
	if !c.introduce(peer{j.ID, j.Name}) && !changed {
		return nil, nil
	}
	return c, nil
}
