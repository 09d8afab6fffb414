package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A terrain is a web with a hub and the folders of its nodes.
type terrain struct {
	t       *testing.T
	cfg     *config.Config
	server  *hub.Server
	options hub.Options
	folders []string
	shards  int
	faster  int                                 // than real nodes
	long    bool                                // a lease has its default length, which no test outlasts
	alike   bool                                // all nodes have one name
	twins   bool                                // all nodes have one ID
	most    map[int]int                         // limit of shards by node; 0: none
	onShard func(node, shard int, state string) // may be nil
	onMove  func(node, shard int, step string)  // may be nil

	mu    sync.Mutex
	asked map[string]map[string]bool // names of the nodes that have requested a host, by host
	pages int
	walks map[int]node.Walk      // the last one of each shard
	state map[[2]int]string      // last state of a shard, by node and shard
	lapse bool                   // a node has lost a lease, as may happen on a busy machine
	later map[int]*config.Config // by node: the new content of its file, if that has changed
}

func newTerrain(t *testing.T, cfg *config.Config, nodes, shards int) *terrain {
	t.Helper()
	tr := &terrain{
		t: t, cfg: cfg, shards: shards, faster: 10,
		asked: map[string]map[string]bool{}, walks: map[int]node.Walk{}, state: map[[2]int]string{},
	}
	for range nodes {
		tr.folders = append(tr.folders, t.TempDir())
	}
	tr.options = hub.Options{
		Open: true, Fresh: true, Listen: crawltest.Address(t), Store: filepath.Join(t.TempDir(), "hub"), Log: crawltest.Log(t),
	}
	tr.open()
	t.Cleanup(func() { tr.server.Close() })
	return tr
}

func (tr *terrain) open() {
	tr.t.Helper()
	var err error
	if tr.server, err = hub.Start(tr.options); err != nil {
		tr.t.Fatal(err)
	}
}

// lose makes the hub lose everything.
func (tr *terrain) lose() {
	tr.t.Helper()
	tr.options.Fresh = false
	if err := errors.Join(tr.server.Close(), os.RemoveAll(tr.options.Store)); err != nil {
		tr.t.Fatal(err)
	}
	tr.open()
}

// run runs a node until the run is over, or ctx is done.
func (tr *terrain) run(ctx context.Context, n int, cfg *config.Config) error {
	name := tr.name(n)
	conn, err := reach(ctx, hub.Dial{URL: tr.server.URL(), Node: name, Log: tr.options.Log})
	if err != nil {
		return err
	}
	defer conn.Close()
	load := func() (*config.Config, error) {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		own := *cfg // every node has its own files and limits
		if later := tr.later[n]; later != nil {
			own = *later
		}
		own.State.Path, own.Pages.Path, own.Network.MaxOpen = tr.folders[n]+"/ripple.bolt", tr.folders[n]+"/pages", 10+n
		return &own, nil
	}
	own, err := load()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return node.Run(ctx, node.Options{
		Stop: stop, Hub: conn, ID: tr.id(n), Name: name, Folder: tr.folders[n], Shards: tr.shards, MaxShards: tr.most[n],
		Config: own, Load: load,
		Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
		Log:  tr.options.Log.With("node", n), Timing: tr.timing(), Clock: lease.MachineClock(),
		Shared:    crawl.NewShared(0),
		OnRequest: func(_ int, q crawl.Request) { tr.note(name, q.URL) },
		OnCrawl: func(w node.Walk) node.Follower {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.walks[w.Shard] = w
			return unwatched{}
		},
		OnMove: func(shard int, step string) {
			if tr.onMove != nil {
				tr.onMove(n, shard, step)
			}
		},
		OnShard: func(shard int, state string) {
			tr.options.Log.Info("shard "+state, "node", n, "shard", shard)
			tr.becomes(n, shard, state)
			if tr.onShard != nil {
				tr.onShard(n, shard, state)
			}
		},
	})
}

func (tr *terrain) becomes(n, shard int, state string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.state[[2]int{n, shard}] = state
	tr.lapse = tr.lapse || state == "lost"
}

// stateOf returns the last state of a shard at a node.
func (tr *terrain) stateOf(n, shard int) string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.state[[2]int{n, shard}]
}

// lapsed reports whether a node has lost a lease.
func (tr *terrain) lapsed() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.lapse
}

