package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/snapshot"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	lastRelease = 10 * time.Second // for a hub to record that a shard was released
	realFirst   = 5                // times Patience that a file that was never crawled waits for one that was
)

// A holding is a shard that a node holds or is about to hold, for the duration of one lease. It uses the fields of
// the node, but calls none of its methods.
type holding struct {
	node   *node
	shard  int
	file   *file
	lease  *lease.Lease // nil: not taken yet
	moved  bool         // the shard may have been held by another node before
	door   door
	copies *snapshot.Copier // of the file

	wishes chan *handover // moves that are wished, one at a time
	gives  *sending       // the move for which the crawl was stopped; nil: none
	quit   func()         // ends the answers of a shard that waits for its lease; nil: there are none
}

// once takes the shard, crawls it, and closes its file before others can take it.
func (h *holding) once(ctx context.Context) (err error) {
	n, f := h.node, h.file
	defer func() { err = errors.Join(err, f.Close()) }()
	c, own := n.member.get(), n.member.records()[h.shard].ID == n.ID
	h.moved = c.Made && !own
	if err := f.enter(h.shard, c, own); err != nil {
		return err
	}
	h.copies = h.copier()
	end := n.OnFile(h.shard, f.path, f.Store)
	closes := sync.OnceFunc(func() { h.copies.Close(); end() })
	defer closes()
	n.OnShard(h.shard, "waiting")
	if err := h.settle(ctx); err != nil {
		return err
	}
	if err := h.take(ctx); err != nil {
		return err
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return h.lease.Keep(keeping) })
	n.OnShard(h.shard, "held")
	cfg, _ := n.cfg.now()
	n.teller.follow(f.sender, cfg)
	err = h.workUntilMoved(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrTime) || errors.Is(err, errMoving) {
		n.teller.sendLast(ctx, h.shard, f.sender, &desk{file: f, held: h.lease.Held})
	}
	given := errors.Is(err, errMoving)
	if given {
		err = h.give(ctx, h.gives)
		given = err == nil
	}
	stop()
	if kept := g.Wait(); errors.Is(kept, lease.ErrLost) && err == nil {
		err = kept
	}
	closes()
	if given {
		h.release(ctx)
		n.OnMove(h.shard, "released")
		if err = h.settle(ctx); err == nil {
			err = errNotMoved
		}
		return err
	}
	if closed := h.letGo(ctx); closed != nil {
		err = closed
	}
	return err
}

// workUntilMoved works until the file has been copied to another node: it returns errMoving then.
func (h *holding) workUntilMoved(ctx context.Context) error {
	h.wishes = make(chan *handover, 1)
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	prepared := aside(working, func(ctx context.Context) error { return h.prepares(ctx, stop) })
	err := h.file.takeBack()
	if err == nil {
		err = h.work(working)
	}
	prepared()
	select {
	case m := <-h.wishes:
		h.refuse(m, errors.New("it is no longer crawled there"))
	default:
	}
	h.wishes = nil // no other move is accepted
	if h.gives != nil && errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = errMoving
	}
	if h.gives != nil && !errors.Is(err, errMoving) {
		h.gives.conn.Close()
		h.refuse(h.gives.handover, fmt.Errorf("it ended meanwhile: %w", err))
	}
	return err
}

// letGo closes the file and lets others take the shard at once, even if ctx is done.
func (h *holding) letGo(ctx context.Context) error {
	if h.file.Present() == nil { // otherwise the last commit may have failed, and the one before is the last that is known
		h.file.committed()
	}
	err := h.file.Close()
	h.release(ctx)
	return err
}

// release lets others take the shard at once, even if ctx is done.
func (h *holding) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRelease)
	defer cancel()
	if gone := h.lease.Release(ctx); gone != nil {
		h.node.Log.Warn("a shard could not be released; other nodes must wait for its lease to expire",
			"shard", h.shard, "error", gone)
	}
}

// take takes the lease of the shard, and retries for as long as the hub is away. It fails if another node holds
// the shard, if the file is not the one that the record names, or if the file can no longer be written.
func (h *holding) take(ctx context.Context) error {
	id, err := lease.FileID(h.file.path)
	if err != nil {
		return err
	}
	for last := ""; ; {
		err := h.takeOnce(ctx, id)
		var held *lease.HeldError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &held), errors.Is(err, lease.ErrFile):
			return fmt.Errorf("%s: %w", h.file.path, err)
		}
		if gone := h.file.Present(); gone != nil {
			return fmt.Errorf("%s: %w", h.file.path, gone)
		}
		if text := err.Error(); text != last && !errors.Is(err, hub.ErrAway) { // [hub.Conn.Away] says so
			last = text
			h.node.Log.Warn("a shard cannot be taken yet", "shard", h.shard, "error", err)
		}
		if err := sleep(ctx, h.node.Timing.Renew/10); err != nil {
			return context.Cause(ctx)
		}
	}
}

