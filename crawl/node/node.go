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

	mu      sync.Mutex
	charter *charter
	cfg     *config.Config // that this machine follows
	number  uint64         // of it in the terrain
	refused string         // why it does not follow that of the charter, as it was told
	left    map[int]uint64 // shards that are held no more, though the run is not over, with their epochs
}

// Run crawls until the terrain's run is over in all files, and returns nil then, or the
// cause of ctx. Other errors are of this node: [ErrProtocol], [ErrTerrain], [ErrConfig], of a file, or of a
// shard that another node holds.
func Run(ctx context.Context, o Options) error {
	for {
		next, err := runOnce(ctx, o)
		if err != nil || !next {
			return err
		}
		o.Log.Info("the next run of the terrain has begun")
		if o.Config, err = o.Load(); err != nil {
			return err
		}
	}
}

// runOnce crawls one run. It reports whether the next one has begun, or is to, while this node
// had nothing to crawl, but only told a hub that had lost everything that its files are over.
func runOnce(ctx context.Context, o Options) (next bool, err error) {
	directory, err := o.bucket(ctx, [16]byte{}) // the charter says which terrain it is
	if err != nil {
		return false, err
	}
	n := &node{Options: o, registry: registry{directory, o.Timing}, config: digests(o.Config.Shared()), began: time.Now(),
		left: map[int]uint64{}}
	files, err := n.join(ctx)
	if err == nil {
		n.bucket, err = o.bucket(ctx, [16]byte(n.charter.Terrain))
	}
	if err != nil {
		return false, errors.Join(err, closeAll(files))
	}
	n.files = len(files) > 0
	n.wire, n.run = wire{n.bucket.Carrier()}, n.charter.Run
	n.cfg, n.number = o.Config, n.charter.Configuration
	n.set(n.charter)
	if shards := len(n.charter.Made); shards != n.Shards {
		n.Log.Info("the number of shards is that of the terrain", "shards", shards, "configured", n.Shards)
	}
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
	err = g.Wait()
	c := n.get()
	return len(files) > 0 && !n.crawled.Load() && (c.Run > n.run || c.Restored), err
}

// join opens the files that are here, and finds the charter that they and the configuration
// belong to. The next run begins with the first node that comes after the last one.
func (n *node) join(ctx context.Context) (map[int]*file, error) {
	here, err := found(n.Folder)
	if err != nil {
		return nil, err
	}
	files := map[int]*file{}
	for _, shard := range here {
		f, err := openFile(&n.Options, shard)
		if err != nil {
			return files, err
		}
		files[shard] = f
	}
	if len(files) == 0 {
		if err := n.await(ctx); err != nil {
			return nil, err
		}
	}
	known, over, err := n.publish(ctx, files)
	if err != nil {
		return files, err
	}
	for waits := false; ; waits = true {
		n.charter, err = n.registry.change(ctx, func(c *charter) (next *charter, err error) {
			if c != nil {
				return n.enter(c, over)
			}
			lost := known.clone()
			lost.Portions.forget()
			if next, err = n.enter(lost, over); err == nil && next == nil {
				next = lost
			}
			return next, err
		})
		if !errors.Is(err, errOthers) {
			return files, err
		}
		if !waits {
			n.Log.Info("waiting for the other nodes, whose files have to say that the last run is over")
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return files, err
		}
	}
}

// publish has the charter say what the files here do, and returns it; over: the run was over
// everywhere, without that news.
func (n *node) publish(ctx context.Context, files map[int]*file) (known *charter, over bool, err error) {
	over = true
	known, err = n.registry.change(ctx, func(c *charter) (*charter, error) {
		news := c == nil
		if news {
			if c, err = n.first(files); err != nil {
				return nil, err
			}
		}
		over = over && c.over() // also when it was told already, and the answer was lost
		more, err := n.know(c, files)
		if err != nil || !news && !more {
			return nil, err
		}
		return c, nil
	})
	return known, over, err
}

// bucket opens a bucket of the hub, which may be away for a while.
func (o *Options) bucket(ctx context.Context, terrain [16]byte) (*hub.Bucket, error) {
	for began := time.Now(); ; {
		b, err := o.Hub.Bucket(ctx, terrain)
		if err == nil || time.Since(began) > o.Timing.Watch {
			return b, err
		}
		if err := sleep(ctx, o.Timing.Renew/10); err != nil {
			return nil, err
		}
	}
}

