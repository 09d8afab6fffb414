package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/schema/config"
)

// nodeEvery is the time between two lines about a node.
const nodeEvery = 10 * time.Second

// A nodeView is a session with the shards of a terrain that this machine holds. It reports their
// progress.
type nodeView struct {
	*session
	cfg      *config.Config
	desk     *TerrainDesk
	requests atomic.Int64
	pages    atomic.Int64

	waited time.Time // when a missing hub was last reported, before the first connection

	idle  int64    // requests at the last line; while the number does not change, this node waits
	waits []string // what it waits for, as last reported

	mu     sync.Mutex
	shards map[int]*held
}

// A held is what this machine knows of a shard that it holds or held.
type held struct {
	state   string           // as last reported by the node
	file    *file            // nil: it was never open
	metrics *meter.Collector // nil: not shown
}

// shard returns what this machine knows of a shard. The caller holds v.mu.
func (v *nodeView) shard(n int) *held {
	if v.shards[n] == nil {
		v.shards[n] = &held{}
	}
	return v.shards[n]
}

// newNodeView returns the view of the shards that this machine crawls.
func newNodeView(told *term.Voice, path string, cfg *config.Config, opts Options) *nodeView {
	load := func() (*config.Config, error) {
		now, _, err := config.Load(path) // warnings were printed at the start
		if err != nil {
			return nil, err
		}
		return ownConfig(now, opts)
	}
	s := newSession(told, path, crawl.NewShared(cfg.MaxOpen()))
	return &nodeView{session: s, cfg: cfg, desk: newTerrainDesk(cfg, load, s.meter),
		shards: map[int]*held{}}
}

// run runs a node. To its options it adds the hub, the name of the node, and its callbacks.
func (v *nodeView) run(ctx context.Context, o node.Options) error {
	id, name, err := NodeOf(v.cfg)
	if err != nil {
		return err
	}
	at, err := v.listen()
	if err != nil {
		return err
	}
	conn, err := v.connect(ctx, name)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, v.stop = context.WithCancelCause(ctx)
	defer v.stop(nil)
	v.voice.Say("node " + term.Shown(name) + " is connected to the hub " + term.Shown(v.cfg.Cluster.Hub))
	end := v.begin(conn, at)
	o.Hub, o.ID, o.Name, o.Load = conn, id, name, v.desk.load
	o.OnVisit, o.OnShard, o.OnFile, o.OnCrawl = v.visited, v.note, v.file, v.crawl
	o.OnRequest = func(int, crawl.Request) { v.requests.Add(1) }
	o.OnCommit = func(_ int, c crawl.Commit) { v.meter.Committed(c) }
	o.Waiting = v.waiting
	o.Stop = func() { v.stop(errStopped) }
	err = node.Run(ctx, o)
	return v.end(ctx, errors.Join(err, end()))
}

// hubRest is the time between two tries to reach a hub.
const hubRest = time.Second

