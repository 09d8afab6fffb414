// Package termination detects when the shards of a terrain have reached the end of their run together, and makes
// all of them record that.
//
// A shard with nothing to do may receive work from another at any moment. Therefore every shard is read
// twice, and the second round of readings begins after the first has ended. If each shard was idle both
// times, had sent the others all it knows, and wrote nothing in between, nothing was under way that could
// change that (Mattern, Algorithms for distributed termination detection, 1987). A letter that arrives later
// only repeats what is known.
//
// A shard that does not answer keeps the run open, however long that takes; for a while, only the shard that kept
// the run open is asked, and the longer it does, the less often. A configuration of the terrain that the shards do
// not follow yet also keeps it open; once they are found to be at the end, the run gets no other. Once the file of
// one shard says that the run is over, it is: the others only have to record it.
//
// Nothing here is durable. Several processes may look for the end at the same time, and a killed one leaves
// nothing behind.
package termination

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// ErrBusy reports a shard that is crawling.
var ErrBusy = errors.New("has something to do")

const (
	maxOpen  = 16 // shards asked at a time
	maxAlone = 30 // times in a row that only one shard is asked
	slower   = 60 // the time for which one shard has kept the run open, divided by that before it is asked again
	slowest  = 10 // times the interval, at most, that this takes
)

// A Reading is the state of a shard between two commits.
type Reading struct {
	Opening            schema.Opening
	Commit             uint64
	Run, Configuration uint64           // of the terrain
	Config             [32]byte         // hash of what all shards share: [config.Config.SharedHash]
	Idle               bool             // nothing is eligible, open, in retry or uncommitted
	Told               bool             // the outbox is empty, and nothing is to be sent again
	Confirmed          []schema.Opening // by shard: the opening in which it confirmed its answers; zero: it did not
	Over               bool             // the file says that the run is over
}

// Readings gives access to the shards of a terrain, wherever they are. It is called for several shards
// concurrently.
type Readings interface {
	// Reading takes a reading of a shard; an error says why there is none.
	Reading(ctx context.Context, shard int) (Reading, error)
	// Finish returns when the file of a shard says that the run is over. It fails if the file lacks the
	// commit of the reading, or the shard is not idle.
	Finish(ctx context.Context, shard int, agreed Reading) error
	// Seal keeps the terrain at the run and the configuration of a reading that all agree on, before the
	// first file says that the run is over. It fails if the terrain has advanced.
	Seal(ctx context.Context, agreed Reading) error
	// Unseal undoes Seal, if necessary: the run continues after all.
	Unseal(ctx context.Context)
}

// Of reads the file of a shard. The caller adds whether the shard is idle, what others confirm, and the
// configuration.
func Of(store *kv.Store) (r Reading, err error) {
	err = store.View(func(tx *kv.Tx) error {
		part := tx.Part.Of()
		r.Run, r.Configuration, r.Told = part.Run, part.Configuration, true
		for peer := range part.Shards {
			n, more := store.Marked(peer)
			r.Told = r.Told && n == 0 && !more
		}
		if r.Opening, r.Commit, err = tx.Openings.Now(); err != nil {
			return err
		}
		pending, err := tx.Depths.Pending()
		if err != nil {
			return err
		}
		r.Idle = len(pending) == 0 && !tx.Meta.Reapply()
		runs, err := tx.Runs.All()
		if n := len(runs); n > 0 {
			r.Over = runs[n-1].Walked
		}
		return err
	})
	return r, err
}

// Same reports whether two readings show the same state of a shard.
func (r *Reading) Same(other *Reading) bool {
	return r.Opening == other.Opening && r.Commit == other.Commit && r.Run == other.Run &&
		r.Configuration == other.Configuration && r.Config == other.Config && slices.Equal(r.Confirmed, other.Confirmed)
}

// done reports whether a shard has nothing to do and nothing to send.
func (r *Reading) done() bool { return r.Idle && r.Told }

// undone says what a shard still has to do.
func (r *Reading) undone(shard int) error {
	if !r.Idle {
		return fmt.Errorf("shard %d %w", shard, ErrBusy)
	}
	return fmt.Errorf("shard %d has unsent messages", shard)
}

// A silence is the reason why a shard does not answer.
type silence struct {
	shard int
	why   error
}

func (s *silence) Error() string { return fmt.Sprintf("shard %d: %v", s.shard, s.why) }
func (s *silence) Unwrap() error { return s.why }

// readAll takes a reading of every shard. It fails if one does not answer.
func readAll(ctx context.Context, shards int, src Readings) ([]Reading, error) {
	round := make([]Reading, shards)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxOpen)
	for n := range round {
		g.Go(func() (err error) {
			if round[n], err = src.Reading(ctx, n); err != nil {
				err = &silence{n, err}
			}
			return err
		})
	}
	return round, g.Wait()
}

