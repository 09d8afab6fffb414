package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
)

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
	c := &started{t: t, dir: dir, path: rippletest.WriteConfig(t, rippletest.NewWeb(t), dir, true)}
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
	if !rippletest.Soon(holds) {
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
