package crawl

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/exchange"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

var (
	// ErrPart reports a state file that holds a shard of a terrain and was to be crawled as a
	// whole one, or the other way round.
	ErrPart = errors.New("the state file holds another part of a terrain")
	// ErrOver reports a shard whose file says that the run of the terrain is over.
	ErrOver = errors.New("the run of the terrain is over")
	// ErrNotOver reports a shard that was to begin the next run of the terrain, and whose file
	// does not say that the last one is over.
	ErrNotOver = errors.New("the last run of the terrain is not over")
	// ErrLease reports a shard that may belong to another process now.
	ErrLease = errors.New("the lease of the shard is lost")
)

// A Shard says what a state file holds of a terrain that is split over several, and how the
// crawl reaches the others. All of them crawl under the same configuration.
type Shard struct {
	// Part names the terrain, the shard, and the run and configuration that the terrain has
	// come to. The file must hold that part, or nothing yet, and be no further.
	Part schema.Part
	// Carrier brings letters to the other shards, from several goroutines at a time.
	Carrier exchange.Carrier
	// Lease says whether the file is this process's to write; nil: it always is.
	Lease Lease
	// Tells makes what the webhook is told of the end of the run, which says what this shard
	// did, be of the whole terrain; nil: the crawl of another shard tells of the run.
	Tells func(*webhook.Run)
}

// A Lease is the right to work on a shard. Once it is lost it is not held again: another
// crawl has to begin under another lease. It may be asked by several goroutines at a time.
type Lease interface {
	// Held reports whether the shard may be worked on now. It is asked before every request
	// and every commit.
	Held() bool
	// Lost is closed when the lease is held no longer, or a little later.
	Lost() <-chan struct{}
}

// held reports whether the shard may be worked on now.
func (s *Shard) held() bool { return s == nil || s.Lease == nil || s.Lease.Held() }

// mayEnter reports why a file cannot be worked on as what is said of it. A file that holds a
// whole terrain is left as it is.
func (s *Shard) mayEnter(store *kv.Store) error {
	switch {
	case s == nil:
		return Whole(store)
	case !s.held():
		return ErrLease
	}
	return s.fits(store)
}

// enter has a file hold what is said of it, in the transaction in which its run begins: a
// file that says that the terrain's run has begun, and of its own that it is over, would
// never be crawled again.
func (s *Shard) enter(tx *kv.Tx) error {
	if s == nil {
		return nil
	}
	return exchange.Enter(tx, s.Part)
}

// Whole reports why a file cannot be worked on by itself: it holds a part of a terrain, see [ErrPart].
func Whole(store *kv.Store) error {
	part := store.Part()
	if part.Merged() {
		return fmt.Errorf("%w: all shards but %s, and is only to be read; crawl the shards, and merge them again",
			ErrPart, part.Without)
	}
	if part.Shards != 0 {
		return fmt.Errorf("%w: shard %d of %d, which the others have to know of", ErrPart, part.Shard, part.Shards)
	}
	return nil
}

// fits reports why the run cannot be gone on with in a file, which is still only read.
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

// Answer applies a letter of another shard, whoever wrote it, and returns the answer to it
// once a commit holds what it says. It may be called from any goroutine. There is no answer
// where the crawl does not run, or where the shard is not its own any more.
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