// Open returns why a run is not over, according to two rounds of readings; the second must have begun after
// the first ended. nil: it is over.
func Open(first, second []Reading) error {
	if len(second) == 0 || len(first) != len(second) {
		return fmt.Errorf("%d and %d shards were read", len(first), len(second))
	}
	for n := range second {
		r, all := &second[n], &second[0]
		switch {
		case r.Config != all.Config:
			return fmt.Errorf("shards 0 and %d follow different configurations", n)
		case r.Run != all.Run || r.Configuration != all.Configuration:
			return fmt.Errorf("shards 0 and %d are at run %d and %d, configuration %d and %d", n, all.Run, r.Run,
				all.Configuration, r.Configuration)
		case !first[n].done():
			return first[n].undone(n)
		case !r.done():
			return r.undone(n)
		case !r.Same(&first[n]):
			return fmt.Errorf("shard %d was at work", n)
		}
		for peer := range second {
			if peer != n && (peer >= len(r.Confirmed) || r.Confirmed[peer] != second[peer].Opening) {
				return fmt.Errorf("shard %d does not confirm what shard %d sent", peer, n)
			}
		}
	}
	return nil
}

// End looks for the end of a run until all files say that it is over, or ctx is done. It looks at the interval that
// every returns, and less often while one shard keeps the run open. still, which may be nil, is called with the
// reason why it is not over.
func End(ctx context.Context, shards int, src Readings, every func() time.Duration, still func(error)) error {
	s := search{src: src, finished: make([]bool, shards), keeper: -1}
	for slices.Contains(s.finished, false) {
		err := s.step(ctx)
		if err != nil && still != nil {
			still(err)
		}
		if err == nil {
			continue
		}
		if err := s.rest(ctx, every); err != nil {
			return err
		}
	}
	return nil
}

// rest waits until the next step. The interval may become shorter meanwhile.
func (s *search) rest(ctx context.Context, every func() time.Duration) error {
	for began := time.Now(); ; {
		most := every()
		if s.keeper >= 0 {
			most = min(max(most, time.Since(s.kept)/slower), slowest*most)
		}
		left := most - time.Since(began)
		if left <= 0 {
			return nil
		}
		select {
		case <-time.After(min(left, time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A search is a search for the end of a run.
type search struct {
	src      Readings
	finished []bool    // by shard: its file says that the run is over
	keeper   int       // the shard that kept the run open in the last round; -1: unknown
	kept     time.Time // since when
	alone    int       // times that only it was asked since
}

// step looks once. While the shard that kept the run open still does, the others are left alone: an idle
// shard asks all others for its reading.
func (s *search) step(ctx context.Context) error {
	if slices.Contains(s.finished, true) {
		return finish(ctx, s.src, nil, s.finished)
	}
	if s.keeper >= 0 && s.alone < maxAlone {
		s.alone++
		r, err := s.src.Reading(ctx, s.keeper)
		if err != nil {
			return &silence{s.keeper, err}
		}
		if !r.done() && !r.Over {
			return r.undone(s.keeper)
		}
	}
	first, err := s.round(ctx, nil)
	if err != nil {
		return err
	}
	second, err := s.round(ctx, first)
	if err != nil {
		return err
	}
	if !over(second) {
		if err := s.src.Seal(ctx, second[0]); err != nil {
			return err
		}
	}
	return finish(ctx, s.src, second, s.finished)
}

// keep notes which shard keeps the run open.
func (s *search) keep(shard int) {
	if shard != s.keeper {
		s.keeper, s.kept = shard, time.Now()
	}
}

// round takes a round of readings and returns why the run is open, according to it and the previous one, before.
// If before is nil, only the new round counts.
func (s *search) round(ctx context.Context, before []Reading) ([]Reading, error) {
	round, err := readAll(ctx, len(s.finished), s.src)
	s.alone = 0
	if silent := (*silence)(nil); errors.As(err, &silent) {
		s.keep(silent.shard) // the others were cancelled
		return nil, err
	}
	s.keep(slices.IndexFunc(round, func(r Reading) bool { return !r.done() }))
	if before == nil {
		before = round
	}
	return round, open(ctx, s.src, before, round)
}

// open is Open, unless a file already says that the run is over.
func open(ctx context.Context, src Readings, first, second []Reading) error {
	err := Open(first, second)
	if err == nil || over(second) {
		return nil
	}
	src.Unseal(ctx)
	return err
}

// over reports whether all shards are in one run, and a file says that it is over.
func over(round []Reading) bool {
	ended := false
	for _, r := range round {
		if r.Run != round[0].Run {
			return false
		}
		ended = ended || r.Over
	}
	return ended
}

// finish makes the remaining shards record that the run is over, as of a round; nil: as of now.
func finish(ctx context.Context, src Readings, round []Reading, finished []bool) error {
	var failed error
	for n := range finished {
		if finished[n] {
			continue
		}
		var agreed Reading
		var err error
		if round != nil {
			agreed = round[n]
		} else {
			agreed, err = src.Reading(ctx, n)
		}
		if err == nil {
			err = src.Finish(ctx, n, agreed)
		}
		if finished[n] = err == nil; err != nil {
			failed = errors.Join(failed, fmt.Errorf("shard %d: %w", n, err))
		}
	}
	return failed
}
