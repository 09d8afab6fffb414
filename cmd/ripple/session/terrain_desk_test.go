package session

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
)

// The desk of a hub without a terrain, or of one that is away, says so.
func TestTerrainDeskSeesNothing(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	server, err := hub.Start(hub.Options{Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { server.Close() }()
	cfg := &config.Config{Cluster: config.Cluster{Hub: server.URL(), Folder: "terrain"}}
	d := NewTerrainDesk(cfg, func() (*config.Config, error) { return cfg, nil })
	if d.Look.Conn, err = hub.Connect(t.Context(), hub.Dial{URL: server.URL(), Log: log}); err != nil {
		t.Fatal(err)
	}
	defer d.Look.Conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return d.Look.Follow(ctx) })
	defer func() { cancel(); _ = g.Wait() }() // it cannot fail
	expect := func(what string) {
		t.Helper()
		var s DeskTerrain
		for range 100 {
			if s = d.Now(ctx); strings.Contains(s.Error, what) {
				break
			}
		}
		if !strings.Contains(s.Error, what) || s.Status != "unknown" ||
			s.Stats != nil || s.Seen != nil || s.Notes == nil {
			t.Errorf("it says %+v, want %q", s, what)
		}
		var refused *control.Error
		if _, err := d.Stats(ctx, desk.Query{}); !errors.As(err, &refused) ||
			refused.Code != http.StatusServiceUnavailable {
			t.Errorf("asked for the shards: %v", err)
		}
		text, err := d.Metrics(ctx)
		if err != nil || !strings.Contains(string(text), "ripple_terrain_seen_timestamp_seconds 0\n") ||
			strings.Contains(string(text), "ripple_terrain_nodes ") {
			t.Errorf("%v, %s", err, text)
		}
	}
	expect("knows no terrain")
	if _, err := d.Tell(ctx, "pause"); err == nil || !strings.Contains(err.Error(), "knows no terrain") {
		t.Errorf("pause: %v", err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for strings.Contains(d.Now(ctx).Error, "knows no terrain") {
		time.Sleep(20 * time.Millisecond)
	}
	expect("")
	if s := d.Now(ctx); s.Error == "" {
		t.Error("it does not say that the hub is away")
	}
}
