package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// A member is a node's part in a run of the terrain. It keeps the charter as last read from the hub, and changes
// it.
type member struct {
	id       string // of the node
	run      uint64 // of the terrain, in which the node takes part
	stopped  stop   // the last one before the node joined
	registry *registry
	timing   lease.Timing
	log      *slog.Logger
	shared   *crawl.Shared

	// Only the goroutine that follows the charter uses these.
	charters *hub.Watch
	changes  *hub.Watch // of the records of shards
	lost     bool       // the hub has lost something of the charter

	changed atomic.Bool // next to that goroutine, which may have read a later charter before this one was set

	mu      sync.Mutex
	charter *charter
	shards  shards
}

func newMember(o *Options, r *registry, c *charter) *member {
	m := &member{id: o.ID, run: c.Run, registry: r, timing: o.Timing, log: o.Log, shared: o.Shared,
		shards: make(shards, c.shards())}
	c.Stop.Late = true // restoring it at a hub that has lost it must stop no node again
	m.stopped = c.Stop
	m.set(c)
	return m
}

// watch makes the node see what changes in the charter and in the records of the shards, until ctx is done. Others
// count on it to see within Renew that a shard has moved, see [holding.work].
func (m *member) watch(ctx context.Context, directory, terrain *hub.Bucket) (err error) {
	if m.charters, err = directory.Watch(ctx, charterKey, 3*m.timing.Renew); err == nil {
		m.changes, err = terrain.Watch(ctx, hub.Keys, m.timing.Renew)
	}
	return err
}

func (m *member) set(c *charter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared.ShareAddresses(m.shards.nodes())
	if c.paused() && (m.charter == nil || !m.charter.paused()) {
		m.log.Info("the terrain is paused; \"ripple resume\" resumes it")
	}
	m.charter = c
}

func (m *member) get() *charter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.charter
}

// records returns what the records of the shards say.
func (m *member) records() shards {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shards
}

// over reports whether the run is over on all shards, or another one has begun.
func (m *member) over() bool {
	c := m.get()
	return c.Run > m.run || c.Run == m.run && c.over()
}

