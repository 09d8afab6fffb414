package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Options say what a node crawls, and with what.
type Options struct {
	Hub       *hub.Conn
	Name      string // as others see it; the same whenever the node is started
	Folder    string // of its state files; it must exist
	Shards    int    // of a terrain that is created now
	MaxShards int    // that it makes files for, at most; 0: no limit
	Config    *config.Config
	Load      func() (*config.Config, error)       // the configuration as this machine's file is now
	Prepare   func(*config.Config) error           // has what one needs, before it is followed; nil: nothing is
	Open      func(path string) (*kv.Store, error) // opens a state file, or makes it
	Log       *slog.Logger
	Timing    lease.Timing
	Clock     func() lease.Instant
	Machine   *crawl.Machine
	OnVisit   func(shard int, e crawl.Event)   // called by several goroutines; may be nil
	OnRequest func(shard int, q crawl.Request) // likewise
	OnCommit  func(shard int, c crawl.Commit)  // likewise
	OnShard   func(shard int, state string)    // what has become of a shard; likewise
	// OnCrawl is told of a crawl, and returns who follows it.
	OnCrawl func(Walk) Follower
	Stop    func() // has ctx be done, because somebody has asked for it
}

// A Walk is the crawl of a shard.
type Walk struct {
	Shard int
	Path  string // of the state file
	Store *kv.Store
	Crawl *crawl.Crawl
	Run   schema.Run
}

// A Follower knows how a crawl gets on. Its methods are called by several goroutines.
type Follower interface {
	Status(context.Context) census.Status // of now
	Reconfigured(*config.Config)          // the crawl goes on under another configuration
	End()                                 // the crawl has ended; called once
}

// A node is one process's work on a run of a terrain.
type node struct {
	Options
	registry registry
	config   map[string]string // what all nodes have in common, as digests
	bucket   *hub.Bucket       // of the terrain
	wire     wire
	began    time.Time
	run      uint64                    // of the terrain, which this node is here for
	crawled  atomic.Bool               // a shard in it
	low      atomic.Pointer[time.Time] // when it was told last that the disk is full
	files    bool                      // there were some when it began
	stopped  stop                      // that there had been when it began
	ends     *crawl.StopError          // what its files have to say, and nothing else is done; nil: they need not

	mu      sync.Mutex
	charter *charter
	cfg     *config.Config // that this machine follows
	number  uint64         // of it in the terrain
	refused string         // why it does not follow that of the charter, as it was told
	left    map[int]uint64 // shards that are held no more, though the run is not over, with their epochs
}

// Run crawls until the terrain's run is over in all files, and returns nil then, or the
// cause of ctx, or a [crawl.StopError] once its files say that the run has ended without some
// shards. Other errors are of this node: [ErrProtocol], [ErrTerrain], [ErrConfig], of a file, or of a
// shard that another node holds.
func Run(ctx context.Context, o Options) error {
	for {
		next, err := runOnce(ctx, o)
		if err != nil || !next {
			return err
		}
		o.Log.Info("the next run of the terrain has begun")
		if o.Config, err = o.Load(); err == nil {
			err = o.prepare(o.Config)
		}
		if err != nil {
			return err
		}
	}
}

// prepare has what a configuration needs.
func (o *Options) prepare(cfg *config.Config) error {
	if o.Prepare == nil {
		return nil
	}
	return o.Prepare(cfg)
}

// runOnce crawls one run. It reports whether the next one has begun, or is to, while this node
// had nothing to crawl, but only told a hub that had lost everything that its files are over.
func runOnce(ctx context.Context, o Options) (next bool, err error) {
	directory, err := o.bucket(ctx, [16]byte{}) // the charter says which terrain it is
	if err != nil {
		return false, err
	}
	n := &node{Options: o, registry: registry{bucket: directory, timing: o.Timing, log: o.Log},
		config: digests(o.Config.Shared()), began: time.Now(), left: map[int]uint64{}}
	files, err := n.join(ctx)
	if err == nil {
		err = mark(n.Folder, n.charter.Terrain)
	}
	if err == nil {
		n.bucket, err = o.bucket(ctx, [16]byte(n.charter.Terrain))
	}
	if err != nil {
		return false, errors.Join(err, closeAll(files))
	}
	n.files = len(files) > 0
	n.wire, n.run = wire{carrier: n.bucket.Carrier()}, n.charter.Run
	n.cfg, n.number = o.Config, n.charter.Configuration
	n.charter.Stop.Late = true // whatever else this node tells a hub that has lost it
	n.stopped = n.charter.Stop
	n.set(n.charter)
	if owing, err := n.owing(files); err != nil || len(owing) > 0 {
		if err == nil {
			err = n.writeEnd(ctx, owing)
		}
		if err == nil {
			err = n.ends
		}
		return false, errors.Join(err, closeAll(files))
	}
	if shards := len(n.charter.Made); shards != n.Shards {
		n.Log.Info("the number of shards is that of the terrain", "shards", shards, "configured", n.Shards)
	}
	err = n.crawlAll(ctx, files)
	if errors.As(err, new(*crawl.StopError)) && ctx.Err() == nil {
		n.settle(ctx)
	}
	c := n.get()
	return len(files) > 0 && !n.crawled.Load() && (c.Run > n.run || c.Restored), err
}

