package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A shard that is taken after a change of the configuration reports its progress under the new one,
// not under the one with which the node was started.
func TestShardUnderAnotherConfiguration(t *testing.T) {
	was := crawltest.Parse(t, "[crawler]\nmax-pages = 1\n"+surveytest.Minimal)
	text := surveytest.Minimal + "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\", \"https://b.test/2\"]\n"
	cfg := crawltest.Parse(t, text)
	v := newNodeView(term.NewVoice(io.Discard), "", was, Options{})
	crawled := crawledShardOf(t, v, cfg, filepath.Join(t.TempDir(), "s.bolt"))
	if s := crawled.Status(t.Context()); s.PagesToVisit != 3 {
		t.Errorf("%d pages are to be visited, want 3", s.PagesToVisit)
	}
}

// crawledShardOf returns the only shard of a terrain. A node crawls it under a configuration until
// the test ends. No request is sent.
func crawledShardOf(t *testing.T, v *nodeView, cfg *config.Config, path string) node.Follower {
	t.Helper()
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closes := v.file(0, path, store)
	ctx, cancel := context.WithCancel(t.Context())
	walk, begun, err := crawl.Begin(ctx, store, crawl.Options{
		Config: cfg, Log: v.voice.Logger(), Shared: v.shared, Paused: true, Shard: &crawl.Shard{Part: schema.Part{
			Terrain: [16]byte{1}, Rule: shard.Version, Shards: 1, Run: 1, Configuration: 1,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := v.crawl(node.Walk{Path: path, Store: store, Crawl: walk, Run: begun.Run, Config: cfg})
	var g errgroup.Group
	g.Go(func() error { _, err := walk.Run(ctx); return err })
	t.Cleanup(func() {
		cancel()
		err := g.Wait()
		f.End()
		closes()
		if err := errors.Join(err, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// A shard whose crawl has ended is shown with its final status, not with the last one seen.
func TestShardThatHasEnded(t *testing.T) {
	cfg, _, err := config.Parse([]byte(surveytest.Minimal), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := newNodeView(term.NewVoice(io.Discard), "", cfg, Options{})
	t.Cleanup(func() {
		text, err := v.desk.Metrics(context.Background())
		if want := `ripple_hosts{condition="given_up",shard="0"} 1`; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s\n%v", want, text, err)
		}
	})
	crawled := crawledShardOf(t, v, cfg, filepath.Join(t.TempDir(), "s.bolt"))
	crawled.Status(t.Context())
	err = crawled.(*Shard).crawl.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(1)
		if err == nil {
			h.Run, h.RunGivenUp = 1, schema.GaveUpConnection
			tx.Hosts.Put(h)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A folder whose shards are being crawled has a running run, and one whose machine was killed an
// interrupted run.
func TestFolderIsCrawled(t *testing.T) {
	cfg := crawltest.Parse(t, surveytest.Minimal)
	folder, killed := t.TempDir(), t.TempDir()
	from := statefile.Files{Voice: term.NewVoice(io.Discard)}
	path := filepath.Join(folder, "shard-000.bolt")
	crawledShardOf(t, newNodeView(from.Voice, "", cfg, Options{}), cfg, path)
	copied, remove, err := from.CopyCrawled(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if err := os.Link(copied, filepath.Join(killed, "shard-000.bolt")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]schema.RunStatus{folder: schema.RunRunning, killed: schema.RunInterrupted} {
		r, err := from.Read(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Run().Status; got != want || !r.Open { // a request may be open, in either case
			t.Errorf("the run is %s, want %s; a request may be open: %v", got, want, r.Open)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
