package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"runtime/debug"
	"testing"
	"time"
	"unsafe"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

// Variables that make the test binary a crawler, for a test that kills or watches it.
const (
	envConfig = "RIPPLE_TEST_CONFIG" // path of the configuration to crawl
	envWatch  = "RIPPLE_TEST_WATCH"  // what it prints meanwhile: "commits", "growth" or "network"
	envNoSync = "RIPPLE_TEST_NOSYNC" // it does not sync its file
	envAnew   = "RIPPLE_TEST_ANEW"   // it reclassifies, and sends no request
	envImport = "RIPPLE_TEST_IMPORT" // page store that it imports; it sends no request
	envLog    = "RIPPLE_TEST_LOG"    // log file, in JSON
	envFiles  = "RIPPLE_TEST_FILES"  // limit of descriptors
	envLater  = "RIPPLE_TEST_LATER"  // limit of descriptors from the moment at which it begins to crawl
	envResolv = "RIPPLE_TEST_RESOLV" // file that replaces resolv.conf, in a mount namespace of its own
	envHub    = "RIPPLE_TEST_HUB"    // store of the hub that it runs, next to a node or alone
	envUnused = "RIPPLE_TEST_UNUSED" // nobody has used the hub before
	envFaster = "RIPPLE_TEST_FASTER" // how many times faster than real leases those of a node are
	envFresh  = "RIPPLE_TEST_FRESH"  // a node takes shards that no node has had, and watches them only briefly
	envDies   = "RIPPLE_TEST_DIES"   // a node is killed as soon as it crawls
	envMoves  = "RIPPLE_TEST_MOVES"  // a node is killed after this step of a move of a shard
	envMeets  = "RIPPLE_TEST_MEETS"  // file in which a node records the URLs in its commits
)

func TestMain(m *testing.M) {
	path, store := os.Getenv(envConfig), os.Getenv(envHub)
	if path == "" && store == "" {
		disktest.InMemory()
		crawltest.WithoutSystemRoots()
		sidebyside.Tests(12) // these tests mostly wait, for networks and between kills
		goleak.VerifyTestMain(m)
		return
	}
	be := crawlAsChild
	if path == "" {
		be, path = hubAsChild, store
	}
	if err := be(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child returns a crawler that has not been started.
func child(config string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), envConfig+"="+config), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

func crawlAsChild(path string) error {
	if err := errors.Join(useResolvConf(os.Getenv(envResolv)), limitDescriptors(envFiles)); err != nil {
		return err
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return err
	}
	if cfg.Cluster.Hub != "" {
		return nodeAsChild(cfg)
	}
	store, err := kv.Open(cfg.State.Path, kv.Options{})
	if err != nil {
		return err
	}
	if os.Getenv(envNoSync) != "" {
		boltOf(store).NoSync, boltOf(store).NoGrowSync = true, true
	}
	if os.Getenv(envAnew) != "" {
		_, err := crawl.Reclassify(store, cfg)
		return errors.Join(err, store.Close())
	}
	if pages := os.Getenv(envImport); pages != "" {
		return errors.Join(importAsChild(store, cfg, pages), store.Close())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log, err := childLog()
	if err != nil {
		return errors.Join(err, store.Close())
	}
	shared := crawl.NewShared(0)
	gctune.Collect(gctune.Crawl(shared.Crawls))
	shared.LimitMemory(debug.SetMemoryLimit(-1)) // the limit of GOMEMLIMIT
	c, _, err := crawl.Begin(ctx, store, crawl.Options{Config: cfg, Log: log, Shared: shared})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	if err := limitDescriptors(envLater); err != nil {
		return errors.Join(err, store.Close())
	}
	watched := make(chan struct{})
	go watch(c, watched)
	res, err := c.Run(ctx)
	<-watched
	if err == nil && res.Walked {
		err = c.Complete()
	}
	return errors.Join(err, store.Close())
}

func childLog() (*slog.Logger, error) {
	path := os.Getenv(envLog)
	if path == "" {
		return slog.New(slog.DiscardHandler), nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return slog.New(slog.NewJSONHandler(f, nil)), nil // the process closes it
}

// watch prints the state of the crawl between two commits, until it has ended.
func watch(c *crawl.Crawl, ended chan<- struct{}) {
	defer close(ended)
	say, every := sayCommits, 5*time.Millisecond
	switch os.Getenv(envWatch) {
	case "":
		return
	case "growth":
		say, every = sayGrowth, 500*time.Millisecond
	case "network":
		sayNetwork(c)
		return
	}
	for range time.Tick(every) {
		if c.Query(say) != nil {
			return
		}
	}
}

// sayNetwork prints every change of the network in the status.
func sayNetwork(c *crawl.Crawl) {
	for was := false; ; time.Sleep(20 * time.Millisecond) {
		st, err := c.Status()
		if err != nil {
			return
		}
		if away := !st.Away.IsZero(); away != was {
			was = away
			fmt.Println("away:", away)
		}
	}
}

// boltOf returns the database of a store, to break one of its promises.
func boltOf(store *kv.Store) *bbolt.DB {
	field := reflect.ValueOf(store).Elem().FieldByName("db")
	return *(**bbolt.DB)(unsafe.Pointer(field.UnsafeAddr()))
}
