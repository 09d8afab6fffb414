package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A crawl in this process leaves no goroutine, socket or temporary file behind.
func TestCrawlLeavesNothing(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	dir := t.TempDir()
	web := newWeb(t)
	path := writeConfig(t, web, dir, false)
	var out, told bytes.Buffer
	if err := command.New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	web.Close()
	var left error
	if !soon(func() bool { left = goleak.Find(leaks); return left == nil }) {
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

// Signals end a crawl with their exit code, and the state can be resumed.
func TestSignals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		signal syscall.Signal
		code   int
		reason string
	}{
		{"interrupt", syscall.SIGINT, 130, "stopped by SIGINT"},
		{"terminate", syscall.SIGTERM, 143, "stopped by SIGTERM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCrawl(t)
			if err := c.cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if code := c.wait(); code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, c.told())
			}
			lines := strings.Split(strings.TrimSpace(c.told()), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, "ripple export --config ") {
				t.Errorf("the last line is %q; want how to export", last)
			}
			if !strings.Contains(c.told(), tt.reason) {
				t.Errorf("%q is not in:\n%s", tt.reason, c.told())
			}
		})
	}
}

// A killed crawl leaves its socket behind: it is not mistaken for a running crawl, its run is shown
// as interrupted, and the next start resumes it.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := startCrawl(t)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.wait()
	state := filepath.Join(c.dir, "ripple.bolt")
	if _, err := os.Lstat(state + ".sock"); err != nil {
		t.Fatalf("the socket is gone, so this test shows nothing: %v", err)
	}
	var out, told bytes.Buffer
	if err := command.New(&out, &told).Run(t.Context(), []string{"stats", "--state", state}); err != nil ||
		!strings.Contains(out.String(), "run #1 interrupted") {
		t.Errorf("stats: %v\n%s", err, out.String())
	}
	err := command.New(&out, &told).Run(t.Context(), []string{"pause", "--state", state})
	if code, text := exitCode(err), term.Complaint(err); code != 1 || !strings.Contains(text, "no crawl is running") {
		t.Errorf("pause: exit code %d, %s", code, text)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(term.SignalError{Signal: syscall.SIGINT})
	err = command.New(&out, &told).Run(ctx, []string{"crawl", c.path})
	if exitCode(err) != 130 || !strings.Contains(told.String(), "run #1 goes on") {
		t.Errorf("crawl: %v\n%s", err, told.String())
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
	web := newWeb(t)
	path, state := writeConfig(t, web, dir, false), filepath.Join(dir, "ripple.bolt")
	told := &heldWriter{held: make(chan struct{}), release: make(chan struct{})}
	var g errgroup.Group
	g.Go(func() error {
		return command.New(io.Discard, told).Run(context.Background(), []string{"crawl", path})
	})
	<-told.held // it says which run begins, and has not begun it yet
	var said bytes.Buffer
	if err := command.New(io.Discard, &said).Run(t.Context(), []string{"stats", "--state", state}); err == nil ||
		!strings.Contains(err.Error(), "is starting") {
		t.Errorf("stats: %v", err)
	}
	if err := command.New(io.Discard, &said).Run(t.Context(), []string{"stop", "--state", state}); err != nil ||
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
	if err := command.New(io.Discard, &said).Run(t.Context(), []string{"crawl", path}); err != nil ||
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
	web := newWeb(t)
	path := writeConfig(t, web, dir, false)
	walkWithoutOutputs(t, path)
	web.ResetLog()
	var out, told bytes.Buffer
	const missing = "run #1 interrupted (stopped before its outputs were written)"
	state := filepath.Join(dir, "ripple.bolt")
	if err := command.New(&out, &told).Run(t.Context(), []string{"stats", "--state", state}); err != nil ||
		!strings.Contains(out.String(), missing) {
		t.Errorf("stats: %v\n%s", err, out.String())
	}
	if err := command.New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil {
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
	if err := command.New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil ||
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

// A started crawl waits between the requests to its single host.
type started struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string
	path string // path of its configuration
}

// startCrawl starts a crawl that waits for a minute.
func startCrawl(t *testing.T, flags ...string) *started {
	t.Helper()
	return startPaced(t, time.Minute, flags...)
}

func startPaced(t *testing.T, gap time.Duration, flags ...string) *started {
	t.Helper()
	return startWith(t, gap, func(*exec.Cmd) {}, flags...)
}

// startWith starts a crawl whose command is changed first.
func startWith(t *testing.T, gap time.Duration, change func(*exec.Cmd), flags ...string) *started {
	t.Helper()
	dir, err := os.MkdirTemp("", "sig") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &started{t: t, dir: dir, path: writeConfig(t, newWeb(t), dir, true)}
	c.pace(time.Minute, gap)
	told, err := os.Create(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	c.cmd = ripple(append([]string{"crawl", c.path}, flags...)...)
	c.cmd.Stderr = told
	change(c.cmd)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	c.await("to begin", func() bool { return c.status().Requests > 0 }) // robots.txt was requested, the first page waits
	return c
}

// pace changes the wait in the configuration.
func (c *started) pace(from, to time.Duration) {
	c.t.Helper()
	text, err := os.ReadFile(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	line := func(gap time.Duration) []byte {
		return fmt.Appendf(nil, "minimum-time-on-page = %d\n", gap.Milliseconds())
	}
	if err := os.WriteFile(c.path, bytes.Replace(text, line(from), line(to), 1), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// await waits until a condition holds.
func (c *started) await(what string, holds func() bool) {
	c.t.Helper()
	if !soon(holds) {
		c.t.Fatalf("waited in vain for the crawl %s:\n%s", what, c.told())
	}
}

func (c *started) awaitTold(text string) {
	c.t.Helper()
	c.await("to say "+text, func() bool { return strings.Contains(c.told(), text) })
}

// status returns the status of the crawl; zero while it does not answer.
func (c *started) status() (st census.Status) {
	live := &control.Client{State: filepath.Join(c.dir, "ripple.bolt")}
	_ = live.Get(c.t.Context(), "status", &st)
	return st
}

// told returns what the crawl has written to stderr.
func (c *started) told() string {
	text, err := os.ReadFile(filepath.Join(c.dir, "told"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// desk returns the address of the crawl's desk, as printed.
func (c *started) desk() string { return deskAddress(c.told()) }

// wait returns the exit code.
func (c *started) wait() int {
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

func newWeb(t *testing.T) *webtest.Server {
	t.Helper()
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	smallWeb(web)
	return web
}

func writeConfig(t *testing.T, web *webtest.Server, dir string, slow bool) string {
	t.Helper()
	if _, err := web.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte(smallConfig(web.Addr(), slow, nil)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The message about a host that cannot be reached gives one short cause.
func TestCrawlWrongCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	web := newWeb(t)
	web.Host("a.test").Down(webtest.DownWrongName)
	web.Host("www.a.test").Down(webtest.DownWrongName)
	var out, told bytes.Buffer
	err := command.New(&out, &told).Run(t.Context(), []string{"crawl", writeConfig(t, web, dir, false)})
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
