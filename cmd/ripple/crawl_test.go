package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A crawl in this process leaves no goroutine, no socket and no temporary file.
func TestCrawlLeavesNothing(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	dir := t.TempDir()
	web := newWeb(t)
	path := writeConfig(t, web, dir, false)
	var out, told bytes.Buffer
	a := newApp(&out, &told)
	if err := a.execute(t.Context(), []string{"crawl", path}); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	web.Close()
	goleak.VerifyNone(t, leaks)
	if out.Len() > 0 {
		t.Errorf("a crawl has no result on stdout: %s", out.String())
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 6 { // config, certificate, state, database, summary, report
		t.Errorf("the folder holds %q", left)
	}
}

// Signals end a crawl with their number, and the state goes on from there.
func TestSignals(t *testing.T) {
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
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, c.told.String())
			}
			lines := strings.Split(strings.TrimSpace(c.told.String()), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, "ripple export --config ") {
				t.Errorf("the last line is %q; want how to export", last)
			}
			if !strings.Contains(c.told.String(), tt.reason) {
				t.Errorf("%q is not in:\n%s", tt.reason, c.told.String())
			}
		})
	}
}

// A started crawl waits a minute between the requests to its one host.
type started struct {
	t     *testing.T
	cmd   *exec.Cmd
	told  *bytes.Buffer
	state string
	path  string
}

func startCrawl(t *testing.T) *started {
	t.Helper()
	dir, err := os.MkdirTemp("", "sig") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &started{t: t, told: &bytes.Buffer{}, state: filepath.Join(dir, "ripple.bolt"), path: writeConfig(t, newWeb(t), dir, true)}
	c.cmd = exec.Command(os.Args[0], "crawl", c.path)
	c.cmd.Env = append(os.Environ(), "RIPPLE_TEST_MAIN=1")
	c.cmd.Stderr = c.told
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for st := (crawlStatus{}); st.Requests == 0; { // the first page is there, the next one waits
		if ctx.Err() != nil {
			t.Fatalf("the crawl does not begin:\n%s", c.told.String())
		}
		_ = control.Ask(ctx, c.state, "status", &st)
		time.Sleep(10 * time.Millisecond)
	}
	return c
}

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
