package command

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A crawl in this process leaves no goroutine, socket or temporary file behind.
func TestCrawlLeavesNothing(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	dir := t.TempDir()
	web := rippletest.NewWeb(t)
	path := rippletest.WriteConfig(t, web, dir, false)
	var out, told bytes.Buffer
	if err := New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	web.Close()
	var left error
	if !rippletest.Soon(func() bool { left = goleak.Find(leaks); return left == nil }) {
		t.Error(left)
	}
	if out.Len() > 0 {
		t.Errorf("a crawl has no result on stdout: %s", out.String())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 6 { // config, certificate, state, database, summary, report
		t.Errorf("the folder holds %q", files)
	}
}

// A crawl can be stopped as soon as its state is locked. Other requests wait, with the message that
// it is starting.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "start") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	web := rippletest.NewWeb(t)
	path, state := rippletest.WriteConfig(t, web, dir, false), filepath.Join(dir, "ripple.bolt")
	told := &heldWriter{held: make(chan struct{}), release: make(chan struct{})}
	var g errgroup.Group
	g.Go(func() error {
		return New(io.Discard, told).Run(context.Background(), []string{"crawl", path})
	})
	<-told.held // it says which run begins, and has not begun it yet
	var said bytes.Buffer
	if err := New(io.Discard, &said).Run(t.Context(), []string{"stats", "--state", state}); err == nil ||
		!strings.Contains(err.Error(), "is starting") {
		t.Errorf("stats: %v", err)
	}
	if err := New(io.Discard, &said).Run(t.Context(), []string{"stop", "--state", state}); err != nil ||
		!strings.Contains(said.String(), "the crawl was still starting; it ends now") {
		t.Errorf("stop: %v\n%s", err, said.String())
	}
	close(told.release)
	if err := g.Wait(); err != nil || !strings.Contains(told.String(), "run #1 is interrupted (ripple stop)") {
		t.Errorf("the crawl ended with %v\n%s", err, told.String())
	}
	if log := web.Log(); len(log) > 0 {
		t.Errorf("%d requests were sent, the first for %s", len(log), log[0].Path)
	}
	if err := New(io.Discard, &said).Run(t.Context(), []string{"crawl", path}); err != nil ||
		!strings.Contains(said.String(), "run #1 completed") {
		t.Errorf("the next start: %v\n%s", err, said.String())
	}
}

// A heldWriter blocks its first writer until it is released.
type heldWriter struct {
	bytes.Buffer
	once          sync.Once
	held, release chan struct{}
}

func (w *heldWriter) Write(b []byte) (int, error) {
	w.once.Do(func() {
		close(w.held)
		<-w.release
	})
	return w.Buffer.Write(b)
}

// If the walk of a run has ended and its process was killed before its outputs were in place, the
// run is completed without any request.
func TestCrawlOnlyOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	web := rippletest.NewWeb(t)
	path := rippletest.WriteConfig(t, web, dir, false)
	walkWithoutOutputs(t, path)
	web.ResetLog()
	var out, told bytes.Buffer
	const missing = "run #1 interrupted (stopped before its outputs were written)"
	state := filepath.Join(dir, "ripple.bolt")
	if err := New(&out, &told).Run(t.Context(), []string{"stats", "--state", state}); err != nil ||
		!strings.Contains(out.String(), missing) {
		t.Errorf("stats: %v\n%s", err, out.String())
	}
	if err := New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	if log := web.Log(); len(log) > 0 {
		t.Errorf("%d requests were sent, the first for %s", len(log), log[0].Path)
	}
	if !strings.Contains(told.String(), "run #1 has nothing left to visit") ||
		!strings.Contains(told.String(), "run #1 completed") {
		t.Errorf("it says:\n%s", told.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "out.db")); err != nil {
		t.Error(err)
	}
	told.Reset()
	if err := New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil ||
		!strings.Contains(told.String(), "run #2 begins") {
		t.Errorf("the run was not completed: %v\n%s", err, told.String())
	}
}

// walkWithoutOutputs crawls like a process that dies at the end of the walk.
func walkWithoutOutputs(t *testing.T, path string) {
	t.Helper()
	cfg, _, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(cfg.State.Path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Run(t.Context()); err != nil || !r.Walked {
		t.Fatalf("Run = %+v, %v", r, err)
	}
}

// The message about a host that cannot be reached gives one short cause.
func TestCrawlWrongCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	web := rippletest.NewWeb(t)
	web.Host("a.test").Down(webtest.DownWrongName)
	web.Host("www.a.test").Down(webtest.DownWrongName)
	var out, told bytes.Buffer
	err := New(&out, &told).Run(t.Context(), []string{"crawl", rippletest.WriteConfig(t, web, dir, false)})
	if err == nil || err.Error() != "no page could be crawled" {
		t.Fatalf("%v\n%s", err, told.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "out.md"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "(given up: TLS error: the certificate is not for a.test)"
	if !strings.Contains(told.String(), want) || !strings.Contains(string(text), want) {
		t.Errorf("%q is not told:\n%s\n%s", want, told.String(), text)
	}
}