// unlost repeats a test that a busy machine may spoil by losing a lease. Each attempt needs a terrain of its own.
func unlost(t *testing.T, f func() (lost bool)) {
	t.Helper()
	for range 10 {
		if !f() {
			return
		}
	}
	t.Fatal("a lease is lost each time")
}

// An unwatched crawl has a follower that does nothing.
type unwatched struct{}

func (unwatched) Status(context.Context) census.Status { return census.Status{} }
func (unwatched) Reconfigured(*config.Config)          {}
func (unwatched) End()                                 {}

func (tr *terrain) note(node, url string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	host := strings.TrimPrefix(strings.SplitN(url, "/", 4)[2], "www.")
	if tr.asked[host] == nil {
		tr.asked[host] = map[string]bool{}
	}
	tr.asked[host][node] = true
	tr.pages++
}

func (tr *terrain) requests() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.pages
}

// all runs every node to the end.
func (tr *terrain) all() {
	tr.t.Helper()
	ended := make(chan error)
	for n := range tr.folders {
		go func() { ended <- tr.run(tr.t.Context(), n, tr.cfg) }()
	}
	for range tr.folders {
		if err := <-ended; err != nil {
			tr.t.Fatal(err)
		}
	}
}

// merged returns the digest of the map, merged from all files.
func (tr *terrain) merged() string {
	tr.t.Helper()
	return tr.mergeInto(filepath.Join(tr.t.TempDir(), "merged.bolt"))
}

// mergeInto merges all files into a map at path, and returns its digest.
func (tr *terrain) mergeInto(path string) string {
	tr.t.Helper()
	var all []string
	for _, folder := range tr.folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.bolt"))
		if err != nil {
			tr.t.Fatal(err)
		}
		all = append(all, files...)
	}
	return crawltest.Merge(tr.t, path, all)
}

// apart fails for hosts that several nodes have requested.
func (tr *terrain) apart() {
	tr.t.Helper()
	for host, nodes := range tr.asked {
		if len(nodes) != 1 {
			tr.t.Errorf("%s was asked by %v", host, nodes)
		}
	}
}

func web(t *testing.T, seed uint64) *config.Config {
	t.Helper()
	s := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(s, seed, 7)
	return crawltest.Parse(t, crawltest.Config(t, s, `[crawler]
max-depth = 3
[politeness]
minimum-time-per-address = "0s"
[recrawl]
min-age = "0s"
`+crawltest.SeedsOfSites))
}

