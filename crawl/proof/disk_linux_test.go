package proof

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A spy passes lines on as they are written.
type spy chan string

func (s spy) Write(line []byte) (int, error) {
	s <- string(line)
	return len(line), nil
}

// TestSmallDisk crawls on a file system of 96 MB that another writer fills, and frees again once
// the crawl says that it is waiting.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	dir := crawltest.SmallDisk(t, "96m")
	w := generatedWeb(t, 5, 8, 8)
	cfg, _, err := config.Load(w.config)
	if err != nil {
		t.Fatal(err)
	}
	path, filler := filepath.Join(dir, "state.bolt"), filepath.Join(dir, "filler")
	store := crawltest.Open(t, path)
	if err := os.WriteFile(filler, make([]byte, 50<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := make(spy, 1000)
	c, _, err := crawl.Begin(t.Context(), store,
		crawl.Options{Config: cfg, Log: slog.New(slog.NewTextHandler(lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for line := range lines {
			if strings.Contains(line, "waits until there is room") {
				_ = os.Remove(filler)
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := c.Run(ctx)
	if err != nil || !res.Walked {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := os.Stat(filler); err == nil {
		t.Error("the crawl never rested")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	crawltest.Verify(t, path)
	whole := generatedWeb(t, 5, 8, 8)
	whole.crawl(t, 0)
	if crawltest.Digest(t, path) != crawltest.Digest(t, whole.state) {
		t.Error("the map differs after a full disk")
	}
}
