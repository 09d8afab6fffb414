package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// hubAsChild runs a hub at any port, which it prints in a line, until it is killed or interrupted.
func hubAsChild(store string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := hub.Start(hub.Options{
		Open: true, Fresh: os.Getenv(envUnused) != "", Listen: "127.0.0.1:0", Store: store, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	return errors.Join(s.Wait(ctx), s.Close())
}

// nodeAsChild runs a node of a terrain, and possibly its hub as well. It prints the events of its
// shards in lines.
func nodeAsChild(cfg *config.Config) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	timing := crawltest.Timing(1)
	if faster, err := strconv.Atoi(os.Getenv(envFaster)); err == nil {
		timing = crawltest.Timing(faster)
	}
	if os.Getenv(envFresh) != "" {
		timing.Watch = time.Second
	}
	shared := crawl.NewShared(cfg.MaxOpen())
	gctune.Collect(gctune.Crawl(shared.Crawls))
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if store := os.Getenv(envHub); store != "" {
		s, err := hub.Start(hub.Options{Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: store, Log: log})
		if err != nil {
			return err
		}
		defer s.Close()
		cfg.Cluster.Hub = s.URL()
	}
	conn, err := reach(ctx, hub.Dial{URL: cfg.Cluster.Hub, Node: cfg.Cluster.Folder, Log: log})
	if err != nil {
		return err
	}
	defer conn.Close()
	id, err := node.Identify(cfg.Cluster.Folder)
	if err != nil {
		return err
	}
	options := node.Options{
		Hub: conn, ID: id, Name: cfg.Cluster.Folder, Folder: cfg.Cluster.Folder, Shards: cfg.Cluster.Shards,
		MaxShards: cfg.Cluster.MaxShards, Config: cfg, Load: func() (*config.Config, error) { return cfg, nil },
		Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
		Log:  log, Timing: timing, Clock: lease.MachineClock(), Shared: shared,
		OnShard: sayShard, OnMove: sayMove, OnCrawl: func(node.Walk) node.Follower { return nobody{} },
	}
	if path := os.Getenv(envMeets); path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		options.OnCommit = (&meetings{out: f}).committed // the process closes it
	}
	defer func() {
		messages, bytes := conn.Traffic()
		fmt.Printf("traffic: %d messages of %d bytes\n", messages, bytes)
	}()
	for {
		err := node.Run(ctx, options)
		if err == nil || !strings.HasPrefix(err.Error(), "bucket ") {
			return err
		}
		log.Warn("the hub is away for longer than is waited for", "error", err)
	}
}

// The beginnings of a line of [meetings].
const (
	met  = "met"  // a fetched page links to the URL
	told = "told" // another shard has sent it
)

// meetings are a file of lines that say when a URL was first in a commit of a node's shards, in ns.
type meetings struct {
	mu  sync.Mutex
	out *os.File
}

func (m *meetings) committed(_ int, c crawl.Commit) {
	now := time.Now().UnixNano()
	var b bytes.Buffer
	for i := range c.Outcomes {
		if page := c.Outcomes[i].Page; page != nil {
			for _, link := range page.Links {
				fmt.Fprintln(&b, met, now, link.URL.Norm)
			}
		}
	}
	for _, ref := range c.Told {
		fmt.Fprintln(&b, told, now, ref.URL)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.out.Write(b.Bytes()); err != nil {
		panic(err)
	}
}

// reach connects to a hub that may be away at the moment.
func reach(ctx context.Context, d hub.Dial) (*hub.Conn, error) {
	for {
		conn, err := hub.Connect(ctx, d)
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		d.Log.Warn("the hub is not reached", "error", err)
		time.Sleep(50 * time.Millisecond)
	}
}

func sayShard(n int, state string) {
	fmt.Printf("shard %d: %s\n", n, state)
	if state == "crawling" && os.Getenv(envDies) != "" {
		die()
	}
}

func sayMove(n int, step string) {
	fmt.Printf("shard %d: move: %s\n", n, step)
	if step == os.Getenv(envMoves) {
		die()
	}
}

func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err) // it is dead
}

// nobody is a follower that ignores the crawl.
type nobody struct{}

// Status implements [node.Follower].
func (nobody) Status(context.Context) census.Status { return census.Status{} }

// Reconfigured implements [node.Follower].
func (nobody) Reconfigured(*config.Config) {}

// End implements [node.Follower].
func (nobody) End() {}
