package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// A member is a node's part in a run of the terrain: it knows the charter as the hub had it last, and has it
// changed.
type member struct {
	name     string
	run      uint64 // of the terrain, which the node is here for
	stopped  stop   // the last one before the node came
	registry *registry
	timing   lease.Timing
	log      *slog.Logger
	machine  *crawl.Machine

	mu      sync.Mutex
	charter *charter
}

func newMember(o *Options, r *registry, c *charter) *member {
	m := &member{name: o.Name, run: c.Run, registry: r, timing: o.Timing, log: o.Log, machine: o.Machine}
	c.Stop.Late = true // whatever else this node tells a hub that has lost it
	m.stopped = c.Stop
	m.set(c)
	return m
}

func (m *member) set(c *charter) {
	m.machine.ShareAddresses(c.nodes())
	m.mu.Lock()
	defer m.mu.Unlock()
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

// over reports whether the run is over on all shards, or another has begun.
func (m *member) over() bool {
	c := m.get()
	return c.Run > m.run || c.Run == m.run && c.over()
}

// look waits until the charter is as wanted. If that takes long, still is called once; it may be nil.
func (m *member) look(ctx context.Context, wanted func(*charter) bool, still func(*charter)) error {
	for began := time.Now(); !wanted(m.get()); {
		if still != nil && time.Since(began) > m.timing.Watch {
			still(m.get())
			still = nil
		}
		if err := sleep(ctx, m.timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// follow reads the charter now and then, and restores it if the hub has lost it, until
// ctx is done, or the run has to end without some shards. news is called after every look.
func (m *member) follow(ctx context.Context, news func(*charter)) error {
	for sleep(ctx, m.timing.Renew/10) == nil {
		c, err := m.refresh(ctx)
		if err != nil {
			return err
		}
		if c == nil { // the hub is away
			continue
		}
		m.set(c)
		if c.Stop.Run == m.run && c.Stop.Number > m.stopped.Number && !c.Stop.Late {
			return c.Stop.end()
		}
		news(c)
	}
	return nil
}

// refresh reads the charter, and restores what the hub has lost of it. nil: that has to be tried again.
func (m *member) refresh(ctx context.Context) (*charter, error) {
	c, _, err := m.registry.read(ctx)
	switch {
	case errors.Is(err, ErrProtocol), errors.Is(err, errCharter):
		return nil, err
	case err != nil:
		return nil, nil
	case c == nil:
		if c, err = m.registry.change(ctx, m.again); err != nil {
			return nil, nil
		}
	}
	if err := m.foreign(c); err != nil {
		return nil, err
	}
	if c.clone().learn(m.get()) { // a node that knew less has restored it
		if c, err = m.registry.change(ctx, m.again); err != nil || !m.get().same(c) {
			return nil, nil
		}
	}
	return c, nil
}

// foreign reports a charter of another terrain.
func (m *member) foreign(c *charter) error {
	if m.get().same(c) {
		return nil
	}
	return fmt.Errorf("%w: somebody has begun terrain %x, with %d shards", ErrTerrain, c.Terrain, len(c.Made))
}

// again tells a hub what it has lost of the charter that this node knows.
func (m *member) again(c *charter) (*charter, error) {
	switch known := m.get(); {
	case c == nil:
		return m.remembered(), nil
	case !known.same(c) || !c.learn(known):
		return nil, nil
	}
	return c, nil
}

// remembered is the charter that this node knows, for a hub that has lost it.
func (m *member) remembered() *charter {
	c := m.get().clone()
	c.Portions.forget()
	return c
}

// change has f change the charter, or what this node remembers of one that the hub has lost. f reports
// whether it has changed it.
func (m *member) change(ctx context.Context, f func(*charter) (bool, error)) error {
	c, err := m.registry.change(ctx, func(c *charter) (*charter, error) {
		if c == nil {
			c = m.remembered()
		}
		if err := m.foreign(c); err != nil {
			return nil, err
		}
		news := c.learn(m.get())
		if changed, err := f(c); err != nil || !changed && !news {
			return nil, err
		}
		return c, nil
	})
	if err == nil && c != nil && m.get().same(c) {
		m.set(c)
	}
	return err
}

// named keeps this node in the charter as that of a shard which it holds, whatever nodes with a copy of its file
// say, until stop is called or ctx is done.
func (m *member) named(ctx context.Context, shard int, epoch uint64) (stop func()) {
	other := func(c *charter) bool { return c.maker(shard) != m.name && c.Epochs[shard] == epoch }
	return aside(ctx, func(ctx context.Context) error {
		for {
			if err := sleep(ctx, m.timing.Renew/10); err != nil {
				return err
			}
			if !other(m.get()) {
				continue
			}
			_ = m.change(ctx, func(c *charter) (bool, error) { // it is tried again
				is := other(c)
				if is {
					c.Made[shard] = c.number(m.name)
				}
				return is, nil
			})
		}
	})
}

// crawled writes into the charter that the file of a shard is no longer empty.
func (m *member) crawled(ctx context.Context, shard int, epoch uint64) error {
	return m.change(ctx, func(c *charter) (bool, error) {
		if c.Crawled.Has(shard) || c.Epochs[shard] != epoch {
			return false, nil
		}
		c.Crawled.Set(shard, true)
		return true, nil
	})
}

// note writes into the charter that a shard's run is over, with its portion of max-pages. restored: this node
// has crawled nothing in the run, so a charter that was restored from files is still no more than that.
func (m *member) note(ctx context.Context, shard int, had portion, restored bool) error {
	return m.change(ctx, func(c *charter) (bool, error) {
		if c.Run != m.run {
			return false, nil
		}
		if news := c.Portions.set(shard, had); c.Over[shard] && !news {
			return false, nil
		}
		c.Over[shard], c.Restored = true, c.Restored && restored
		c.Crawled.Set(shard, true)
		return true, nil
	})
}

// seal has the charter say that all shards are at the end of the run under a configuration, which nobody changes from
// then on. It is an error if the terrain has come further.
func (m *member) seal(ctx context.Context, at moment) error {
	return m.change(ctx, func(c *charter) (bool, error) {
		if now := c.moment(); now != at {
			return false, fmt.Errorf("the terrain has come to configuration %d of run %d, and all shards are at %d of %d",
				now.Configuration, now.Run, at.Configuration, at.Run)
		}
		news := c.Ending != at
		c.Ending = at
		return news, nil
	})
}

// unseal has it say that they are not.
func (m *member) unseal(ctx context.Context) {
	if c := m.get(); c.Ending != c.moment() {
		return
	}
	_ = m.change(ctx, func(c *charter) (bool, error) { // it is tried again
		is := c.Ending == c.moment()
		c.Ending = moment{}
		return is, nil
	})
}

// claim has this node make the files of some more shards, at most so many, if they are its share, or left:
// others have not made them for long. A hub that has lost the charter is only told of it.
func (m *member) claim(ctx context.Context, most int, left bool) error {
	c, err := m.registry.change(ctx, func(c *charter) (*charter, error) {
		switch {
		case c == nil:
			return m.remembered(), nil
		case !m.get().same(c):
			return nil, nil
		}
		news := c.learn(m.get())
		if claimed := c.claim(m.name, most, left); !claimed && !news {
			return nil, nil
		}
		return c, nil
	})
	if err == nil && c != nil && m.get().same(c) {
		m.set(c)
	}
	return err
}

// share has f change the portions in the charter under a configuration, and returns the
// charter as the hub has it; nil: the terrain has another configuration by now, or there is nothing
// to do as far as this node knows: f changes nothing, and finds everything the same.
func (m *member) share(
	ctx context.Context, number uint64, f func(*portions) (changed, same bool),
) (*charter, error) {
	fits := func(c *charter) bool {
		return c != nil && m.get().same(c) && c.Run == m.run && c.Configuration == number
	}
	if known := m.get().clone(); fits(known) {
		if changed, same := f(&known.Portions); same && !changed {
			return nil, nil
		}
	}
	c, err := m.registry.change(ctx, func(c *charter) (*charter, error) {
		if !fits(c) {
			return nil, nil
		}
		if c.learn(m.get()) { // the hub has lost something, so nothing is given out yet
			return c, nil
		}
		if changed, _ := f(&c.Portions); !changed {
			return nil, nil
		}
		return c, nil
	})
	if err != nil || !fits(c) {
		return nil, err
	}
	m.set(c)
	return c, nil
}

// aside has f run beside what the caller does, until stop is called, or ctx is done.
func aside(ctx context.Context, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return f(ctx) })
	return func() { cancel(); _ = g.Wait() } // that it was told to end
}
