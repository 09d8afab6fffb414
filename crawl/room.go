package crawl

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	roomReserve = 64 << 20 // free bytes below which nothing is committed
	roomCheck   = time.Second
)

// ErrNoRoom reports a crawl that was stopped while the disk was full. What was not
// committed is asked again by the next start.
var ErrNoRoom = errors.New("the disk of the state file is full")

// hasRoom reports whether there is room for a commit. A full disk is said once,
// and so is its end.
func (c *committer) hasRoom() bool {
	free, known := c.free(filepath.Dir(c.store.Path()))
	full := known && free < roomReserve
	if full != c.full {
		c.full = full
		if full {
			c.log.Warn("the disk is full: the crawl waits until there is room", "folder", filepath.Dir(c.store.Path()),
				"free_mb", free>>20, "needed_mb", roomReserve>>20)
			if c.onFull != nil {
				c.onFull(free)
			}
		} else {
			c.log.Info("there is room on the disk again: the crawl goes on")
		}
	}
	return !full
}

func (c *committer) noRoom() error {
	return fmt.Errorf("%w: %s needs %d MB free; nothing that was committed is lost", ErrNoRoom,
		filepath.Dir(c.store.Path()), roomReserve>>20)
}
