package crawl

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/schema"
)

var (
	// ErrPart reports a state file that holds a shard of a terrain but was to be crawled as a whole
	// terrain, or the reverse.
	ErrPart = errors.New("the state file holds another part of a terrain")
	// ErrOver reports a shard whose file says that the run of the terrain is over.
	ErrOver = errors.New("the run of the terrain is over")
	// ErrNotOver reports a shard that was to begin the next run of the terrain, while its file does
	// not say that the last one is over.
	ErrNotOver = errors.New("the last run of the terrain is not over")
	// ErrLease reports a shard that may belong to another process now.
	ErrLease = errors.New("the lease of the shard is lost")
)

// A Shard says which part of a split terrain a state file holds, and how the crawl reaches the
// other shards. All shards are crawled under the same configuration.
type Shard struct {
	// Part names the terrain, the shard, and the terrain's current run and configuration. The file
	// must hold that part or nothing, and must not be further.
	Part schema.Part
	// Carrier sends letters to the other shards. It is used by several goroutines.
	Carrier exchange.Carrier
	// Lease says whether this process may write the file; nil: it always may.
	Lease Lease
	// Tells completes the webhook's message about the end of the run: it replaces the figures of
	// this shard by those of the whole terrain. nil: another shard's crawl sends that message.
	Tells func(*webhook.Run)
}

// A Lease is the right to work on a shard. Once lost, it is never held again: another crawl has to
// begin under another lease. Its methods may be called by several goroutines at a time.
type Lease interface {
	// Held reports whether the shard may be worked on now. It is called before every request and
	// every commit.
	Held() bool
	// Ready reports whether a request may be prepared now, and waits, no longer than for ctx, until that is known. It is
	// called before every request.
	Ready(ctx context.Context) bool
	// Lost returns a channel that is closed when the lease is lost, or a little later.
	Lost() <-chan struct{}
}

// held reports whether the shard may be worked on now.
func (s *Shard) held() bool { return s == nil || s.Lease == nil || s.Lease.Held() }

// mayEnter returns why a file cannot be crawled as this shard; nil: it can. A file that holds a
// whole terrain stays unchanged.
func (s *Shard) mayEnter(store *kv.Store) error {
	switch {
	case s == nil:
		return Whole(store)
	case !s.held():
		return ErrLease
	}
	return s.fits(store)
}

// enter records in a file which part it holds, in the transaction that begins the run. A file that
// says that the terrain's run has begun, and that its own is over, would never be crawled again.
func (s *Shard) enter(tx *kv.Tx) error {
	if s == nil {
		return nil
	}
	return exchange.Enter(tx, s.Part)
}

// Whole returns why a file cannot be crawled by itself: it holds a part of a terrain, see [ErrPart], or was split, see
// [split.ErrSplit].
func Whole(store *kv.Store) error {
	part := store.Part()
	if part.Merged() {
		return fmt.Errorf("%w: all shards but %s, and is only to be read; crawl the shards, and merge them again",
			ErrPart, part.Without)
	}
	if part.Shards != 0 {
		return fmt.Errorf("%w: shard %d of %d, which the others have to know of", ErrPart, part.Shard, part.Shards)
	}
	return split.Refuse(store)
}

// fits returns why the run cannot continue in a file, which it only reads.
func (s *Shard) fits(store *kv.Store) error {
	was := store.Part()
	if was.Shards == 0 {
		if store.Hosts() > 0 {
			return fmt.Errorf("%w: a whole one", ErrPart)
		}
		return nil
	}
	if was.Merged() {
		return Whole(store)
	}
	if err := split.Refuse(store); err != nil {
		return err
	}
	same := s.Part
	same.Run, same.Configuration = was.Run, was.Configuration
	if same != was {
		return fmt.Errorf("%w: shard %d of %d of terrain %x", ErrPart, was.Shard, was.Shards, was.Terrain)
	}
	return store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		switch over := runs[len(runs)-1].Status == schema.RunCompleted; {
		case over && s.Part.Run == was.Run:
			return ErrOver
		case !over && s.Part.Run > was.Run:
			return ErrNotOver
		}
		return nil
	})
}

// Answer applies a letter of another shard, which need not be trustworthy, and returns the answer
// once a commit holds what the letter says. It may be called from any goroutine. It fails if the
// crawl is not running, or if the shard no longer belongs to this process.
func (c *Crawl) Answer(ctx context.Context, letter []byte) ([]byte, error) {
	if c.member == nil {
		return nil, ErrPart
	}
	answer, err := exchange.NewReceiver(c.member.desk(ctx)).Answer(letter)
	if err == nil {
		err = c.member.mayWrite()
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}
