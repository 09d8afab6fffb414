package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	maxReaders = 8                // of one copy
	idle       = 30 * time.Second // after which a reader has gone
	maxFailure = 200              // bytes of a reason
)

// A Source is a state file that can be copied while it is written.
type Source interface {
	Snapshot(io.Writer) (int64, error)
	Size() int64
	Commit() uint64 // the number of its last commit
}

// A Copier hands out copies of a file. Its methods are safe for concurrent use.
type Copier struct {
	path   string
	source Source
	live   func() bool

	done   context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup // the copy that is being made, and the sweeper

	mu  sync.Mutex
	now *copied // nil: there is no copy
}

// A copied is a compressed copy of a file, which has no name where the system allows that.
type copied struct {
	file    *os.File
	commit  uint64               // the copy contains it, and perhaps later ones
	readers map[string]time.Time // by name: when each asked last
	state   state
}

// New returns a copier of the state file at path, next to which it writes copies. live reports whether the file is
// being crawled. The copier must be closed before the source.
func New(path string, source Source, live func() bool) *Copier {
	c := &Copier{path: path + ".copy", source: source, live: live}
	c.done, c.cancel = context.WithCancel(context.Background())
	c.work.Go(func() {
		tick := time.NewTicker(idle / 3)
		defer tick.Stop()
		for {
			select {
			case <-c.done.Done():
				return
			case <-tick.C:
				c.mu.Lock()
				c.sweep()
				c.mu.Unlock()
			}
		}
	})
	return c
}

// Close ends the copies that are being made or read.
func (c *Copier) Close() {
	c.mu.Lock()
	c.cancel() // no copy is begun after this
	c.mu.Unlock()
	c.work.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

// Answer answers a question, which is untrusted. An error means no answer.
func (c *Copier) Answer(message []byte) ([]byte, error) {
	var q question
	if len(message) > maxState {
		return nil, errQuestion
	}
	if err := strictjson.Decode(message, &q); err != nil {
		return nil, fmt.Errorf("%w: %w", errQuestion, err)
	}
	if q.Reader == "" || len(q.Reader) > maxName || q.Offset < -1 {
		return nil, errQuestion
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done.Err() != nil {
		return nil, errUnread
	}
	c.sweep()
	if q.Offset == -1 {
		return strictjson.Encode(c.begin(q.Reader)), nil
	}
	if c.now == nil || c.now.readers[q.Reader].IsZero() || q.Offset > c.now.state.Packed {
		return nil, errUnread
	}
	if q.Offset == c.now.state.Packed {
		delete(c.now.readers, q.Reader)
		c.sweep()
		return nil, nil
	}
	c.now.readers[q.Reader] = time.Now()
	chunk := make([]byte, min(MaxChunk, c.now.state.Packed-q.Offset))
	_, err := c.now.file.ReadAt(chunk, q.Offset)
	return chunk, err
}

// begin returns the state of the copy for a reader. It begins a copy if there is none.
func (c *Copier) begin(reader string) state {
	if c.now == nil {
		if err := c.open(); err != nil {
			return state{Packed: -1, Failed: schema.Clean(err.Error(), maxFailure)}
		}
	}
	now := c.now
	if now.readers[reader].IsZero() && len(now.readers) > 0 &&
		(now.commit != c.source.Commit() || len(now.readers) == maxReaders) {
		return state{Busy: true, Packed: -1}
	}
	now.readers[reader] = time.Now()
	if now.state.Failed != "" {
		delete(now.readers, reader)
		defer c.sweep()
	}
	return now.state
}

// open begins a copy.
func (c *Copier) open() error {
	size, dir := uint64(c.source.Size()), filepath.Dir(c.path)
	if free, known := disk.Free(dir); known && free < size+size/5 {
		return errors.New("there is no room for the copy")
	}
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_ = os.Remove(c.path) // where no open file can be removed, drop does it
	now := &copied{file: f, commit: c.source.Commit(), readers: map[string]time.Time{}, state: state{Packed: -1}}
	c.now = now
	c.work.Go(func() {
		s := state{Live: c.live()}
		var err error
		if s.Size, err = c.pack(f); err == nil {
			s.Packed, err = f.Seek(0, io.SeekEnd)
		}
		if err != nil {
			s = state{Packed: -1, Failed: schema.Clean(err.Error(), maxFailure)}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		now.state = s
	})
	return nil
}

// pack writes a compressed copy of the source, and returns the size of what it contains.
func (c *Copier) pack(to io.Writer) (size int64, err error) {
	z, err := zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window))
	if err != nil {
		return 0, err
	}
	size, err = c.source.Snapshot(untilClosed{c.done, z})
	return size, errors.Join(err, z.Close())
}

// An untilClosed writer fails once its copier is closed, which must not wait for a large file.
type untilClosed struct {
	done context.Context
	w    io.Writer
}

func (u untilClosed) Write(b []byte) (int, error) {
	if u.done.Err() != nil {
		return 0, context.Cause(u.done)
	}
	return u.w.Write(b)
}

// sweep removes the copy if no reader is left, and there are none to come.
func (c *Copier) sweep() {
	if c.now == nil {
		return
	}
	for name, asked := range c.now.readers {
		if time.Since(asked) > idle {
			delete(c.now.readers, name)
		}
	}
	if len(c.now.readers) == 0 && (c.now.state.Packed >= 0 || c.now.state.Failed != "") {
		c.drop()
	}
}

// drop removes the copy.
func (c *Copier) drop() {
	if c.now != nil {
		_ = c.now.file.Close() // nobody needs it any more
		_ = os.Remove(c.path)
		c.now = nil
	}
}
