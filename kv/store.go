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

// NoDepth is the depth, or number of hops, of a URL that has none in the current generation.
const NoDepth = 255

// Options say how a state file is opened.
type Options struct {
	ReadOnly bool          // shares the lock with other readers; the file must exist
	Timeout  time.Duration // how long to wait for the lock; 0: 2 s
	Locked   func()        // called when the lock is held, before memory is filled; may be nil
	Memory   int64         // bytes that may be used; 0: no limit
}

// A Store is an open state file and its in-memory state. It belongs to one goroutine; only [Store.Hash],
// [Store.Snapshot], [Store.Raw], [Store.Size] and [Store.Path] are safe for concurrent use. Walks over many records use
// goroutines of their own, which read ahead and end with the walk.
//
// After a failed Update, or if damage is found, memory and file no longer agree. The store then closes
// itself, and every later transaction returns [ErrClosed] with the cause; to continue, open the file again.
type Store struct {
	place
	db        *bbolt.DB
	cause     error // why it is closed; nil: open
	closed    atomic.Bool
	busy      bool // inside a transaction
	entered   bool // the file lists this opening, if it lists openings
	abandon   bool // a transaction could not be ended: its locks are never released
	whole     bool // check all pages on opening
	filePages *filePages

	seal  sealer
	state state
	index
	part
	hosts   *cache[schema.HostID, *schema.Host]
	names   *cache[schema.HostID, string]
	ids     *cache[string, schema.HostID]
	anchors [2]anchorPart // the last ones decompressed
	arena   arena         // of the current update
	spare   spare         // from the last update, for the next
}

// Open opens a state file and loads its in-memory state. Without ReadOnly, a missing file is created,
// completely or not at all.
//
// It fails with [ErrLocked], [ErrForeign], [ErrFormat], [ErrDamaged] or [ErrMemory], each with the file's
// name and what can be done.
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

// boltError translates an error from opening.
func boltError(err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("%w (%w)", ErrForeign, err)
	case errors.Is(err, bolterrors.ErrChecksum):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return withoutRoom(err)
}

// Close closes the file; it is idempotent.
func (s *Store) Close() error { return s.shut(nil, nil) }

// shut ends an open transaction and closes the file for the given cause. If damage prevents bbolt from ending
// it, only the file is closed and its mapping is left behind.
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

// Present returns [ErrLost] if the open file no longer has its name, or another process has written to it or
// truncated it: later commits would be lost.
//
// Every commit calls this before it writes and before it returns. Call it just before giving the name to
// another file. A reader may continue to the end with a file that has lost its name.
func (s *Store) Present() error {
	if s.cause != nil {
		return s.cause
	}
	return s.present()
}

// Like gives the file the permissions of another open file and, if this user may, its owner, when it is to
// replace that file.
func (s *Store) Like(other *Store) error { return disk.Like(s.file, other.file) }

// Path returns the name under which the file was opened.
func (s *Store) Path() string { return s.path }

// Size returns the current size of a snapshot in bytes; 0 when closed.
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

// Raw returns the file as it is on the disk, with its current size. What is read during a commit is inconsistent. The
// reader must not be used after Close.
func (s *Store) Raw() (file io.ReaderAt, size int64, err error) {
	if s.closed.Load() {
		return nil, 0, ErrClosed
	}
	info, err := s.file.Stat()
	if err != nil {
		return nil, 0, err
	}
	return s.file, info.Size(), nil
}

// Snapshot writes a consistent copy of the file. Commits continue meanwhile, and the file grows by the space
// that they would have reused.
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

// Generation returns the number of the current generation of depths and queues.
func (s *Store) Generation() uint32 { return s.state.generation }

// LastSeq returns the number of visits, which is the last sequence number.
func (s *Store) LastSeq() schema.Seq { return schema.Seq(s.state.visits) }

// LastCommit returns the number of the last commit.
func (s *Store) LastCommit() uint64 { return s.state.commit }
