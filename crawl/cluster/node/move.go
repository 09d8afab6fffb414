package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Reasons why a shard cannot be moved or recreated.
var (
	// ErrShard reports a number that no shard of the terrain has.
	ErrShard = errors.New("there is no such shard")
	// ErrUnmade reports a shard that has no file yet.
	ErrUnmade = errors.New("the shard has no file yet, which a node is about to make")
	// ErrSilent reports shards that do not answer.
	ErrSilent = errors.New("no answer")
)

// releaseTime is how long a node may take to let go of a shard: its open requests get 10 s.
const releaseTime = time.Minute

// A Released shard is held by no node.
type Released struct {
	Node   string // that has its file; empty: unknown
	Path   string // of the file there; empty: unknown, or no node held the shard
	Silent bool   // the node has neither answered nor renewed its lease for [lease.Timing.Patience]
}

// Release makes the node that holds a shard let go of it, and returns when it has. That node does not take the
// shard again until it is restarted, or the file has been moved away and has come back. A node that does not
// answer but still renews its lease keeps the shard: that is [ErrSilent] with a [lease.HeldError].
func Release(ctx context.Context, conn *hub.Conn, shard int, timing lease.Timing) (r Released, err error) {
	t, err := find(ctx, conn)
	if err == nil {
		err = within(shard, t.charter.shards())
	}
	if err != nil {
		return r, err
	}
	var h lease.Holder
	if t.charter.Made {
		h, r.Silent, err = t.holder(ctx, shard, timing)
	} else if h, err = lease.Look(ctx, t.bucket, hub.Key(shard)); err == nil && !h.Made() {
		err = fmt.Errorf("shard %d: %w", shard, ErrUnmade)
	}
	if r.Node = h.Node; err != nil || !h.Held {
		return r, err
	}
	text, err := ask(ctx, t.bucket, shard, forRelease)
	var said letGo
	if err == nil {
		err = decode(text, &said)
	}
	if err == nil {
		r.Path = said.Path
		return r, t.gone(ctx, shard, h, timing)
	}
	if free, err := t.free(ctx, shard); err != nil || free {
		return r, err // the answer was lost
	}
	if r.Silent, err = t.silent(ctx, shard, timing.Patience()); err != nil || r.Silent {
		return r, err
	}
	if free, err := t.free(ctx, shard); err != nil || free {
		return r, err
	}
	return r, fmt.Errorf("%w: %w", ErrSilent, &lease.HeldError{Key: hub.Key(shard), Node: h.Node, Since: h.Since})
}

// holder returns which node holds a shard. If the hub has lost the record, a node with the file may be about to
// take the shard again; holder waits a little longer than Patience for it. silent: in vain.
func (t *Terrain) holder(ctx context.Context, shard int, timing lease.Timing) (h lease.Holder, silent bool, err error) {
	for err == nil && !silent {
		if h, err = lease.Look(ctx, t.bucket, hub.Key(shard)); err != nil || h != (lease.Holder{}) {
			break
		}
		silent, err = t.silent(ctx, shard, timing.Patience()+timing.Renew)
	}
	return h, silent, err
}

func (t *Terrain) free(ctx context.Context, shard int) (bool, error) {
	now, err := lease.Look(ctx, t.bucket, hub.Key(shard))
	return err == nil && !now.Held, err
}

