package kv

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// A place is an open file and its name, which another process may meanwhile give to another file.
type place struct {
	path     string
	readOnly bool
	file     *os.File     // bbolt's; closing it releases the lock
	size     atomic.Int64 // of the file, after the last transaction that may have changed it
	last     int          // number of bbolt's last transaction; 0: none yet
}

// openLocked opens and locks the file that has the name once the lock is held: another process may meanwhile
// have replaced it.
func (p *place) openLocked(name string, flag int, mode os.FileMode, timeout time.Duration) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, flag, mode)
		if err != nil {
			return nil, err
		}
		p.file = f
		if err := lock(f, !p.readOnly, timeout); err != nil {
			return nil, err
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if named, err := os.Stat(name); err == nil && os.SameFile(mine, named) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// present returns [ErrLost] if the file no longer has its name, or was changed.
func (p *place) present() error {
	mine, err := p.file.Stat()
	if err != nil {
		return p.lost("cannot be looked at: " + bare(err).Error())
	}
	named, err := os.Stat(p.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return p.lost("was removed or renamed while it was in use")
	case err != nil:
		return p.lost("cannot be looked at: " + bare(err).Error())
	case !os.SameFile(mine, named):
		return p.lost("was replaced by another file while it was in use")
	}
	if had := p.size.Load(); mine.Size() != had {
		return p.lost(fmt.Sprintf("was changed by another program while it was in use: it has %d bytes, and had %d",
			mine.Size(), had))
	}
	return nil
}

// measure records the size that this process has given the file.
func (p *place) measure() error {
	mine, err := p.file.Stat()
	if err != nil {
		return p.lost("cannot be looked at: " + bare(err).Error())
	}
	p.size.Store(mine.Size())
	return nil
}

// advance checks the number of a bbolt transaction, which must follow the last one: data written over the
// file in place has another number.
func (p *place) advance(number int, writable bool) error {
	if writable {
		number-- // its own number, once it is committed
	}
	if p.last != 0 && number != p.last {
		return p.lost("was changed by another program while it was in use")
	}
	p.last = number
	if writable {
		p.last++
	}
	return nil
}

// uncut reports a file that is shorter than before. It may be called during a commit.
func (p *place) uncut() error {
	if mine, err := p.file.Stat(); err == nil && mine.Size() < p.size.Load() {
		return p.lost("was cut while it was in use")
	}
	return nil
}

func (p *place) lost(how string) error { return fmt.Errorf("%w: %s %s", ErrLost, p.path, how) }

// explained returns [ErrLost] if that is the cause of an error: what was read or written is then meaningless.
func (p *place) explained(err error) error {
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCommit) {
		return err
	}
	lost := p.uncut()
	if !p.readOnly {
		lost = p.present()
	}
	if errors.Is(lost, ErrLost) {
		return lost
	}
	return err
}