// await gives other nodes time to give a hub that has lost its charter that of their terrain,
// before this one, which knows of none, creates another.
func (n *node) await(ctx context.Context) error {
	for time.Since(n.began) < n.Timing.Renew {
		c, _, err := n.registry.read(ctx)
		if c != nil || errors.Is(err, ErrProtocol) || errors.Is(err, errCharter) {
			return err
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

func closeAll(files map[int]*file) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// first is the charter for a hub without one, as the files here say, or of a new terrain.
func (n *node) first(files map[int]*file) (*charter, error) {
	var last *file
	for _, f := range files {
		part := f.Part()
		if part.Shards != 0 && (last == nil || last.Part().Run < part.Run ||
			last.Part().Run == part.Run && last.Part().Configuration < part.Configuration) {
			last = f
		}
	}
	if last == nil {
		return newCharter(n.Shards, n.config), nil
	}
	cfg, err := last.config()
	if err != nil {
		return nil, err
	}
	if cfg == nil {
		cfg = n.Config
	}
	return restored(last.Part(), digests(cfg.Shared())), nil
}

// errOthers reports that nodes are missing whose files may say that the run is over.
var errOthers = errors.New("other nodes are missing")

// enter is the charter with this node; nil: as it is. The next run begins if the last one was
// over before this node came, or if a hub that had lost everything has only been told so file
// by file.
func (n *node) enter(c *charter, over bool) (*charter, error) {
	changed := false
	if c.over() && (over || c.Restored) {
		c.Run, c.Restored, changed = c.Run+1, false, true
		c.pause(false)
		clear(c.Over)
		c.Portions.begin()
		if !maps.Equal(c.Config, n.config) {
			c.Config, c.Configuration = n.config, c.Configuration+1
		}
	}
	if !maps.Equal(c.Config, n.config) {
		if c.Restored && !slices.ContainsFunc(c.of(n.Name), func(shard int) bool { return !c.Over[shard] }) {
			return nil, errOthers
		}
		return nil, fmt.Errorf("%w: %s differ", ErrConfig, differing(c.Config, n.config))
	}
	if !slices.Contains(c.Nodes, n.Name) {
		c.number(n.Name)
		changed = true
	}
	if !changed {
		return nil, nil
	}
	return c, nil
}

// know brings what files say into a charter, and reports whether something is news: first what
// epochs they know of, for one of the files may be one that was given up.
func (n *node) know(c *charter, files map[int]*file) (news bool, err error) {
	for _, f := range files {
		known, err := f.epochs(c)
		if err != nil {
			return false, err
		}
		for shard, epoch := range known {
			news = c.raise(shard, epoch) || news
		}
	}
	for shard, f := range files {
		more, err := n.knows(c, shard, f)
		if err != nil {
			return false, err
		}
		news = news || more
	}
	return news, nil
}

// knows brings what a file says into a charter, and reports whether that is news.
func (n *node) knows(c *charter, shard int, f *file) (news bool, err error) {
	part := f.Part()
	if shard >= len(c.Made) && part.Shards == 0 {
		return false, fmt.Errorf("%w: %s was never crawled, and that of the hub has shards 0 to %d", ErrTerrain, f.path,
			len(c.Made)-1)
	}
	if part.Shards == 0 { // it was made, and never crawled
		if news = c.Made[shard] == nobody; news {
			c.Made[shard] = c.number(n.Name)
		}
		return news, nil
	}
	want := c.part(shard)
	want.Run, want.Configuration = part.Run, part.Configuration
	if part != want {
		return false, fmt.Errorf("%w: %s is shard %d of %d of terrain %x, the hub's is %x with %d",
			ErrTerrain, f.path, part.Shard, part.Shards, part.Terrain, c.Terrain, len(c.Made))
	}
	known, err := f.epochs(c)
	if err == nil && known[shard] < c.Epochs[shard] {
		err = fmt.Errorf("%s: %w", f.path, lease.ErrAnew)
	}
	if err != nil {
		return false, err
	}
	if own := c.number(n.Name); c.Made[shard] != own {
		c.Made[shard], news = own, true
	}
	if part.Run > c.Run || part.Run == c.Run && part.Configuration > c.Configuration {
		if part.Run > c.Run {
			clear(c.Over)
		}
		cfg, err := f.config()
		if err != nil {
			return false, err
		}
		if cfg != nil {
			c.Config = digests(cfg.Shared())
		}
		c.Run, c.Configuration, news = part.Run, max(part.Configuration, c.Configuration), true
		c.Portions.forget()
	}
	over, err := f.over(c.Run)
	if over && !c.Over[shard] {
		c.Over[shard], news = true, true
	}
	return news, err
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
// ctx is done.
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

// claim has this node make the file of one more shard, if that is its share or others have
// left it for long; nil: it is not.
func (n *node) claim(c *charter, left bool) *charter {
	if c == nil {
		return n.remembered()
	}
	if !n.get().same(c) {
		return nil
	}
	shard, own := slices.Index(c.Made, nobody), len(c.of(n.Name))
	share := (len(c.Made) + len(c.Nodes) - 1) / max(1, len(c.Nodes))
	if shard < 0 || own >= share && !left || n.MaxShards > 0 && own >= n.MaxShards {
		return nil
	}
	c.Made[shard] = c.number(n.Name)
	return c
}