// crawlAll crawls the shards whose files are here, and those that come to this node, until the run is over.
func (n *node) crawlAll(ctx context.Context, files map[int]*file) error {
	g, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	g.Go(func() error { return n.follow(following) })
	work, ctx := errgroup.WithContext(ctx)
	for shard, f := range files {
		work.Go(func() error { return n.own(ctx, shard, f, false) })
	}
	work.Go(func() error { return n.make(ctx, work, slices.Collect(maps.Keys(files))) })
	work.Go(func() error { // also where there is nothing to hold
		return n.look(ctx, func(*charter) bool { return n.over() }, nil)
	})
	g.Go(func() error { defer stop(); return work.Wait() })
	return g.Wait()
}

func (n *node) set(c *charter) {
	n.Machine.ShareAddresses(c.nodes())
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.paused() && (!n.charter.paused() || n.charter == c) {
		n.Log.Info("the terrain is paused; \"ripple unpause\" has it go on")
	}
	n.charter = c
}

func (n *node) get() *charter {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.charter
}

// over reports whether the run is over on all shards, or another has begun.
func (n *node) over() bool {
	c := n.get()
	return c.Run > n.run || c.Run == n.run && c.over()
}

// follow reads the charter now and then, and gives it back to a hub that has lost it, until
// ctx is done, or the run is to end without some shards.
func (n *node) follow(ctx context.Context) error {
	for sleep(ctx, n.Timing.Renew/10) == nil {
		c, _, err := n.registry.read(ctx)
		switch {
		case errors.Is(err, ErrProtocol), errors.Is(err, errCharter):
			return err
		case err != nil: // the hub is away
			continue
		case c == nil:
			if c, err = n.registry.change(ctx, n.again); err != nil {
				continue // ctx is done, or the next look says what is wrong
			}
		}
		if !n.get().same(c) {
			return fmt.Errorf("%w: somebody has begun terrain %x, with %d shards", ErrTerrain, c.Terrain, len(c.Made))
		}
		if c.clone().learn(n.get()) { // somebody who knew less has told a hub that had lost it
			if c, err = n.registry.change(ctx, n.again); err != nil || !n.get().same(c) {
				continue
			}
		}
		n.set(c)
		if c.Stop.Run == n.run && c.Stop.Number > n.stopped.Number && !c.Stop.Late {
			return c.Stop.end()
		}
		n.adopt(c)
	}
	return nil
}

// adopt follows the configuration that the terrain has come to, as soon as the file of this
// machine says the same.
func (n *node) adopt(c *charter) {
	if _, number := n.configuration(); number == c.Configuration {
		return
	}
	cfg, err := n.Load()
	if err == nil {
		if own := digests(cfg.Shared()); !maps.Equal(own, c.Config) {
			err = fmt.Errorf("%w: %s differ", ErrConfig, differing(own, c.Config))
		}
	}
	if err == nil {
		err = n.prepare(cfg)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.cfg, n.number, n.refused = cfg, c.Configuration, ""
		n.Log.Info("the configuration was read again", "number", c.Configuration)
	} else if text := err.Error(); text != n.refused {
		n.refused = text
		n.Log.Warn("the terrain has another configuration now, which the file of this machine must say too", "error", err)
	}
}

// configuration is the one that this machine follows, with its number.
func (n *node) configuration() (*config.Config, uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cfg, n.number
}

// look waits until the charter is as wanted. Where that takes long, still is told of it
// once; it may be nil.
func (n *node) look(ctx context.Context, wanted func(*charter) bool, still func(*charter)) error {
	for began := time.Now(); !wanted(n.get()); {
		if still != nil && time.Since(began) > n.Timing.Watch {
			still(n.get())
			still = nil
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// again tells a hub what it has lost of the charter that this node knows.
func (n *node) again(c *charter) (*charter, error) {
	switch known := n.get(); {
	case c == nil:
		return n.remembered(), nil
	case !known.same(c) || !c.learn(known):
		return nil, nil
	}
	return c, nil
}

// remembered is the charter that this node knows, for a hub that has lost it.
func (n *node) remembered() *charter {
	c := n.get().clone()
	c.Portions.forget()
	return c
}
