//go:build !windows

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	shards "github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/split"
)

// A crawl of one machine is killed, its file is split, and three machines continue the run. The map is that of one
// machine that was never disturbed.
func TestSplitForMachines(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	machines, alone := newMachines(t, server.URL(), 3, 12)
	state := filepath.Join(filepath.Dir(alone), "alone.bolt")
	one := &machine{t: t, config: alone}
	one.start()
	if !rippletest.Soon(func() bool {
		out, err := ripple("stats", "--state", state).CombinedOutput()
		return err == nil && strings.Contains(string(out), " pages visited")
	}) {
		t.Fatalf("nothing is visited: %s", one.said)
	}
	one.signal(syscall.SIGKILL)
	one.end()
	parts := filepath.Join(t.TempDir(), "parts")
	if out, err := ripple("split", state, "--shards", "4", "-o", parts).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := filepath.Join(t.TempDir(), "whole.bolt")
	if out, err := ripple("merge", parts, "-o", whole).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := crawltest.Digest(t, whole), crawltest.Digest(t, state); got != want {
		t.Errorf("after the split the digest is %s, want %s", got, want)
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		folder := machines[n%3].folder()
		if err := errors.Join(os.MkdirAll(folder, 0o777),
			os.Rename(shards.FilePath(parts, n), shards.FilePath(folder, n))); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range machines {
		m.start()
	}
	sameAsAlone(t, alone, machines...)
}

// A split that is killed at random moments never leaves a site to be crawled in two places, and ends with the map of
// the file.
func TestKilledWhileSplitting(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Generate(3, webtest.GenConfig{Domain: "test", Hosts: 16, Pages: 30, Links: 8, Size: 400, Leave: 0.4})
	config, state := crawltest.Files(t, s, crawltest.SeedsOfSites)
	if out, err := ripple("crawl", "-q", config).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, parts := crawltest.Digest(t, state), filepath.Join(t.TempDir(), "parts")
	random, kills := rand.New(rand.NewPCG(crawltest.Seed(t), 1)), 0
	for done := false; !done; {
		cmd := ripple("split", state, "--shards", "3", "-o", parts, "-q")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.IntN(40*(kills+2)))*time.Millisecond, func() { cmd.Process.Kill() })
		done = cmd.Wait() == nil
		timer.Stop()
		if !done {
			kills++
		}
		if kills > 200 {
			t.Fatal("no split ends")
		}
		crawltest.Verify(t, state)
		store := crawltest.Open(t, state)
		refused := split.Refuse(store)
		store.Close()
		if _, err := os.Stat(parts); err == nil {
			if done = true; !errors.Is(refused, split.ErrSplit) {
				t.Fatalf("the shards are there, and the file is not refused: %v", refused)
			}
		}
	}
	if rest, err := filepath.Glob(parts + "?*"); len(rest) > 0 || err != nil {
		t.Errorf("%q are left, %v", rest, err)
	}
	var files []string
	for n := range 3 {
		files = append(files, shards.FilePath(parts, n))
	}
	if got := crawltest.Merge(t, filepath.Join(t.TempDir(), "whole.bolt"), files); got != want || kills == 0 {
		t.Errorf("after %d kills the digest is %s, want %s", kills, got, want)
	}
	if entries, err := os.ReadDir(parts); len(entries) != 3 {
		t.Errorf("%v are there, %v", fmt.Sprint(entries), err)
	}
}
