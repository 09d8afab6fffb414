package node

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Options configure a node.
type Options struct {
	Hub       *hub.Conn
	Release   string // of the program
	ID        string // of the node, see [Identify]
	Name      string // for people
	Folder    string // of its state files; it must exist
	Shards    int    // number of shards if a terrain is created
	MaxShards int    // for which it makes files; 0: no limit
	Config    *config.Config
	Load      func() (*config.Config, error)       // reads the current configuration file of this machine
	Prepare   func(*config.Config) error           // prepares what a configuration needs; may be nil
	Open      func(path string) (*kv.Store, error) // opens or creates a state file
	Log       *slog.Logger
	Timing    lease.Timing
	Clock     func() lease.Instant
	Shared    *crawl.Shared
	OnVisit   func(shard int, e crawl.Event)   // called from several goroutines; may be nil
	OnRequest func(shard int, q crawl.Request) // called from several goroutines; may be nil
	OnCommit  func(shard int, c crawl.Commit)  // called from several goroutines; may be nil
	OnShard   func(shard int, state string)    // called with a new state, from several goroutines; may be nil
	Waiting   func(shard int) int              // returns the pages to visit, as for a [crawl.Crawl]; may be nil
	// OnFile is called when the file of a shard has been opened, possibly long before the crawl. end is called before
	// the file is closed, possibly long after the crawl. OnFile may be nil.
	OnFile func(shard int, path string, store *kv.Store) (end func())
	// OnMove is called after each step of a move of a shard from or to this node. It may be nil.
	OnMove func(shard int, step string)
	// OnCrawl is called when a crawl begins, and returns its follower.
	OnCrawl func(Walk) Follower
	Stop    func() // cancels ctx, because a user has asked the node to stop
	// NewTerrain lets a node without files create a terrain at a hub that others may have used. It has no effect if the
	// hub has a terrain, or the node has been part of one.
	NewTerrain bool

	instance string // of the process
}

// A Walk is the crawl of a shard.
type Walk struct {
	Shard int
	Path  string // of the state file
	Store *kv.Store
	Crawl *crawl.Crawl
	Run   schema.Run

	Config *config.Config // that the crawl follows
}

// A Follower observes a crawl. Its methods are called from several goroutines.
type Follower interface {
	Status(context.Context) census.Status // current
	Reconfigured(*config.Config)          // the crawl continues under another configuration
	End()                                 // the crawl has ended; called once
}

// A node is one process's part in a run of a terrain.
type node struct {
	Options
	member *member
	cfg    *configured
	teller *teller

	handovers handovers
	bucket    *hub.Bucket // of the terrain
	wire      wire
	began     time.Time
	files     bool             // there were some when the node started
	several   bool             // there were more than one
	good      atomic.Int64     // those of them that were not refused
	crawled   atomic.Bool      // it has crawled a shard in this run
	ends      *crawl.StopError // what its files have to record, and it does nothing else; nil: nothing
}

// Run crawls until all files say that the terrain's run is over, and then returns nil. It returns the cause of ctx
// if that is done, and a [crawl.StopError] once its files say that the run has ended without some shards. Other
// errors concern this node: [ErrProtocol], [ErrTerrain], [ErrConfig], the error of a file, or a shard that another
// node holds.
func Run(ctx context.Context, o Options) error {
	o.complete()
	o.instance = rand.Text()
	for {
		next, err := runOnce(ctx, o)
		if err != nil || !next {
			return err
		}
		o.Log.Info("the next run of the terrain has begun")
		if o.Config, err = o.Load(); err == nil {
			err = o.Prepare(o.Config)
		}
		if err != nil {
			return err
		}
	}
}

// where returns the name of the node, for the people of another machine.
func (o *Options) where() string {
	if address := o.Hub.Address(); address != "" {
		return o.Name + " at " + address
	}
	return o.Name
}

// complete replaces nil callbacks with no-ops.
func (o *Options) complete() {
	if o.Prepare == nil {
		o.Prepare = func(*config.Config) error { return nil }
	}
	if o.OnVisit == nil {
		o.OnVisit = func(int, crawl.Event) {}
	}
	if o.OnRequest == nil {
		o.OnRequest = func(int, crawl.Request) {}
	}
	if o.OnCommit == nil {
		o.OnCommit = func(int, crawl.Commit) {}
	}
	if o.Waiting == nil {
		o.Waiting = func(int) int { return 0 }
	}
	if o.OnMove == nil {
		o.OnMove = func(int, string) {}
	}
	if o.OnShard == nil {
		o.OnShard = func(int, string) {}
	}
	if o.OnFile == nil {
		o.OnFile = func(int, string, *kv.Store) func() { return func() {} }
	}
}