// connect connects to the hub. If the folder has shards, the hub was there before, so connect waits until it is back,
// however long that takes.
func (v *nodeView) connect(ctx context.Context, name string) (*hub.Conn, error) {
	for began := time.Now(); ; {
		conn, err := connect(ctx, v.log, v.cfg, name)
		if !errors.Is(err, hub.ErrAway) || ctx.Err() != nil {
			return conn, err
		}
		has, unread := node.HasShards(v.cfg.Cluster.Folder)
		if unread != nil || !has {
			return nil, err
		}
		now := time.Now()
		if now.Sub(v.waited) >= nodeEvery {
			v.waited = now
			text := noHub(now.Sub(began)) + ": nothing is requested until one answers at " + term.Shown(v.cfg.Cluster.Hub)
			v.voice.Tell(term.Event("node waits", text, "why", text))
		}
		select {
		case <-time.After(hubRest):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// listen opens the desk that the node serves, and reports its address. It returns nil if none is
// configured.
func (v *nodeView) listen() (*desk.Desk, error) {
	if v.cfg.Monitor.Listen == "" {
		return nil, nil
	}
	at, err := v.desk.Listen(v.log, v.cfg.Monitor)
	if err == nil {
		err = tellDesk(v.voice, at)
	}
	return at, err
}

// begin follows the node and obeys signals until end is called. It serves the desk, if there is one.
func (v *nodeView) begin(conn *hub.Conn, at *desk.Desk) (end func() error) {
	v.desk.Look.Conn, v.desk.away = conn, v.away
	var g errgroup.Group
	beside, cancel := context.WithCancel(context.Background())
	g.Go(func() error { v.follow(beside); return nil })
	begun := make(chan struct{})
	close(begun)
	g.Go(func() error { return v.obey(beside, begun, v.report, func() { v.reload(beside, conn) }) })
	if at == nil {
		g.Go(func() error { return v.desk.Look.Follow(beside) }) // for scrapes of a shard
	} else {
		g.Go(func() error { return v.desk.Serve(beside, at) })
	}
	return func() error {
		cancel()
		return g.Wait()
	}
}

// show adds the crawl of a shard to the metrics.
func (v *nodeView) show(n int, now func(context.Context) meter.Moment) *meter.Collector {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := v.shard(n)
	h.hide()
	h.metrics = v.meter.Shard(n, now)
	return h.metrics
}

// hide removes the crawl of a shard from the metrics. Another node may hold the shard by now.
func (h *held) hide() {
	if h.metrics != nil {
		h.metrics.Drop()
		h.metrics = nil
	}
}

// visited counts a visit, and adds it to the metrics. A page that is settled without a request, for
// example a kept one, does not count.
func (v *nodeView) visited(shard int, e crawl.Event) {
	if e.Asked {
		v.pages.Add(1)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.shard(shard).metrics; p != nil { // otherwise it is among the visits that are counted later
		p.Visited(e)
	}
}

// waiting returns the number of pages to visit in a shard, as last counted.
func (v *nodeView) waiting(shard int) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.shard(shard).file; f != nil {
		if s := f.shard.Load(); s != nil {
			return int(s.waiting.Load())
		}
	}
	return 0
}

// note records the state of a shard, and reports a change.
func (v *nodeView) note(n int, state string) {
	v.mu.Lock()
	h := v.shard(n)
	before := h.state
	h.state = state
	switch state {
	case "lost", "released", "given", "moved", "gone", "stale", "elsewhere":
		h.hide()
	}
	v.mu.Unlock()
	if before != state {
		v.voice.Tell(term.Event("shard", fmt.Sprintf("shard %d: %s", n, state), "shard", n, "state", state))
	}
}

// reload changes the terrain to the current contents of the configuration file.
func (v *nodeView) reload(ctx context.Context, conn *hub.Conn) {
	done, err := TellTerrain(ctx, conn, "reload", v.desk.load)
	for _, r := range done {
		v.voice.Tell(r)
	}
	if err != nil {
		v.log.Error("the configuration is not taken; the crawl goes on as before", "error", err)
	}
}

// report reports the progress of the node.
func (v *nodeView) report() {
	pages, requests := v.pages.Load(), v.requests.Load()
	text := fmt.Sprintf("%s, %s; shards: %s",
		show.Visited(int(pages)), term.Count(int(requests), "request", "requests"), v.count())
	if away := v.away(time.Now()); away != "" {
		text = away + "; " + text
	}
	v.voice.Tell(term.Event("node", text, "pages", pages, "requests", requests))
}

// away says that the hub is away, and what that means for the requests of this node; empty: it is not.
func (v *nodeView) away(now time.Time) string {
	since := v.desk.Look.away()
	if since.IsZero() {
		return ""
	}
	text := noHub(now.Sub(since))
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.shards {
		if h.state == "crawling" {
			return text + "; without it nothing is requested after " + term.Span(v.cfg.Cluster.Lease)
		}
	}
	return text + ": nothing is requested until it answers"
}

// noHub says for how long there has been no hub, in whole seconds.
func noHub(since time.Duration) string {
	if since < time.Second {
		return "no hub"
	}
	return "no hub for " + term.Span(since)
}

// follow reports the progress of the node at intervals.
func (v *nodeView) follow(ctx context.Context) {
	tick := time.NewTicker(nodeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			v.report()
			if !v.desk.Look.away().IsZero() { // what the others did is unknown
				v.waits = nil
				continue
			}
			if asked := v.requests.Load(); asked != v.idle {
				v.idle, v.waits = asked, nil
			} else if seen := v.desk.Look.now(ctx); seen.stats != nil {
				v.tellWaits(seen.stats, time.Now())
			}
		}
	}
}

// count returns how many shards are in each state.
func (v *nodeView) count() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	counts := map[string]int{}
	for _, h := range v.shards {
		if h.state != "" {
			counts[h.state]++
		}
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

// end reports how the node ended, and the next step.
func (v *nodeView) end(ctx context.Context, err error) error {
	pages := show.Visited(int(v.pages.Load()))
	var sig term.SignalError
	var told *crawl.StopError
	switch {
	case errors.As(err, &told):
		without := told.End.Without
		text := "\"ripple stop\" has ended the run without " + without.Named() + "; " + pages + " here"
		v.voice.Tell(term.Event("run interrupted", text, "without", without.String(), "pages", v.pages.Load()))
		next := "ripple crawl " + term.Shown(v.path)
		v.voice.Tell(term.Event("the run can go on", "  go on with: "+next, "command", next))
		return nil
	case err == nil:
		v.voice.Tell(term.Event("run completed", "the run is over on all shards; "+pages+" here", "pages", v.pages.Load()))
		next := mergeCommand(v.cfg)
		v.voice.Tell(term.Event("next", "  make one map of the folders of all machines: "+next, "command", next))
		return nil
	case errors.Is(err, node.ErrTime), errors.Is(context.Cause(ctx), errStopped), errors.As(context.Cause(ctx), &sig):
		v.voice.Tell(term.Event("node stopped", "this node has stopped; "+pages+" here", "pages", v.pages.Load()))
		next := "ripple crawl " + term.Shown(v.path)
		v.voice.Tell(term.Event("the run can go on", "  go on with: "+next, "command", next))
		return early(ctx)
	}
	return nodeError(v.cfg, err)
}
