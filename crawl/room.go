package crawl

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sumi-ripple/ripple/kv"
)

const (
	roomReserve = 64 << 20 // free bytes below which nothing is committed
	roomCheck   = time.Second
)

// ErrNoRoom reports a crawl that was stopped while the disk was full. Pages whose visits were not
// committed are requested again by the next start.
var ErrNoRoom = errors.New("the disk is full")

// A NoRoom is a disk that is too full for a commit.
type NoRoom struct {
	Since  time.Time
	Folder string // to which the crawl writes
	Free   uint64 // bytes, when it was last looked at
}

// Needs is the number of bytes that must be free.
func (*NoRoom) Needs() uint64 { return roomReserve }

// hasRoom reports whether there is room for a commit and for the pages that it stores. It logs once
// when the disk is full, and once when there is room again.
func (c *committer) hasRoom() bool {
	dir, free := c.tight()
	was := c.full.Load()
	switch {
	case dir == "":
		c.full.Store(nil)
	case was == nil:
		c.full.Store(&NoRoom{time.Now(), dir, free})
	default:
		c.full.Store(&NoRoom{was.Since, dir, free})
	}
	switch {
	case dir != "" && was == nil:
		c.log.Warn("the disk is full: the crawl waits until there is room", "folder", dir,
			"free_mb", free>>20, "needed_mb", roomReserve>>20)
		if c.onFull != nil {
			c.onFull(free)
		}
	case dir == "" && was != nil:
		c.log.Info("there is room on the disk again: the crawl continues")
	}
	return dir == ""
}

// HasRoom fails with [ErrNoRoom] while the disk is full. A reload would then end the crawl, because
// it commits first what was fetched under the old configuration.
func (c *Crawl) HasRoom() error {
	return c.Query(func(*kv.Store) error {
		if !c.committer.hasRoom() {
			return c.committer.noRoom()
		}
		return nil
	})
}

// tight returns the first folder with too little room of those that a commit writes to; empty: each
// has enough.
func (c *committer) tight() (dir string, free uint64) {
	dirs := []string{filepath.Dir(c.store.Path())}
	if pages := &c.set.Config.Pages; pages.Keep {
		dirs = append(dirs, pages.Path)
	}
	for _, dir := range dirs {
		if free, known := c.free(dir); known && free < roomReserve {
			return dir, free
		}
	}
	return "", 0
}

func (c *committer) noRoom() error {
	return fmt.Errorf("%w: %s needs %d MB free; nothing that was committed is lost", ErrNoRoom, c.full.Load().Folder,
		roomReserve>>20)
}
