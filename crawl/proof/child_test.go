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
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// What makes the test binary a crawler, for a test that kills or watches it.
const (
	envConfig = "RIPPLE_TEST_CONFIG" // what it crawls
	envWatch  = "RIPPLE_TEST_WATCH"  // what it says while it does: "commits", "growth" or "network"
	envNoSync = "RIPPLE_TEST_NOSYNC" // it leaves its file to the cache
	envAnew   = "RIPPLE_TEST_ANEW"   // it reclassifies, and asks nobody
	envLog    = "RIPPLE_TEST_LOG"    // the file that it logs to, as JSON
	envFiles  = "RIPPLE_TEST_FILES"  // how many descriptors it may have
	envLater  = "RIPPLE_TEST_LATER"  // how many from the moment that it begins to crawl
	envResolv = "RIPPLE_TEST_RESOLV" // the file that it reads in place of resolv.conf, in a mount namespace of its own
	envHub    = "RIPPLE_TEST_HUB"    // the store of a hub, which it is, beside a node or alone
	envFaster = "RIPPLE_TEST_FASTER" // how many times faster than real leases a node's are
	envFresh  = "RIPPLE_TEST_FRESH"  // a node takes shards that nobody has had, and watches them for a moment only
	envDies   = "RIPPLE_TEST_DIES"   // a node is killed as soon as it crawls
	envMeets  = "RIPPLE_TEST_MEETS"  // the file in which a node says what URLs commits hold
)

func TestMain(m *testing.M) {
	path, store := os.Getenv(envConfig), os.Getenv(envHub)
	if path == "" && store == "" {
		sidebyside.Tests(12) // they pass their time with networks that are away, and between kills
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

// child is a crawler that has not been started.
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log, err := childLog()
	if err != nil {
		return errors.Join(err, store.Close())
	}
	machine := crawl.NewMachine(0)
	gctune.Collect(gctune.Crawl(machine.Crawls))
	machine.LimitMemory(debug.SetMemoryLimit(-1)) // that of GOMEMLIMIT
	c, _, err := crawl.Begin(ctx, store, crawl.Options{Config: cfg, Log: log, Machine: machine})
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

// watch says between two commits how the crawl is, until it has ended.
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

// sayNetwork says whenever its status says something else of the network.
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

// boltOf reaches the database of a store, to break a promise of it.
func boltOf(store *kv.Store) *bbolt.DB {
	field := reflect.ValueOf(store).Elem().FieldByName("db")
	return *(**bbolt.DB)(unsafe.Pointer(field.UnsafeAddr()))
}