// runOnce crawls one run. next reports that this node has crawled nothing, but only restored the charter at a hub
// that had lost it: the run is over in the node's files, and another one has begun or is about to.
func runOnce(ctx context.Context, o Options) (next bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n, files, err := newNode(ctx, o)
	var owe map[int]*file
	if err == nil {
		owe, err = owing(n.member.get(), files)
	}
	if err == nil && len(owe) > 0 {
		if err = n.writeEnd(ctx, owe); err == nil {
			err = n.ends
		}
	}
	if err != nil {
		return false, errors.Join(err, closeAll(files))
	}
	err = n.crawlAll(ctx, files)
	if errors.As(err, new(*crawl.StopError)) && ctx.Err() == nil {
		n.settle(ctx)
	}
	c := n.member.get()
	return len(files) > 0 && !n.crawled.Load() && (c.Run > n.member.run || c.Restored), err
}

// newNode returns a node that has joined the terrain of its hub, and the files in its folder. After an error some
// may be open.
func newNode(ctx context.Context, o Options) (*node, map[int]*file, error) {
	directory, err := o.bucket(ctx, [16]byte{}) // the charter says which terrain it is
	if err != nil {
		return nil, nil, err
	}
	j := &joiner{
		Options: &o, registry: &registry{bucket: directory, timing: o.Timing, log: o.Log}, fresh: directory.Fresh,
		config: digests(o.Config.Shared()), began: time.Now(),
	}
	c, files, err := j.join(ctx)
	if err == nil {
		err = mark(o.Folder, c.Terrain)
	}
	if err != nil {
		return nil, files, err
	}
	bucket, err := o.bucket(ctx, [16]byte(c.Terrain))
	if err != nil {
		return nil, files, err
	}
	if shards := c.shards(); shards != o.Shards {
		o.Log.Info("the number of shards is that of the terrain", "shards", shards, "configured", o.Shards)
	}
	n := &node{Options: o, bucket: bucket, wire: wire{carrier: bucket.Carrier()}, began: j.began}
	n.handovers.last, n.handovers.kept = map[int]*handover{}, map[int]bool{}
	n.files, n.several = len(files) > 0, len(files) > 1
	n.good.Store(int64(len(files)))
	n.member = newMember(&o, j.registry, c)
	if err := n.member.watch(ctx, directory, bucket); err != nil {
		return nil, files, err
	}
	if err := n.member.surveyFirst(ctx); err != nil {
		return nil, files, err
	}
	n.cfg = &configured{load: o.Load, prepare: o.Prepare, log: o.Log, cfg: o.Config, number: c.Configuration}
	n.teller = &teller{member: n.member, cfg: n.cfg, wire: n.wire, log: o.Log}
	return n, files, nil
}

// crawlAll crawls the shards whose files are here, or arrive later, until the run is over.
func (n *node) crawlAll(ctx context.Context, files map[int]*file) error {
	g, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	g.Go(func() error { return n.member.follow(following, n.cfg.adopt) })
	work, ctx := errgroup.WithContext(ctx)
	r := &receiver{
		Options: &n.Options, shards: n.member.get().shards(), bucket: n.bucket, keep: n.handovers.keep,
		open: map[int]*incoming{}, came: map[int]bool{},
	}
	g.Go(func() error { return r.serve(following) })
	m := &maker{
		Options: &n.Options, arrived: r.arrived, member: n.member, began: n.began, group: work, own: n.own,
		nodes: len(n.member.get().Nodes), founded: n.member.get().Founded, joined: n.began,
		held: map[int]bool{}, left: map[int]uint64{}, came: map[int]*arrival{}, gone: map[int]uint64{},
	}
	for shard, f := range files {
		m.hold(ctx, shard, f, false)
	}
	work.Go(func() error { return m.make(ctx) })
	work.Go(func() error { // needed if no shard is held
		return n.member.look(ctx, func(*charter) bool { return n.member.over() }, nil)
	})
	g.Go(func() error { defer stop(); return work.Wait() })
	return g.Wait()
}