// look waits until the charter is as wanted. If that takes longer than Patience, it calls still once, which may be
// nil.
func (m *member) look(ctx context.Context, wanted func(*charter) bool, still func(*charter)) error {
	for began := time.Now(); !wanted(m.get()); {
		if still != nil && time.Since(began) > m.timing.Patience() {
			still(m.get())
			still = nil
		}
		if err := sleep(ctx, m.timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// follow reads each change of the charter, and restores it if the hub has lost it. It returns nil when ctx is done,
// and a [crawl.StopError] when the run has to end without some shards. It calls news periodically with the charter.
func (m *member) follow(ctx context.Context, news func(*charter)) error {
	for sleep(ctx, m.timing.Renew/10) == nil {
		c, err := m.refresh(ctx)
		if err != nil {
			return err
		}
		if c == nil { // the hub is away
			continue
		}
		if c.Stop.Run == m.run && c.Stop.Number > m.stopped.Number && !c.Stop.Late {
			return c.Stop.end()
		}
		news(c)
		_ = m.survey(ctx) // again soon
	}
	return nil
}

// refresh reads the charter if it has changed, and restores what the hub has lost of it. It returns nil if the caller
// must try again.
func (m *member) refresh(ctx context.Context) (*charter, error) {
	reading, cancel := context.WithTimeout(ctx, m.timing.Renew/3) // short, so that a new hub is noticed soon
	defer cancel()
	if m.changed.Swap(false) {
		m.charters.Again()
	}
	changed, all, err := m.charters.Changes(reading)
	if err != nil {
		return nil, nil
	}
	m.lost = m.lost || all && len(changed) == 0
	if n := len(changed); n > 0 {
		c, err := decodeCharter(changed[n-1].Value)
		if err == nil {
			err = m.foreign(c)
		}
		if err != nil {
			return nil, err
		}
		if m.lost = c.clone().learn(m.get()); !m.lost { // otherwise it was restored by a node that knew less
			m.set(c)
		}
	}
	if m.lost {
		if _, err := m.restore(ctx); err != nil {
			return nil, nil
		}
		m.lost = false
	}
	return m.get(), nil
}

// restore gives the hub what this node knows and the hub has lost.
func (m *member) restore(ctx context.Context) (*charter, error) {
	return m.change(ctx, func(*charter) (bool, error) { return false, nil })
}

// foreign returns [ErrTerrain] for the charter of another terrain.
func (m *member) foreign(c *charter) error {
	if m.get().same(c) {
		return nil
	}
	return fmt.Errorf("%w: another terrain has begun, %x, with %d shards", ErrTerrain, c.Terrain, c.shards())
}

// change lets f change the charter, or the one that this node remembers if the hub has lost it, and returns it. f
// reports whether it changed anything.
func (m *member) change(ctx context.Context, f func(*charter) (bool, error)) (*charter, error) {
	c, err := m.registry.change(ctx, func(c *charter) (*charter, error) {
		news := c == nil
		if news {
			c = m.get().forgotten()
		}
		if err := m.foreign(c); err != nil {
			return nil, err
		}
		news = c.learn(m.get()) || news
		if changed, err := f(c); err != nil || !changed && !news {
			return nil, err
		}
		return c, nil
	})
	if err == nil {
		m.set(c)
		m.changed.Store(true)
	}
	return c, err
}

// note records in the charter that a shard's run is over, with its portion of max-pages. restored: this node has
// crawled nothing in the run, so a charter that was restored from files stays marked as such.
func (m *member) note(ctx context.Context, shard int, had portion, restored bool) error {
	_, err := m.change(ctx, func(c *charter) (bool, error) {
		if c.Run != m.run {
			return false, nil
		}
		if news := c.Portions.set(shard, had); c.Over[shard] && !news {
			return false, nil
		}
		c.Over[shard], c.Restored = true, c.Restored && restored
		return true, nil
	})
	return err
}

// seal records in the charter that all shards are at the end of the run under a configuration, which can no longer
// change from then on. It fails if the terrain has advanced.
func (m *member) seal(ctx context.Context, at moment) error {
	_, err := m.change(ctx, func(c *charter) (bool, error) {
		if now := c.moment(); now != at {
			return false, fmt.Errorf("the terrain is at configuration %d of run %d, and all shards are at %d of %d",
				now.Configuration, now.Run, at.Configuration, at.Run)
		}
		news := c.Ending != at
		c.Ending = at
		return news, nil
	})
	return err
}

// unseal undoes seal, if necessary.
func (m *member) unseal(ctx context.Context) {
	if c := m.get(); c.Ending != c.moment() {
		return
	}
	_, _ = m.change(ctx, func(c *charter) (bool, error) { // retried later
		is := c.Ending == c.moment()
		c.Ending = moment{}
		return is, nil
	})
}

// share lets f change the portions in the charter under a configuration, and returns the charter as the hub has
// it. nil: the terrain has another configuration, or there is nothing to do as far as this node knows, because f
// changes nothing and finds everything the same.
func (m *member) share(
	ctx context.Context, number uint64, f func(*portions) (changed, same bool),
) (*charter, error) {
	fits := func(c *charter) bool { return c.Run == m.run && c.Configuration == number }
	if known := m.get().clone(); fits(known) {
		if changed, same := f(&known.Portions); same && !changed {
			return nil, nil
		}
	}
	c, err := m.change(ctx, func(c *charter) (changed bool, err error) {
		if fits(c) {
			changed, _ = f(&c.Portions)
		}
		return changed, nil
	})
	if err != nil || !fits(c) {
		return nil, err
	}
	return c, nil
}

// aside runs f concurrently with the caller, until stop is called or ctx is done. stop waits until f has returned.
func aside(ctx context.Context, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return f(ctx) })
	return func() { cancel(); _ = g.Wait() } // the error of a cancelled f does not matter
}
