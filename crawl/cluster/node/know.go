package node

import (
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// know adds what the files of a node say to the charter, and reports whether that changed anything. A file that was
// given up is an error only if it is the only one: otherwise its holder leaves it alone.
func (c *charter) know(files map[int]*file) (news bool, err error) {
	for shard, f := range files {
		from, err := f.charter(shard, c)
		if err != nil {
			return false, err
		}
		news = c.learn(from) || news
	}
	for shard, f := range files {
		known, err := f.epochs(c)
		if err == nil && known[shard] < c.Epochs[shard] && !f.empty() && len(files) == 1 {
			err = fmt.Errorf("%s: %w", f.path, lease.ErrRecreated)
		}
		if err != nil {
			return false, err
		}
	}
	return news, nil
}

// charter returns the charter with what the file says in its place. The file must be that of a shard of the terrain.
func (f *file) charter(shard int, now *charter) (c *charter, err error) {
	if err := now.fits(shard, f); err != nil {
		return nil, err
	}
	c = now.clone()
	if c.Epochs, err = f.epochs(c); err != nil {
		return nil, err
	}
	if c.Stop, err = f.stop(c); err != nil || f.empty() {
		return c, err
	}
	c.Stop.Late = true
	part := f.Part()
	c.Run, c.Configuration, c.Made, c.Restored = part.Run, part.Configuration, true, true
	cfg, err := f.config()
	if err != nil {
		return nil, err
	}
	if cfg != nil {
		c.Config = digests(cfg.Shared())
	}
	clear(c.Over)
	c.Over[shard], err = f.over(c.Run)
	return c, err
}

// fits returns an error if a file is not that of a shard of the terrain.
func (c *charter) fits(shard int, f *file) error {
	part := f.Part()
	switch {
	case f.empty() && shard < c.shards(): // made but never crawled
		return nil
	case f.empty():
		return fmt.Errorf("%w: %s was never crawled, and that of the hub has shards 0 to %d", ErrTerrain, f.path,
			c.shards()-1)
	case part.Merged():
		return fmt.Errorf("%w: %s is no shard, but was merged without %s", ErrTerrain, f.path, part.Without.Named())
	}
	want := c.part(shard)
	want.Run, want.Configuration = part.Run, part.Configuration
	if part != want {
		return fmt.Errorf("%w: %s is shard %d of %d of terrain %x, the hub's is %x with %d",
			ErrTerrain, f.path, part.Shard, part.Shards, part.Terrain, c.Terrain, c.shards())
	}
	return nil
}
