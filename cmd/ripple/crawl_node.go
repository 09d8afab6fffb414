package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/crawl/node"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// nodeEvery is from one line about a node to the next.
const nodeEvery = 10 * time.Second

// leaseTiming is that of all nodes; tests have less time.
var leaseTiming = lease.Standard()

// A nodeView tells how a node gets on.
type nodeView struct {
	app      *app
	cfg      *config.Config
	machine  *crawl.Machine
	stop     context.CancelCauseFunc // ends the node as a signal does
	requests atomic.Int64
	pages    atomic.Int64

	mu     sync.Mutex
	states map[int]string // by shard
}

// runNode crawls the shards of a terrain that this machine has.
func runNode(ctx context.Context, a *app, path string, cfg *config.Config, opts crawlOptions) error {
	own, err := ownConfig(cfg, opts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(own.Cluster.Folder, 0o777); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	name := host + ":" + own.Cluster.Folder
	m := crawlMemory(own)
	m.set()
	machine := crawl.NewMachine(own.MaxOpen())
	machine.LimitMemory(m.bytes)
	conn, err := hub.Connect(ctx, hub.Dial{
		URL: own.Cluster.Hub, Credentials: own.Cluster.Credentials, CAFile: own.Cluster.CAFile, Node: name, Log: a.logger(),
	})
	if err != nil {
		return hubError(err)
	}
	defer conn.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	view := &nodeView{app: a, cfg: own, machine: machine, stop: stop, states: map[int]string{}}
	a.say("node " + shown(name) + " is connected to the hub " + shown(own.Cluster.Hub))
	var g errgroup.Group
	watching, unwatch := context.WithCancel(context.Background())
	g.Go(func() error { view.follow(watching); return nil })
	load := func() (*config.Config, error) {
		now, _, err := config.Load(path) // what is to be noticed was told at the start
		if err != nil {
			return nil, err
		}
		return ownConfig(now, opts)
	}
	g.Go(func() error { return view.obey(watching, conn, load) })
	err = node.Run(ctx, node.Options{
		Hub: conn, Name: name, Folder: own.Cluster.Folder, Shards: own.Cluster.Shards, MaxShards: own.Cluster.MaxShards,
		Config: own, Log: a.logger(), Timing: leaseTiming, Clock: lease.MachineClock(), Machine: machine,
		Open: func(path string) (*kv.Store, error) {
			store, err := openLocked(path, kv.Options{Memory: m.forURLs() / int64(own.Cluster.Shards)})
			return store, m.explain(err)
		},
		Load:      load,
		OnVisit:   func(int, crawl.Event) { view.pages.Add(1) },
		OnRequest: func(int, crawl.Request) { view.requests.Add(1) },
		OnShard:   view.shard,
		OnCrawl:   view.crawl,
		Stop:      func() { stop(errStopped) },
	})
	unwatch()
	err = errors.Join(err, g.Wait())
	return view.end(ctx, path, own, err)
}

// ownConfig is the configuration of a node.
func ownConfig(cfg *config.Config, opts crawlOptions) (*config.Config, error) {
	if err := refuseNode(cfg, opts); err != nil {
		return nil, err
	}
	own := *cfg
	own.Monitor, own.Output = config.Monitor{}, config.Output{} // of one machine that has it all
	return &own, nil
}

// refuseNode refuses what several machines cannot do.
func refuseNode(cfg *config.Config, opts crawlOptions) error {
	switch {
	case opts.fresh:
		return usage("--fresh begins one state file anew; a terrain of several machines begins anew with an empty " +
			"[cluster] folder on each and an empty store of the hub")
	case opts.listen != "":
		return usage("--listen serves the map of one machine; with [cluster] hub leave it out")
	case opts.seeds.file != "":
		return usage("--seeds adds seeds for one machine; with [cluster] hub put them into the configuration of all")
	case cfg.Crawler.MaxPages > 0:
		return usage("[crawler] max-pages cannot be kept by several machines; with [cluster] hub set it to 0")
	case cfg.Render.Mode != config.RenderOff:
		return usage("[render] mode = %q is for one machine; with [cluster] hub set it to \"off\"", cfg.Render.Mode)
	}
	return nil
}

// hubError says what can be done about a hub that is not reached.
func hubError(err error) error {
	switch {
	case errors.Is(err, hub.ErrAway):
		return hint(err, "start one with \"ripple hub\", or change [cluster] hub")
	case errors.Is(err, hub.ErrRefused):
		return hint(err, "[cluster] credentials names the file that holds the hub's token")
	}
	return err
}

// A followedShard answers for the crawl of a shard.
type followedShard struct {
	walk *walk
	end  func()
}

// Status implements [node.Follower].
func (s *followedShard) Status(ctx context.Context) census.Status {
	s.walk.watcher.Refresh(ctx)
	return s.walk.status()
}

// Reconfigured implements [node.Follower].
func (s *followedShard) Reconfigured(cfg *config.Config) {
	own := *cfg
	own.State.Path = s.walk.cfg.Load().State.Path
	s.walk.cfg.Store(&own)
}

// End implements [node.Follower].
func (s *followedShard) End() { s.end() }

// crawl has the crawl of a shard answer other commands, by the name of its file.
func (v *nodeView) crawl(of node.Walk) node.Follower {
	cfg := *v.cfg
	cfg.State.Path = of.Path
	w := &walk{app: v.app, log: v.app.logger(), stop: v.stop, begun: make(chan struct{}), store: of.Store, machine: v.machine,
		crawl: of.Crawl}
	w.cfg.Store(&cfg)
	w.watcher = census.NewWatcher(of.Crawl, &w.cfg, of.Run)
	close(w.begun)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return w.watcher.Follow(ctx, func(census.Status) {}) })
	server, err := control.Listen(of.Path, control.NewHandler(&commandedShard{commanded{w}}))
	if err == nil {
		g.Go(func() error { return server.Serve(ctx) })
	} else {
		w.log.Warn("other commands cannot reach this shard", "shard", of.Shard, "error", err)
	}
	return &followedShard{w, func() {
		cancel()
		if err := g.Wait(); err != nil {
			w.log.Warn("a shard could not be watched", "shard", of.Shard, "error", err)
		}
	}}
}