// told ends this node, if message comes from a process that runs with its ID.
func (h *holding) told(message []byte) ([]byte, error) {
	n, other := h.node, twin{}
	if err := decode(message, &other); err != nil {
		return nil, err
	}
	if other.Instance != n.instance {
		return nil, fmt.Errorf("%w for another process", errMessage)
	}
	h.file.release(fmt.Errorf("%w: %.200q has shard %d as well", ErrTwin, other.Name, h.shard))
	return strictjson.Encode(twin{other.Instance, n.where()}), nil
}

// takeOnce tries once to take the lease. A file that was never crawled claims its shard at once where the terrain was
// founded, and waits for one that was crawled if there may be such a file.
func (h *holding) takeOnce(ctx context.Context, id string) (err error) {
	n, timing, founded := h.node, h.node.Timing, ""
	if has := n.member.records()[h.shard]; h.file.empty() || !has.Held || has.ID != n.ID { // else it may be renewed
		if err := h.refused(); err != nil {
			return err
		}
	}
	if c := n.member.get(); h.file.empty() && c.Made {
		timing.Watch += realFirst * timing.Patience()
	} else if h.file.empty() {
		founded = c.Founded
	}
	h.lease, err = lease.Take(ctx, lease.Claim{
		Bucket: n.bucket, Key: hub.Key(h.shard), ID: n.ID, Node: n.Name, Instance: n.instance, File: candidate{h.file, h},
		FileID: id, Epoch: h.file.epoch, Timing: timing, Clock: n.Clock, Founded: founded,
		Waits: func(w lease.Wait) { h.waits(ctx, w) },
	})
	h.hush()
	return err
}

// refused returns a [lease.WrittenError] for a file that is not that of the shard, even if a hub that has lost
// everything has no record of that one: it lacks what the record said last, or it was made here and has never claimed
// the shard, and all shards have files.
func (h *holding) refused() error {
	m, f := h.node.member, h.file
	has := m.records()[h.shard]
	fits, err := !m.get().Made || !f.empty() || f.epoch > 0, error(nil)
	if has.Filed && has.Epoch == f.epoch {
		fits, err = f.Contains(has.Opening, has.Commit)
	} else if !fits {
		fits, err = f.claimed()
	}
	if err == nil && !fits {
		err = &lease.WrittenError{ID: has.ID, Node: has.Node, Commit: has.Commit, Opening: has.Opening}
	}
	return err
}

// waits answers for a shard that waits until the lease of its last holder is over.
func (h *holding) waits(ctx context.Context, w lease.Wait) {
	n, until := h.node, time.Now().Add(w.For).UTC().Truncate(time.Second).Format(time.RFC3339)
	why := "waiting until " + until + ": its last machine may crawl it until then, or was not heard of"
	if w.Node != "" {
		why = fmt.Sprintf("waiting until %s: %.100s did not release it, and may crawl it until then", until, w.Node)
	}
	if w.For > n.Timing.Patience() {
		n.Log.Info("a shard waits for the end of its last lease", "shard", h.shard, "until", until, "node", w.Node)
	}
	h.speak(ctx, idle{n.cfg, n.Stop, census.CauseShard, why})
}

// speak answers for a shard that is not held, in the opening that no file has, until hush is called.
func (h *holding) speak(ctx context.Context, s speaker) {
	h.door.open(s)
	if h.quit != nil {
		return
	}
	n := h.node
	h.quit = aside(ctx, func(ctx context.Context) error {
		return n.bucket.Serve(ctx, hub.Post{
			Shard: h.shard, Held: func() bool { return true },
			Lanes: map[string]int{forReport: maxQuestions, forStop: maxQuestions, forCopy: maxQuestions},
			Answer: func(ctx context.Context, lane string, message []byte) ([]byte, error) {
				if lane == forCopy {
					return h.copies.Answer(message)
				}
				return answer(ctx, *h.door.Load(), lane, message)
			},
		})
	})
}

// hush ends what speak has begun, if anything.
func (h *holding) hush() {
	if h.quit != nil {
		h.quit()
		h.quit = nil
	}
}

// A candidate is the file with which a shard is about to be claimed.
type candidate struct {
	*file
	holding *holding
}

// Begin implements [lease.File].
func (f candidate) Begin() (o schema.Opening, err error) {
	if err := f.holding.refused(); err != nil {
		return o, err
	}
	return f.file.Begin()
}

// work crawls the shard, unless its run is over, and answers for it until the run is over everywhere.
func (h *holding) work(ctx context.Context) error {
	n, m := h.node, h.node.member
	h.door.open(idle{n.cfg, n.Stop, census.CauseShard, "waiting until every shard has a file"})
	defer h.serve(ctx)()
	waiting, cancel := whileHeld(ctx, h.lease)
	defer cancel()
	begins := func(c *charter) bool { return c.Run > m.run || c.Made || n.ends != nil }
	err := m.look(waiting, begins, func(*charter) {
		n.Log.Info("shards have no file yet; other nodes are to make them", "shards", m.records().unmade())
	})
	if err == nil && h.moved { // until the others know how many nodes have files, they may request an address too often
		err = sleep(waiting, 3*n.Timing.Renew/2)
	}
	if err == nil {
		err = h.catchUp(waiting)
	}
	if err != nil || m.get().Run > m.run {
		return err
	}
	if h.shard == 0 {
		defer aside(ctx, h.end)()
	}
	if err := h.crawl(ctx); err != nil {
		return err
	}
	return h.answer(ctx)
}

