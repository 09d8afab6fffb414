// Package rippletest provides crawled state files for the tests of the packages below cmd/ripple.
package rippletest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

const verifyConfig = `
[crawler]
max-depth = 2
minimum-time-on-page = 100
max-concurrent-pages-open = 16
[user-agent]
crawler-name = "VerifyBot"
[state]
path = "state.bolt"
[output]
database-path = "terrain.db"
[network]
ca-file = %q
connect-to = { "*.test" = %q }
[[quality]]
domain = "h0.gen.test"
seeds = ["https://h0.gen.test/"]
[[quality]]
domain = "h1.gen.test"
seeds = ["https://h1.gen.test/"]
`

// generated is the small web.
func generated() webtest.GenConfig {
	return webtest.GenConfig{Domain: "gen.test", Hosts: 8, Pages: 8, Links: 10, Hrefs: 12, Size: 1500,
		Leave: 0.4, Redirects: 0.1, Dead: 0.05}
}

// Crawled crawls a small web to its end and returns the path of the configuration. The state is state.bolt in the same
// folder.
func Crawled(t testing.TB, seed uint64) string {
	t.Helper()
	path, walked := CrawledFor(t, seed, 5*time.Minute)
	if !walked {
		t.Fatal("the crawl has not come to its end")
	}
	return path
}

// CrawledKept is like Crawled, with a page store, of a web without redirects and dead links, which it would not hold.
func CrawledKept(t testing.TB, seed uint64) string {
	t.Helper()
	whole := generated()
	whole.Redirects, whole.Dead = 0, 0
	path, walked := crawledFor(t, seed, 5*time.Minute, whole, verifyConfig+"[pages]\nkeep = true\npath = \"pages\"\n")
	if !walked {
		t.Fatal("the crawl has not come to its end")
	}
	return path
}

// CrawledWhole is like Crawled, with a completed run.
func CrawledWhole(t testing.TB, seed uint64) string {
	t.Helper()
	path := Crawled(t, seed)
	cfg, _, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	store := crawltest.Open(t, cfg.State.Path)
	err = store.Update(func(tx *kv.Tx) error {
		run, err := tx.Runs.At(1)
		run.Status = schema.RunCompleted
		return errors.Join(err, tx.Runs.Put(run))
	})
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// CrawledFor is like Crawled, but interrupts the crawl after a time. It reports whether the crawl ended before.
func CrawledFor(t testing.TB, seed uint64, limit time.Duration) (path string, walked bool) {
	t.Helper()
	return crawledFor(t, seed, limit, generated(), verifyConfig)
}

func crawledFor(t testing.TB, seed uint64, limit time.Duration, web webtest.GenConfig, text string) (path string,
	walked bool) {
	t.Helper()
	s, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Generate(seed, web)
	dir := t.TempDir()
	ca, err := s.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, fmt.Appendf(nil, text, ca, s.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(cfg.State.Path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	log := slog.New(slog.DiscardHandler)
	c, _, err := crawl.Begin(ctx, store, crawl.Options{Config: cfg, Log: log})
	if err == nil {
		var r crawl.Result
		r, err = c.Run(ctx)
		walked = r.Walked
	}
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	return path, walked
}

// Copy copies a file.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// NewShards makes the empty files of two shards in a folder.
func NewShards(t testing.TB, dir string) {
	t.Helper()
	for n := range 2 {
		store, err := kv.Open(filepath.Join(dir, "shard-"+strconv.Itoa(n)+".bolt"), kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = store.Update(func(tx *kv.Tx) error {
			return tx.Part.Put(schema.Part{Rule: shard.Version, Shard: n, Shards: 2})
		})
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