// A commandedShard answers what other commands ask of a shard's file. What holds for all
// shards is not decided by one.
type commandedShard struct{ commanded }

// Pause is refused.
func (c *commandedShard) Pause(ctx context.Context) (any, error) { return c.Reload(ctx) }

// Unpause is refused.
func (c *commandedShard) Unpause(ctx context.Context) (any, error) { return c.Reload(ctx) }

// Reload is refused.
func (c *commandedShard) Reload(context.Context) (any, error) {
	return nil, &control.Error{Code: http.StatusConflict,
		Text: "this is one shard of a terrain: name its configuration instead, with --config, to command it on all machines"}
}

// shard notes what has become of a shard, and tells it.
func (v *nodeView) shard(n int, state string) {
	v.mu.Lock()
	before := v.states[n]
	v.states[n] = state
	v.mu.Unlock()
	if before != state {
		v.app.tell(remark{fmt.Sprintf("shard %d: %s", n, state), "shard", []any{"shard", n, "state", state}})
	}
}

// obey follows the signals that only a crawl listens to, until ctx is done.
func (v *nodeView) obey(ctx context.Context, conn *hub.Conn, load func() (*config.Config, error)) error {
	got := make(chan os.Signal, 4)
	notifyCrawl(got)
	defer signal.Stop(got)
	had := hasTerminal()
	for {
		var s os.Signal
		select {
		case <-ctx.Done():
			return nil
		case s = <-got:
		}
		switch {
		case !isReload(s):
			v.report()
		case had && !hasTerminal():
			if err := terminate(); err != nil {
				return err
			}
		default:
			cfg, err := load()
			if err == nil {
				err = reloadTerrain(ctx, v.app, cfg, conn)
			}
			if err != nil {
				v.app.logger().Error("the configuration is not taken; the crawl goes on as before", "error", err)
			}
		}
	}
}

// report tells how far the node has come.
func (v *nodeView) report() {
	pages, requests := v.pages.Load(), v.requests.Load()
	v.app.tell(remark{fmt.Sprintf("%s, %s; shards: %s", visited(int(pages)), count(int(requests), "request", "requests"),
		v.shards()), "node", []any{"pages", pages, "requests", requests}})
}

// follow tells how far the node has come, now and then.
func (v *nodeView) follow(ctx context.Context) {
	tick := time.NewTicker(nodeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			v.report()
		}
	}
}

// shards says how many are in which state.
func (v *nodeView) shards() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	counts := map[string]int{}
	for _, state := range v.states {
		counts[state]++
	}
	var parts []string
	for state, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	slices.Sort(parts)
	if parts == nil {
		return "none yet"
	}
	return strings.Join(parts, ", ")
}

// end says how it ended, and what can be done next.
func (v *nodeView) end(ctx context.Context, path string, cfg *config.Config, err error) error {
	pages := visited(int(v.pages.Load()))
	var sig signalError
	switch {
	case err == nil:
		v.app.tell(remark{"the run is over on all shards; " + pages + " here", "run completed", []any{"pages", v.pages.Load()}})
		next := "ripple unite " + shown(cfg.Cluster.Folder) + " ... -o terrain.bolt"
		v.app.tell(remark{"  make one map of the folders of all machines: " + next, "next", []any{"command", next}})
		return nil
	case errors.Is(err, node.ErrTime), errors.Is(context.Cause(ctx), errStopped), errors.As(context.Cause(ctx), &sig):
		v.app.tell(remark{"this node has stopped; " + pages + " here", "node stopped", []any{"pages", v.pages.Load()}})
		next := "ripple crawl " + shown(path)
		v.app.tell(remark{"  go on with: " + next, "the run can go on", []any{"command", next}})
		return early(ctx)
	}
	return nodeError(cfg, err)
}

// nodeError says what can be done about a node that does not fit its terrain.
func nodeError(cfg *config.Config, err error) error {
	folder := shown(cfg.Cluster.Folder)
	var held *lease.HeldError
	switch {
	case errors.Is(err, node.ErrTerrain):
		return hint(err, "use the hub of that terrain, or move %s away", folder)
	case errors.Is(err, node.ErrConfig):
		return hint(fmt.Errorf("%w (%w)", err, errConfig), "all machines follow one configuration, but for [state], [output], "+
			"[monitor], [cluster] and limits of the machine; in a run \"ripple reload\" changes that of all")
	case errors.Is(err, lease.ErrFile):
		return hint(err, "put the newest copy of it into %s", folder)
	case errors.As(err, &held):
		return hint(err, "a shard belongs to the machine that has its file; move the copy here away, or give "+
			"this machine another name")
	}
	return err
}
