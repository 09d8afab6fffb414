package kv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/schema"
)

// NoDepth is the depth, and the hops, of a URL that has none in the present
// generation.
const NoDepth = 255

// Options say how a state file is opened.
type Options struct {
	ReadOnly bool          // shares the lock with other readers; the file must exist
	Timeout  time.Duration // to wait for the lock; 0: 2 s
	Locked   func()        // called when the lock is held, before memory is filled; may be nil
}

// A Store is an open state file and what is held in memory of it. It belongs to
// one goroutine; only [Store.Hash], [Store.Snapshot], [Store.Size] and
// [Store.Path] may be called from any.
//
// A transaction that fails leaves memory and file apart. The store then closes
// itself, every later call returns [ErrClosed] with the cause, and going on
// means to open it again.
type Store struct {
	path     string
	file     *os.File // that of db; closing it gives up the lock
	db       *bbolt.DB
	readOnly bool
	cause    error // why it is closed; nil: open
	closed   atomic.Bool
	busy     bool // inside a transaction
	abandon  bool // a transaction could not be ended: its locks are never released
	whole    bool // look through all pages on opening
	pages    *pages

	seal    sealer
	seed    uint64
	state   state
	lookup  table
	known   column[known]
	hosts   *cache[schema.HostID, *schema.Host]
	names   *cache[schema.HostID, string]
	ids     *cache[string, schema.HostID]
	zip     zipper
	anchors [2]anchorPart // decompressed last
	arena   arena         // of the one update at a time
	spare   spare         // of the last update, for the next one
}

// A known is what is held of a URL: together, because whoever asks for one of it
// asks for more.
type known struct {
	host   uint32 // id
	latest uint32 // visit
	depth  uint8  // plus 1; 0: none
	hops   uint8  // plus 1
	mark   uint8  // shapes, and the kind from bit 5 on
}

// Open opens a state file and reads into memory what is held there. Without
// ReadOnly a missing file is created, and appears whole or not at all.
//
// It fails with [ErrLocked], [ErrForeign], [ErrFormat] or [ErrDamaged], each
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
		err = s.transact(false, s.rebuild)
	}
	if err != nil {
		s.shut(nil, err)
		return nil, fmt.Errorf("open %s: %w", path, bare(err))
	}
	s.pages = nil
	return s, nil
}

func newStore(path string, readOnly bool) *Store {
	return &Store{
		path: path, readOnly: readOnly, seal: newSealer(),
		hosts: newCache[schema.HostID, *schema.Host](1 << 13),
		names: newCache[schema.HostID, string](1 << 16),
		ids:   newCache[string, schema.HostID](1 << 16),
	}
}

func (s *Store) openFile(timeout time.Duration) error {
	return guard(func() error {
		s.abandon = true // until bbolt has opened it
		db, err := bbolt.Open(s.path, 0o600, s.boltOptions(timeout))
		if errors.Is(err, bbolt.ErrTimeout) || errors.Is(err, ErrLocked) {
			return fmt.Errorf("%w by %s", ErrLocked, holder(s.path))
		}
		if err != nil {
			return boltError(err)
		}
		s.abandon = false
		s.db = db
		db.AllocSize = 64 << 20
		return nil
	})
}

func (s *Store) boltOptions(timeout time.Duration) *bbolt.Options {
	return &bbolt.Options{
		Timeout:         timeout,
		ReadOnly:        s.readOnly,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: mapSize,
		NoStatistics:    true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := s.openLocked(name, flag&^os.O_CREATE, mode, timeout)
			if err != nil {
				return nil, err
			}
			s.pages, err = checkPages(f, s.whole)
			return f, err
		},
	}
}

// openLocked opens and locks the file that has the name when the lock is held:
// another process may have put a new one in its place meanwhile.
func (s *Store) openLocked(name string, flag int, mode os.FileMode, timeout time.Duration) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, flag, mode)
		if err != nil {
			return nil, err
		}
		s.file = f
		if err := lock(f, !s.readOnly, timeout); err != nil {
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

// boltError names an error of opening.
func boltError(err error) error {
	switch {
	case errors.Is(err, bbolt.ErrInvalid), errors.Is(err, bbolt.ErrVersionMismatch):
		return fmt.Errorf("%w (%w)", ErrForeign, err)
	case errors.Is(err, bbolt.ErrChecksum):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
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
	s.zip.close()
	err := s.release(b)
	s.lookup, s.anchors, s.arena, s.spare = table{}, [2]anchorPart{}, arena{}, spare{}
	return err
}

func (s *Store) release(b *bbolt.Tx) error {
	if b != nil {
		err := guard(b.Rollback)
		s.abandon = s.abandon || err != nil && !errors.Is(err, bbolt.ErrTxClosed)
	}
	if s.db != nil && !s.abandon {
		if err := guard(s.db.Close); !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	if s.file == nil {
		return nil
	}
	unlock(s.file)
	if err := s.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

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

// Snapshot writes a consistent copy of the file. Commits go on meanwhile, and
// the file grows by what they would have used again.
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
	if errors.Is(err, bbolt.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	return n, err
}

// Hash returns the hash under which a URL is looked up. It is seeded, so that
// nobody can make URLs collide.
func (s *Store) Hash(kind schema.URLKind, norm string) uint64 {
	return xxh3.HashStringSeed(norm, s.seed+uint64(kind))
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

// HostOf returns the host of a URL; 0: there is no such URL.
func (s *Store) HostOf(id schema.ID) schema.HostID { return schema.HostID(s.known.at(id).host) }

// Latest returns the last visit of a URL; 0: never visited.
func (s *Store) Latest(id schema.ID) schema.Seq { return schema.Seq(s.known.at(id).latest) }

// Kind returns what a URL is asked for.
func (s *Store) Kind(id schema.ID) schema.URLKind { return schema.URLKind(s.known.at(id).mark >> 5) }

// Shapes returns the forms of a URL that can be derived, and whether there are others.
func (s *Store) Shapes(id schema.ID) schema.Shape { return schema.Shape(s.known.at(id).mark & 31) }

// Depth returns the smallest depth of a URL and its smallest number of hops,
// each [NoDepth] if it has none in this generation.
func (s *Store) Depth(id schema.ID) (depth, hops uint8) {
	k := s.known.at(id)
	return k.depth - 1, k.hops - 1
}
