package crawl_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/demo"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(envServer) != "" {
		if err := serveAsChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	disktest.InMemory()
	sidebyside.Tests(10)
	goleak.VerifyTestMain(m)
}

// stateFile returns the path of a test's state file.
func stateFile(t testing.TB) string { return filepath.Join(t.TempDir(), "state.bolt") }

// crawled returns the state of a web that was crawled to the end.
func crawled(t testing.TB, s *webtest.Server, text string) *kv.Store {
	t.Helper()
	store := crawltest.Open(t, stateFile(t))
	res := walk(t, store, crawltest.Parse(t, crawltest.Config(t, s, text)))
	if !res.Walked {
		t.Fatalf("the walk ended early: %s", res.Run.End)
	}
	return store
}

// walk crawls to the end, which must come within five minutes.
func walk(t testing.TB, store *kv.Store, cfg *config.Config) crawl.Result {
	t.Helper()
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	res, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Complete(); err != nil {
		t.Fatal(err)
	}
	return res
}

func TestDemoWeb(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	demo.Serve(s)
	dir := t.TempDir()
	ca, err := s.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := crawltest.Open(t, filepath.Join(dir, "state.bolt"))
	res := walk(t, store, crawltest.Parse(t, demo.Config(s.Addr(), ca, dir)))
	if !res.Walked {
		t.Fatalf("the walk ended early: %s", res.Run.End)
	}
	rules := []webtest.Rule{webtest.MinGap(100*time.Millisecond, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(s.Log(), rules...) {
		t.Error(bad)
	}
}
