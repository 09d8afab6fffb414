package crawl

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// maxConfirming is how many shards are queried at a time.
const maxConfirming = 8

var (
	errBusy     = errors.New("it is at work")
	errElse     = errors.New("it is not what was read")
	errNotEnded = errors.New("it has ended otherwise")
)

// Reading returns the state of a running shard between two commits. If the shard is idle and has
// sent everything, each of the other shards is asked to confirm what it has acknowledged; one that
// lacks some of it is sent everything again. Reading may be called from any goroutine.
func (c *Crawl) Reading(ctx context.Context) (r termination.Reading, err error) {
	if c.member == nil {
		return r, ErrPart
	}
	if r, err = c.filed(ctx); err != nil {
		return r, err
	}
	st, err := c.Status()
	if r.Idle = r.Idle && st.Idle; err != nil || !r.Idle || !r.Told {
		return r, err
	}
	if r.Confirmed, err = c.member.confirm(ctx); err != nil {
		return r, err
	}
	again, err := c.filed(ctx)
	if err == nil && (again.Opening != r.Opening || again.Commit != r.Commit) {
		again.Idle = false // it has done something meanwhile
		return again, nil
	}
	return r, err
}

// filed returns the reading that the state file gives.
func (c *Crawl) filed(ctx context.Context) (r termination.Reading, err error) {
	if !c.member.held() {
		return r, ErrLease
	}
	err = c.query(ctx, func(store *kv.Store) (err error) {
		r, err = termination.Of(store)
		r.Config = c.shared // cannot change between two commits
		r.Idle = r.Idle && c.settled()
		return err
	})
	return r, err
}

// confirm asks the other shards to confirm what they have acknowledged, and returns the openings of
// those that do.
func (m *member) confirm(ctx context.Context) ([]schema.Opening, error) {
	in := make([]schema.Opening, m.Part.Shards)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxConfirming)
	for peer := range in {
		if peer == m.Part.Shard {
			continue
		}
		g.Go(func() error {
			s := exchange.NewSender(m.desk(ctx), m.heard, peer)
			ok, err := s.Confirm(ctx)
			if ok {
				in[peer] = s.Opening()
			}
			return err
		})
	}
	err := g.Wait()
	m.wake()
	return in, err
}

// Finish ends the run of a shard as completed, as all shards have agreed, and returns when
// [Crawl.Run] has recorded that. It fails if the state file is not the one that was agreed on, or
// if something is left to do; then the crawl continues.
func (c *Crawl) Finish(ctx context.Context, agreed termination.Reading) error {
	if c.member == nil {
		return ErrPart
	}
	same, settled := false, false
	err := c.member.desk(ctx).View(func(tx *kv.Tx) (err error) {
		part := tx.Part.Of()
		same, err = tx.Openings.Contains(agreed.Opening, agreed.Commit)
		same = same && part.Run == agreed.Run && part.Configuration == agreed.Configuration
		settled = c.settled()
		return err
	})
	switch {
	case err != nil:
		return err
	case !same:
		return errElse
	case !settled:
		return errBusy
	}
	st, err := c.command(commandFinish)
	if err == nil && !st.Idle {
		err = errBusy
	}
	if err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !c.walked {
		return errNotEnded
	}
	return nil
}
