package node

import (
	"errors"
	"fmt"
	"maps"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// know merges what the files of a node say into the charter, and reports whether that changed anything. It starts with
// the epochs, because one of the files may have been given up.
func (c *charter) know(files map[int]*file) (news bool, err error) {
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
		more, err := c.knows(shard, f)
		if errors.Is(err, lease.ErrRecreated) && len(files) > 1 { // its holder leaves it alone
			continue
		}
		if err != nil {
			return false, err
		}
		news = news || more
	}
	return news, nil
}

// knows merges what one file says into the charter, and reports whether that changed anything.
func (c *charter) knows(shard int, f *file) (news bool, err error) {
	if f.empty() && shard < c.shards() { // made but never crawled
		return false, nil
	}
	if err := c.fits(shard, f); err != nil {
		return false, err
	}
	if news, err = c.catchUp(f); err != nil {
		return false, err
	}
	over, err := f.over(c.Run)
	if over && !c.Over[shard] {
		c.Over[shard], news = true, true
	}
	return news, err
}

// fits returns an error if a file is not that of a shard of the terrain, or was given up.
func (c *charter) fits(shard int, f *file) error {
	part := f.Part()
	switch {
	case part.Shards == 0:
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
	known, err := f.epochs(c)
	if err == nil && known[shard] < c.Epochs[shard] {
		err = fmt.Errorf("%s: %w", f.path, lease.ErrRecreated)
	}
	return err
}

// catchUp advances the charter to the run and the configuration of a file that is ahead of it, and reports whether
// it changed. If the file has another configuration under the charter's number, the charter's gets a new number.
func (c *charter) catchUp(f *file) (news bool, err error) {
	part := f.Part()
	own, its := c.moment(), moment{part.Run, part.Configuration}
	if its.before(own) {
		return false, nil
	}
	cfg, err := f.config()
	if err != nil {
		return false, err
	}
	config := c.Config
	if cfg != nil {
		config = digests(cfg.Shared())
	}
	if its == own {
		if news = !maps.Equal(config, c.Config); news {
			c.renumber()
		}
		return news, nil
	}
	if its.Run > own.Run {
		clear(c.Over)
	}
	c.Config, c.Run, c.Configuration = config, its.Run, max(its.Configuration, own.Configuration)
	c.Portions.forget()
	return true, nil
}