// gone returns when the holder of a shard has let go of it. If the hub never learned of the release, its record
// does not change, but is no longer renewed either.
func (t *Terrain) gone(ctx context.Context, shard int, was lease.Holder, timing lease.Timing) error {
	ctx, cancel := context.WithTimeoutCause(ctx, releaseTime, fmt.Errorf("node %.100q still has the shard", was.Node))
	defer cancel()
	for {
		h, err := lease.Look(ctx, t.bucket, hub.Key(shard))
		if err == nil && (!h.Held || h.Opening != was.Opening) {
			return nil
		}
		if silent, err := t.silent(ctx, shard, timing.Patience()); err == nil && silent {
			return nil
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// silent reports whether the record of a shard, or its absence, remains unchanged for a time. The hub may be away
// meanwhile; after twice that time its error is returned.
func (t *Terrain) silent(ctx context.Context, shard int, long time.Duration) (bool, error) {
	var revision uint64
	first := time.Now()
	for began, seen := first, false; ; {
		e, err := t.bucket.Get(ctx, hub.Key(shard))
		switch {
		case err != nil && !errors.Is(err, lease.ErrNone):
			if time.Since(first) > 2*long {
				return false, err
			}
			began, seen = time.Now(), false // it may have changed meanwhile
		case seen && e.Revision != revision:
			return false, nil
		case time.Since(began) > long:
			return true, nil
		default:
			revision, seen = e.Revision, true
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return false, err
		}
	}
}

// lookEvery is the time between two looks at a record.
const lookEvery = 200 * time.Millisecond

// A Recreation says which shards to recreate, and where.
type Recreation struct {
	ID     string // of the node that will make their files
	Node   string // its name
	Shards []int
	Config *config.Config // whose lease must be that of the terrain
	Timing lease.Timing   // of that lease
	Clock  func() lease.Instant
}

// Recreate gives up the files of shards and makes a node recreate them; the node need not be running yet. next
// reports whether the shards take part only from the next run on: if the file of another shard says that this run
// is over, that shard can no longer send them the URLs to visit. If a node holds one of the shards, it keeps it:
// that is a [lease.HeldError]. Recreate takes a little longer than Watch. After an error no file is given up,
// unless the error says otherwise; the call may be repeated.
func Recreate(ctx context.Context, conn *hub.Conn, r Recreation) (next bool, err error) {
	t, err := Look(ctx, conn)
	if err != nil {
		return false, err
	}
	if t.charter.Config[leaseKey] != digests(r.Config.Shared())[leaseKey] {
		return false, ErrLease
	}
	if err := r.may(t); err != nil {
		return false, err
	}
	given, err := r.give(ctx, t)
	// The end of the run may have been found before the shards fell silent. The other files say so by now, because
	// the search for the end waits less long for their answers.
	if err == nil {
		t, err = Look(ctx, conn)
	}
	if err == nil {
		err = r.may(t)
	}
	if err != nil {
		return false, giveBack(ctx, given, err)
	}
	_, err = change(ctx, conn, func(c *charter) (bool, error) {
		if [16]byte(c.Terrain) != t.ID {
			return false, ErrTerrain
		}
		next = t.ended() || slices.Contains(c.Over, true)
		c.introduce(peer{r.ID, r.Node})
		for i, shard := range r.Shards {
			if c.raise(shard, given[i].Epoch); c.Epochs[shard] > given[i].Epoch { // another command was faster
				return false, fmt.Errorf("shard %d: %w", shard, lease.ErrRecreated)
			}
			c.Over[shard] = next
		}
		return true, nil
	})
	if err != nil && !errors.Is(err, ErrTerrain) && !errors.Is(err, lease.ErrRecreated) {
		err = fmt.Errorf("%w; the files of %s were given up but not recreated: repeat the command", err,
			schema.ShardsOf(r.Shards...).Named())
	}
	return next, err
}

// give gives up the files of the shards. After an error it may have given up some.
func (r *Recreation) give(ctx context.Context, t *Terrain) ([]*lease.Given, error) {
	given := make([]*lease.Given, len(r.Shards))
	g, ctx := errgroup.WithContext(ctx)
	for i, shard := range r.Shards {
		g.Go(func() (err error) {
			given[i], err = lease.Recreate(ctx, lease.Claim{
				Bucket: t.bucket, Key: hub.Key(shard), ID: r.ID, Node: r.Node, Timing: r.Timing, Clock: r.Clock,
			}, t.charter.Epochs[shard])
			return err
		})
	}
	return given, g.Wait()
}

// giveBack restores shards that were given up, after err, and returns err with any errors of its own. A nil entry
// is a shard that was not given up.
func giveBack(ctx context.Context, given []*lease.Given, err error) error {
	for _, g := range given {
		if g == nil {
			continue
		}
		if back := g.Back(ctx); back != nil {
			err = fmt.Errorf("%w; %w", err, back)
		}
	}
	return err
}

// may returns the reason why the shards cannot be recreated.
func (r *Recreation) may(t *Terrain) error {
	for _, shard := range r.Shards {
		if err := within(shard, len(t.Shards)); err != nil {
			return err
		}
	}
	var silent []int
	for i := range t.Shards {
		s, wanted := &t.Shards[i], slices.Contains(r.Shards, i)
		switch {
		case wanted && !s.Made:
			return fmt.Errorf("shard %d: %w", i, ErrUnmade)
		case wanted && s.Report != nil:
			return fmt.Errorf("shard %d: %w", i, &lease.HeldError{Key: hub.Key(i), Node: s.Node, Since: s.Since})
		case !wanted && s.Made && s.Report == nil:
			silent = append(silent, i)
		}
	}
	if len(silent) > 0 && !t.ended() {
		return fmt.Errorf("%w from shards %v, whose files may say that the run is over", ErrSilent, silent)
	}
	return nil
}

// ended reports whether the file of any shard says that the run is over.
func (t *Terrain) ended() bool {
	return slices.ContainsFunc(t.Shards, func(s Shard) bool { return s.Over || s.Report != nil && s.Report.Over })
}

// within returns [ErrShard] if a number is not that of a shard.
func within(shard, shards int) error {
	if shard < 0 || shard >= shards {
		return fmt.Errorf("shard %d: %w: they are 0 to %d", shard, ErrShard, shards-1)
	}
	return nil
}