// alone crawls the same web with one machine for a number of runs, and returns the digest of its map. Nothing
// disturbs this machine, so it crawls as fast as the configuration allows.
func alone(t *testing.T, cfg *config.Config, runs int) string {
	t.Helper()
	fast := *cfg
	fast.Crawler.MinimumTimeOnPage = 100 * time.Millisecond
	path := filepath.Join(t.TempDir(), "whole.bolt")
	for range runs {
		store := crawltest.Open(t, path)
		c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: &fast, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Run(t.Context())
		if err != nil || !res.Walked {
			t.Fatalf("%+v, %v", res, err)
		}
		if err := errors.Join(c.Complete(), store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return crawltest.Digest(t, path)
}

// reach connects to a hub that may be slow to answer.
func reach(ctx context.Context, d hub.Dial) (*hub.Conn, error) {
	for tries := 0; ; tries++ {
		conn, err := hub.Connect(ctx, d)
		if !errors.Is(err, hub.ErrAway) || ctx.Err() != nil || tries == 100 {
			return conn, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// connect connects to the hub for a command.
func (tr *terrain) connect() *hub.Conn {
	tr.t.Helper()
	conn, err := reach(tr.t.Context(), hub.Dial{URL: tr.server.URL(), Node: "test", Log: tr.options.Log})
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(conn.Close)
	return conn
}

// patient repeats f while it fails because a busy machine is late, for at most a minute. late lists more such
// errors.
func patient(f func() error, late ...error) (err error) {
	late = append(late, context.DeadlineExceeded)
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		err = f()
		if !slices.ContainsFunc(late, func(l error) bool { return errors.Is(err, l) }) {
			return err
		}
	}
	return err
}

// bucket returns the bucket and the ID of the terrain.
func (tr *terrain) bucket(conn *hub.Conn) (b *hub.Bucket, id [16]byte) {
	tr.t.Helper()
	err := patient(func() error {
		of, err := node.Look(tr.t.Context(), conn)
		if err == nil {
			id = of.ID
			b, err = conn.Bucket(tr.t.Context(), id)
		}
		return err
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return b, id
}

// start starts a node. end stops it and returns its error; ended receives the error if it ends by itself.
func (tr *terrain) start(n int) (end func() error, ended <-chan error) {
	ctx, cancel := context.WithCancel(tr.t.Context())
	over := make(chan error, 1)
	go func() { over <- tr.run(ctx, n, tr.cfg) }()
	return func() error { cancel(); return <-over }, over
}

func (tr *terrain) name(n int) string {
	if tr.alike {
		n = 0
	}
	return fmt.Sprintf("node %d", n)
}

func (tr *terrain) id(n int) string {
	if tr.twins {
		n = 0
	}
	return fmt.Sprintf("id of %d", n)
}

func (tr *terrain) timing() lease.Timing {
	t := crawltest.Timing(tr.faster)
	if tr.long {
		t.Trust, t.Watch = 10*time.Minute, 12*time.Minute
	}
	return t
}

// works waits for more requests.
func (tr *terrain) works(more int) {
	tr.t.Helper()
	for before := tr.requests(); tr.requests() < before+more; {
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// ends waits until nodes have reached the end of the run. The other nodes would wait for one that fails.
func (tr *terrain) ends(nodes ...<-chan error) {
	tr.t.Helper()
	all := make(chan error, len(nodes))
	for n, ended := range nodes {
		go func() {
			err := <-ended
			if err != nil {
				err = fmt.Errorf("node %d: %w", n, err)
			}
			all <- err
		}()
	}
	for range nodes {
		if err := <-all; err != nil {
			tr.t.Fatal(err)
		}
	}
}

// same compares the map with that of a single machine.
func (tr *terrain) same(runs int) {
	tr.t.Helper()
	if got, want := tr.merged(), alone(tr.t, tr.cfg, runs); got != want {
		tr.t.Errorf("digest %s, want %s", got, want)
	}
}

// shardOf returns a shard whose file a node has.
func (tr *terrain) shardOf(n int) int {
	tr.t.Helper()
	files, err := filepath.Glob(filepath.Join(tr.folders[n], "shard-*.bolt"))
	if err != nil || len(files) == 0 {
		tr.t.Fatalf("node %d has no file: %v", n, err)
	}
	return int(files[0][len(files[0])-6] - '0')
}

func (tr *terrain) file(n, shard int) string {
	return filepath.Join(tr.folders[n], "shard-00"+string(rune('0'+shard))+".bolt")
}

func (tr *terrain) move(from, to string) {
	tr.t.Helper()
	if err := os.Rename(from, to); err != nil {
		tr.t.Fatal(err)
	}
}

// until waits until is returns true for a shard.
func (tr *terrain) until(what string, conn *hub.Conn, is func(node.Shard) bool) {
	tr.t.Helper()
	var last []node.Shard
	for began := time.Now(); time.Since(began) < time.Minute; {
		t, err := node.Look(tr.t.Context(), conn)
		if err == nil && slices.ContainsFunc(t.Shards, is) {
			return
		}
		if err == nil {
			last = t.Shards
		}
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
	for _, s := range last {
		tr.t.Logf("%+v, it answers: %t", s, s.Report != nil)
	}
	tr.t.Fatal("no shard: " + what)
}

func sleep(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endOf returns how the first run of a shard ended.
func (tr *terrain) endOf(n, shard int) (end schema.End) {
	tr.read(tr.file(n, shard), func(runs []schema.Run) { end = runs[0].End })
	return end
}

// runs returns how many runs the files of a node record. All files must record equally many.
func (tr *terrain) runs(n int) (count int) {
	tr.t.Helper()
	files, err := filepath.Glob(filepath.Join(tr.folders[n], "shard-*.bolt"))
	if err != nil {
		tr.t.Fatal(err)
	}
	for i, path := range files {
		tr.read(path, func(runs []schema.Run) {
			if i > 0 && len(runs) != count {
				tr.t.Errorf("%s knows of %d runs, another file of %d", path, len(runs), count)
			}
			count = len(runs)
		})
	}
	return count
}

func (tr *terrain) read(path string, f func([]schema.Run)) {
	tr.t.Helper()
	crawltest.View(tr.t, path, func(_ *kv.Store, tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		f(runs)
		return err
	})
}
