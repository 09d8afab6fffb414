package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
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
	Open      func(path string) (*kv.Store, error) // opens a state file, or makes it
	Log       *slog.Logger
	Timing    lease.Timing
	Clock     func() lease.Instant
	Machine   *crawl.Machine
	OnVisit   func(shard int, e crawl.Event)   // called by several goroutines; may be nil
	OnRequest func(shard int, q crawl.Request) // likewise
	OnShard   func(shard int, state string)    // what has become of a shard; likewise
	// OnCrawl is told of a crawl that runs until what it returns is called; may be nil.
	OnCrawl func(Walk) (end func())
}

// A Walk is the crawl of a shard.
type Walk struct {
	Shard int
	Path  string // of the state file
	Store *kv.Store
	Crawl *crawl.Crawl
	Run   schema.Run
}

// A node is one process's work on a terrain.
type node struct {
	Options
	registry registry
	config   map[string]string // what all nodes have in common, as digests
	bucket   *hub.Bucket       // of the terrain
	wire     wire

	mu      sync.Mutex
	charter *charter
}

// Run crawls until the terrain's run is over in all files, and returns nil then, or the
// cause of ctx. Other errors are of this node: [ErrProtocol], [ErrTerrain], [ErrConfig], of a file, or of a
// shard that another node holds.
func Run(ctx context.Context, o Options) error {
	directory, err := o.Hub.Bucket(ctx, [16]byte{}) // the charter says which terrain it is
	if err != nil {
		return err
	}
	n := &node{Options: o, registry: registry{directory, o.Timing}, config: digests(o.Config.Shared())}
	files, err := n.join(ctx)
	if err == nil {
		n.bucket, err = o.Hub.Bucket(ctx, [16]byte(n.charter.Terrain))
	}
	if err != nil {
		return errors.Join(err, closeAll(files))
	}
	n.wire = wire{n.bucket.Carrier()}
	n.forgotten(files)
	g, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	g.Go(func() error { return n.follow(following) })
	work, ctx := errgroup.WithContext(ctx)
	for shard, f := range files {
		work.Go(func() error { return n.hold(ctx, shard, f) })
	}
	work.Go(func() error { return n.make(ctx, work) })
	work.Go(func() error { return n.look(ctx, (*charter).over) }) // also where there is nothing to hold
	g.Go(func() error { defer stop(); return work.Wait() })
	return g.Wait()
}

// forgotten adds the shards whose files this node was to make, and did not come to, or has
// lost: what the lease says tells one from the other.
func (n *node) forgotten(files map[int]*file) {
	me := n.charter.number(n.Name)
	for shard, made := range n.charter.Made {
		if _, here := files[shard]; made == me && !here {
			files[shard] = nil
		}
	}
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
	n.charter, err = n.registry.change(ctx, func(c *charter) (*charter, error) { return n.enter(c, files) })
	return files, err
}

func closeAll(files map[int]*file) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// enter is the charter with this node and what its files say; nil: as it is.
func (n *node) enter(c *charter, files map[int]*file) (*charter, error) {
	fresh := c == nil
	if fresh {
		c = newCharter(n.Shards, n.config)
		for _, f := range files {
			if part := f.Part(); part.Shards != 0 {
				c = restored(part, n.config)
				break
			}
		}
	}
	changed := fresh
	for shard, f := range files {
		more, err := n.knows(c, shard, f)
		if err != nil {
			return nil, err
		}
		changed = changed || more
	}
	if c.over() {
		c.Run++
		clear(c.Over)
		if !maps.Equal(c.Config, n.config) {
			c.Config, c.Configuration = n.config, c.Configuration+1
		}
		changed = true
	}
	if !maps.Equal(c.Config, n.config) {
		return nil, fmt.Errorf("%w: %s differ; it can be changed when the run is over", ErrConfig, differing(c.Config, n.config))
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

// knows brings what a file says into a charter, and reports whether that is news.
func (n *node) knows(c *charter, shard int, f *file) (news bool, err error) {
	part := f.Part()
	if part.Shards == 0 && shard < len(c.Made) { // it was made, and never crawled
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
	if own := c.number(n.Name); c.Made[shard] != own {
		c.Made[shard], news = own, true
	}
	if part.Run > c.Run || part.Run == c.Run && part.Configuration > c.Configuration {
		if part.Run > c.Run {
			clear(c.Over)
		}
		c.Run, c.Configuration, news = part.Run, max(part.Configuration, c.Configuration), true
	}
	over, err := f.over(c.Run)
	if over && !c.Over[shard] {
		c.Over[shard], news = true, true
	}
	return news, err
}

func (n *node) set(c *charter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.charter = c
}

func (n *node) get() *charter {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.charter
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
		n.set(c)
	}
	return nil
}

// look waits until the charter is as wanted, or another run has begun.
func (n *node) look(ctx context.Context, wanted func(*charter) bool) error {
	for run := n.get().Run; !wanted(n.get()) && n.get().Run == run; {
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// again writes the charter that this node knows to a hub that has lost it.
func (n *node) again(c *charter) (*charter, error) {
	if c != nil {
		return nil, nil
	}
	return n.get(), nil
}

// make makes the files of shards that have none, as many as is this node's share, and has
// them held by g.
func (n *node) make(ctx context.Context, g *errgroup.Group) error {
	seen := time.Now()
	for !n.get().made() {
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
		waited := time.Since(seen)
		if waited < n.Timing.Renew {
			continue // others may still come
		}
		shard := -1
		_, err := n.registry.change(ctx, func(c *charter) (*charter, error) {
			var next *charter
			next, shard = n.claim(c, waited > n.Timing.Renew+n.Timing.Watch)
			return next, nil
		})
		if err != nil {
			return err
		}
		if shard >= 0 {
			g.Go(func() error { return n.hold(ctx, shard, nil) })
		}
	}
	return nil
}

// claim has this node make the file of one more shard, if that is its share or others have
// left it for long; -1: it is not.
func (n *node) claim(c *charter, left bool) (*charter, int) {
	if c == nil {
		return n.get(), -1
	}
	if !n.get().same(c) {
		return nil, -1
	}
	me := c.number(n.Name)
	shard, own := slices.Index(c.Made, nobody), c.of(me)
	share := (len(c.Made) + len(c.Nodes) - 1) / len(c.Nodes)
	if shard < 0 || own >= share && !left || n.MaxShards > 0 && own >= n.MaxShards {
		return nil, -1
	}
	c.Made[shard] = me
	return c, shard
}