// catchUp waits until this node follows the configuration under which the file was last crawled, unless its run is
// over. The file may come from a node whose configuration file agreed with the terrain earlier.
func (h *holding) catchUp(ctx context.Context) error {
	n, m, want := h.node, h.node.member, h.file.Part().Configuration
	if over, err := h.file.over(m.run); err != nil || over {
		return err
	}
	h.door.open(idle{n.cfg, n.Stop, census.CausePeople,
		fmt.Sprintf("waiting until the configuration file of this machine says what number %d of the terrain does", want)})
	return m.look(ctx, func(c *charter) bool {
		_, number := n.cfg.now()
		return number >= want || c.Run > m.run
	}, func(*charter) {
		n.Log.Info("a shard waits until the configuration file of this machine matches its last one",
			"shard", h.shard, "number", want)
	})
}

// whileHeld returns a context that is cancelled with [lease.ErrLost] when the lease is lost.
func whileHeld(ctx context.Context, own *lease.Lease) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-own.Lost():
			cancel(lease.ErrLost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// serve answers messages to the shard until stop is called, even if ctx is done before. While the hub is away, no
// messages arrive.
func (h *holding) serve(ctx context.Context) (stop func()) {
	n, f := h.node, h.file
	return aside(context.WithoutCancel(ctx), func(ctx context.Context) error {
		err := n.bucket.Serve(ctx, hub.Post{
			Shard: h.shard, Opening: f.opening, Held: h.lease.Held, Lanes: lanes(h.shard, n.member.get().shards()),
			Answer: func(ctx context.Context, lane string, message []byte) ([]byte, error) {
				switch lane {
				case forRelease:
					f.release(errReleased)
					return strictjson.Encode(letGo{Path: f.path}), nil
				case forCopy:
					return h.copies.Answer(message)
				case forMove:
					return h.wished(message)
				case forTwin:
					return h.told(message)
				}
				return answer(ctx, *h.door.Load(), lane, message)
			},
			OnFull: func(lane string) {
				n.Log.Warn("too many messages for a shard; the senders will try again",
					"shard", h.shard, "lane", lane)
			},
		})
		if ctx.Err() == nil {
			n.Log.Warn("a shard cannot be reached", "shard", h.shard, "error", err)
		}
		return err
	})
}

// answer answers for the shard, whose run is over, until the run is over on all shards.
func (h *holding) answer(ctx context.Context) error {
	n, m := h.node, h.node.member
	h.file.committed()
	n.OnShard(h.shard, "over")
	ctx, cancel := whileHeld(ctx, h.lease)
	defer cancel()
	cfg, number := n.cfg.now()
	e, err := newEnded(h.file, cfg, h.lease.Held)
	e.number, e.stop = number, n.Stop
	if err != nil {
		return err
	}
	h.door.open(e)
	defer aside(ctx, func(ctx context.Context) error { return n.teller.send(ctx, h.file.sender, e.desk) })()
	for !m.over() {
		if c := m.get(); c.Run == m.run && (!c.Over[h.shard] || c.Portions.Of[h.shard] != e.portion) {
			if err := m.note(ctx, h.shard, e.portion, !n.crawled.Load()); err != nil {
				return err
			}
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// end looks for the end of the run until it is found or ctx is done. It logs what keeps the run open if that does
// not change for long.
func (h *holding) end(ctx context.Context) error {
	n := h.node
	var last string
	var since time.Time
	said := false
	every := func() time.Duration {
		if n.member.get().paused() {
			return 6 * n.Timing.Renew
		}
		return max(n.Timing.Renew/10, 20*time.Millisecond)
	}
	return termination.End(ctx, n.member.get().shards(), ending{n.wire, n.member}, every, func(why error) {
		if text := why.Error(); text != last {
			last, since, said = text, time.Now(), false
		} else if !said && !errors.Is(why, termination.ErrBusy) && !errors.Is(why, hub.ErrAway) &&
			time.Since(since) > n.Timing.Patience() {
			said = true
			n.Log.Info("the run is not over yet", "why", text)
		}
	})
}

// An ending gives the search for the end of the run access to the shards and to the charter, which records the
// end.
type ending struct {
	wire
	member *member
}

// Seal implements [termination.Readings].
func (e ending) Seal(ctx context.Context, agreed termination.Reading) error {
	return e.member.seal(ctx, moment{agreed.Run, agreed.Configuration})
}

// Unseal implements [termination.Readings].
func (e ending) Unseal(ctx context.Context) { e.member.unseal(ctx) }
