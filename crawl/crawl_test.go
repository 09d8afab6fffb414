package crawl_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// parse reads a configuration for a web that is served on loopback.
func parse(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text), t.TempDir(), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func newServer(t testing.TB, opts ...webtest.Option) *webtest.Server {
	t.Helper()
	s, err := webtest.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openStore(t testing.TB, path string) *kv.Store {
	t.Helper()
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// walk crawls until the end, which must come within a minute.
func walk(t testing.TB, store *kv.Store, cfg *config.Config) crawl.Result {
	t.Helper()
	return walkFor(t, store, cfg, time.Minute)
}

func walkFor(t testing.TB, store *kv.Store, cfg *config.Config, limit time.Duration) crawl.Result {
	t.Helper()
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: cfg, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
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
	s := newServer(t)
	webtest.Demo(s)
	dir := t.TempDir()
	ca, err := s.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := parse(t, webtest.DemoConfig(s.Addr(), ca, dir))
	store := openStore(t, filepath.Join(dir, "state.bolt"))
	res := walk(t, store, cfg)
	if !res.Walked {
		t.Fatalf("the walk ended early: %s", res.Reason)
	}
	states := map[string]int{}
	err = store.View(func(tx *kv.Tx) error {
		return tx.EachVisit(1, func(v *schema.Visit) (bool, error) {
			norm, _ := tx.Norm(v.URL)
			states[fmt.Sprintf("%d %s", store.Kind(v.URL), v.State)]++
			t.Log(norm, v.State, v.Status, v.Error, v.Rule, len(v.Links))
			return true, nil
		})
	})
	t.Log(states, res.Run.Requests, res.Run.Errors, store.URLs(), store.Hosts(), err)
	for _, bad := range webtest.CheckLog(s.Log(), webtest.MinGap(100*time.Millisecond, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst()) {
		t.Error(bad)
	}
}
