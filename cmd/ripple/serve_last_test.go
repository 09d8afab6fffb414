package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// Whoever looks on at a crawl's own desk sees its last visits, too: each that the file has,
// once.
func TestCrawlTellsItsLast(t *testing.T) {
	t.Parallel()
	const gap = 15 * time.Second // in which the stream is opened, or is told what it has missed
	c := startPaced(t, gap, "--listen", "127.0.0.1:0")
	d := newTestDesk(t, c.desk())
	lines := d.events()
	var told []string
	next := func() bool {
		if !lines.Scan() {
			return false
		}
		var e struct {
			Visits []struct{ URL, State string }
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			for _, v := range e.Visits {
				told = append(told, v.URL+" "+v.State)
			}
		}
		return true
	}
	for found := false; !found; found = lines.Text() == "event: status" {
		if !next() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
	}
	c.pace(gap, 100*time.Millisecond)
	// When the time that it waits is over, it is soon done.
	if code, text := d.send("reload", "{}"); code != http.StatusOK {
		t.Fatalf("reload: %d %s", code, text)
	}
	for next() {
	}
	if code := c.wait(); code != 0 {
		t.Errorf("the crawl ended with %d: %s", code, c.told())
	}
	whole, _ := readFeed(t, []string{"feed", "--state", filepath.Join(c.dir, "ripple.bolt")}, false)
	if diff := cmp.Diff(whole, told); len(whole) == 0 || diff != "" {
		t.Errorf("the stream does not tell what the file has: %s", diff)
	}
}

// Whoever is far behind a crawl that writes its outputs is told the visits that it holds,
// and how many it does not. Programs, which are to miss none, are told that they must wait.
func TestFarBehindWrittenOutputs(t *testing.T) {
	const behind = 10
	world := surveytest.New(t, surveytest.Minimal)
	for i := range serve.KeptVisits + behind {
		world.Visit(fmt.Sprintf("a.test/%d", i), nil)
	}
	cfg := *world.Config
	cfg.State.Path = filepath.Join(t.TempDir(), "ripple.bolt")
	w := session.NewWalk(term.NewVoice(io.Discard), "", &cfg)
	w.Store = world.Store
	w.Watcher = census.NewWatcher(nil, &w.Cfg, world.Run)
	w.KeepEnd()
	w.Writing.Store(true)
	close(w.Begun)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	w.Listen(ctx, &g)
	live := &serve.LiveCrawl{Client: &control.Client{State: cfg.State.Path}}
	for since, want := range map[uint64][2]int{
		0: {serve.KeptVisits, behind}, behind: {serve.KeptVisits, 0}, behind + 1: {serve.KeptVisits - 1, 0},
	} {
		b, err := live.Feed(t.Context(), since)
		if err != nil {
			t.Errorf("after %d: %v", since, err)
			continue
		}
		if got := [2]int{len(b.Lines), int(b.Omitted)}; got != want || b.Next != serve.KeptVisits+behind {
			t.Errorf("after %d, until %d: %d visits, %d omitted; want %d", since, b.Next, got[0], got[1], want)
		}
	}
	if err := live.Client.Get(t.Context(), serve.FeedQuery{Brief: true}.String(), nil); err == nil || err.Error() != serve.ErrWriting.Text {
		t.Errorf("a program is told %v", err)
	}
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// A desk reads the shards in a folder again though nothing has come into it or gone.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shard.bolt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(path string) fs.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	write("one")
	one, folder := look(file), look(dir)
	if !serve.Unchanged(one, look(file)) {
		t.Error("a file has changed by itself")
	}
	write("other")
	if serve.Unchanged(one, look(file)) || serve.Unchanged(folder, look(dir)) {
		t.Error("what has changed is taken for what was read")
	}
}
