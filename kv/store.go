package kv

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// NoDepth is the depth, and the hops, of a URL that has none in the present
// generation.
const NoDepth = 255

// Options say how a state file is opened.
type Options struct {
	ReadOnly bool          // shares the lock with other readers; the file must exist
	Timeout  time.Duration // to wait for the lock; 0: 2 s
	Locked   func()        // called when the lock is held, before memory is filled; may be nil
	Memory   int64         // bytes that may be filled; 0: any number
}

// A Store is an open state file and what is held in memory of it. It belongs to
// one goroutine; only [Store.Hash], [Store.Snapshot], [Store.Size] and
// [Store.Path] may be called from any. Walks over many records have goroutines of
// their own, which read ahead and end with the walk.
//
// An Update that fails, or damage that is met, leaves memory and file apart. The store
// then closes itself, every later transaction returns [ErrClosed] with the cause, and
// going on means to open it again.
type Store struct {
	place
	db        *bbolt.DB
	cause     error // why it is closed; nil: open
	closed    atomic.Bool
	busy      bool // inside a transaction
	entered   bool // a file that lists its openings lists this one
	abandon   bool // a transaction could not be ended: its locks are never released
	whole     bool // look through all pages on opening
	filePages *filePages

	seal  sealer
	state state
	index
	part
	hosts   *cache[schema.HostID, *schema.Host]
	names   *cache[schema.HostID, string]
	ids     *cache[string, schema.HostID]
	anchors [2]anchorPart // decompressed last
	arena   arena         // of the one update at a time
	spare   spare         // of the last update, for the next one
}

// Open opens a state file and reads into memory what is held there. Without
// ReadOnly a missing file is created, and appears whole or not at all.
//
// It fails with [ErrLocked], [ErrForeign], [ErrFormat], [ErrDamaged] or [ErrMemory], each
// with the file's name and what can be done.
func Open(path string, opts Options) (*Store, error) {
	if opts.Timeout == 0 {
		opts.Timeout = 2 * time.Second
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !opts.ReadOnly:
		if err := create(path); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, bare(err))
		}
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, bare(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open %s: %w: not a regular file", path, ErrForeign)
	}
	s := newStore(path, opts.ReadOnly)
	err = s.openFile(opts.Timeout)
	if err == nil && opts.Locked != nil {
		opts.Locked()
	}
	if err == nil {
		err = s.transact(false, func(tx *Tx) error { return tx.rebuild(opts.Memory) })
	}
	if err != nil {
		s.shut(nil, err)
		return nil, fmt.Errorf("open %s: %w", path, bare(err))
	}
	s.filePages = nil
	return s, nil
}

func newStore(path string, readOnly bool) *Store {
	return &Store{
		place: place{path: path, readOnly: readOnly}, seal: newSealer(),
		hosts: newCache[schema.HostID, *schema.Host](1 << 13),
		names: newCache[schema.HostID, string](1 << 16),
		ids:   newCache[string, schema.HostID](1 << 16),
	}
}

func (s *Store) openFile(timeout time.Duration) error {
	return guard(func() error {
		s.abandon = true // until bbolt has opened it
		db, err := bbolt.Open(s.path, 0o600, s.boltOptions(timeout))
		if errors.Is(err, bolterrors.ErrTimeout) || errors.Is(err, ErrLocked) {
			return fmt.Errorf("%w by %s", ErrLocked, holder(s.path))
		}
		if err != nil {
			return boltError(err)
		}
		s.abandon = false
		s.db = db
		db.AllocSize = 64 << 20
		return s.measure()
	})
}

func (s *Store) boltOptions(timeout time.Duration) *bbolt.Options {
	return &bbolt.Options{
		Timeout:         timeout,
		ReadOnly:        s.readOnly,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: mapRoom(),
		NoStatistics:    true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := s.openLocked(name, flag&^os.O_CREATE, mode, timeout)
			if err != nil {
				return nil, err
			}
			s.filePages, err = checkPages(f, s.whole)
			return f, err
		},
	}
}

// boltError names an error of opening.
func boltError(err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("%w (%w)", ErrForeign, err)
	case errors.Is(err, bolterrors.ErrChecksum):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return withoutRoom(err)
}

// Close closes the file; closing again does nothing.
func (s *Store) Close() error { return s.shut(nil, nil) }

// shut ends an open transaction and closes the file for the given cause. Where
// damage keeps bbolt from ending it, only the file is closed and its mapping is
// left behind.
func (s *Store) shut(b *bbolt.Tx, cause error) error {
	if s.cause != nil {
		return nil
	}
	s.closed.Store(true)
	s.cause = ErrClosed
	if cause != nil {
		s.cause = fmt.Errorf("%w after an error: %w", ErrClosed, cause)
	}
	err := s.release(b)
	s.lookup, s.anchors, s.arena, s.spare = table{}, [2]anchorPart{}, arena{}, spare{}
	return err
}

func (s *Store) release(b *bbolt.Tx) error {
	if b != nil {
		err := guard(b.Rollback)
		s.abandon = s.abandon || err != nil && !errors.Is(err, bolterrors.ErrTxClosed)
	}
	if s.db != nil && !s.abandon {
		if err := disk.Unlocking(s.file, func() error { return guard(s.db.Close) }); !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	if s.file == nil {
		return nil
	}
	disk.Unlock(s.file)
	if err := s.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Present reports with [ErrLost] that the open file is no longer the one that has its
// name, or that somebody else has written to it or cut it: what is committed then would
// be lost.
//
// Every commit asks this before it writes and before it returns. Whoever gives another
// file the name asks it just before. A reader may go on to the end with a file that has
// lost its name.
func (s *Store) Present() error {
	if s.cause != nil {
		return s.cause
	}
	return s.present()
}

// Like gives the file the permissions of another one that is open and, where this user may,
// its owner: of one that is to take the other's place.
func (s *Store) Like(other *Store) error { return disk.Like(s.file, other.file) }

// Path returns the name that the file was opened under.
func (s *Store) Path() string { return s.path }

// Size returns the bytes that a snapshot would have now; 0 when closed.
func (s *Store) Size() int64 {
	if s.closed.Load() {
		return 0
	}
	var size int64
	_ = guard(func() error {
		return s.db.View(func(b *bbolt.Tx) error { size = b.Size(); return nil })
	})
	return size
}

// Snapshot writes a consistent copy of the file. Commits go on meanwhile, and the file
// grows by the space that they would have used again.
func (s *Store) Snapshot(w io.Writer) (n int64, err error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	err = guard(func() error {
		return s.db.View(func(b *bbolt.Tx) error {
			n, err = b.WriteTo(w)
			return err
		})
	})
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	if err != nil {
		err = cmp.Or(s.uncut(), err)
	}
	return n, err
}

// URLs returns the number of URLs, which is the last id.
func (s *Store) URLs() int { return int(s.state.urls) }

// Hosts returns the number of hosts, which is the last id.
func (s *Store) Hosts() int { return int(s.state.hosts) }

// Generation returns the number of the present depths and queues.
func (s *Store) Generation() uint32 { return s.state.generation }

// LastSeq returns the number of visits, which is the last sequence number.
func (s *Store) LastSeq() schema.Seq { return schema.Seq(s.state.visits) }

// LastCommit returns the number of the last commit.
func (s *Store) LastCommit() uint64 { return s.state.commit }
