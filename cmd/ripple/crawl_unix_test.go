//go:build !windows

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGHUP reloads the configuration: an invalid one changes nothing, a valid one applies from then
// on. SIGUSR1 prints the status.
func TestReload(t *testing.T) {
	t.Parallel()
	c := startCrawl(t)
	text, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	signal := func(s syscall.Signal) {
		t.Helper()
		if err := c.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		text []byte
		want string
	}{
		{[]byte("[crawler]\nmax-dpth = 2\n"), "max-dpth"},
		{append([]byte("[url]\nmax-length = 1000\n"), text...), "[url] cannot change"},
		{bytes.Replace(text, []byte("ripple.bolt"), []byte("other.bolt"), 1), "[state] path cannot change"},
		{append(bytes.Clone(text), "[pages]\nkeep = true\npath = \"config.toml\"\n"...), "is not a folder"},
		{bytes.Replace(text, []byte("[monitor]\n"), []byte("[monitor]\nhosts = [\"later.test\"]\n"), 1),
			"[monitor] hosts applies from the next start"},
		{append(text, "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"...),
			"the configuration was read again"},
	} {
		if err := os.WriteFile(c.path, tt.text, 0o644); err != nil {
			t.Fatal(err)
		}
		signal(syscall.SIGUSR1)
		c.awaitTold("run #1 · ")
		signal(syscall.SIGHUP)
		c.awaitTold(tt.want)
	}
	c.await("to ask the new seed's host", func() bool { return c.status().Hosts.Waiting > 1 })
	signal(syscall.SIGTERM)
	if code := c.wait(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
}

// A command reports that a suspended crawl does not answer, and continues when it does.
func TestSuspended(t *testing.T) {
	t.Parallel()
	c := startCrawl(t)
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(c.cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	pause := ripple("pause", "--state", filepath.Join(c.dir, "ripple.bolt"))
	told, err := pause.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := pause.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(told)
	if lines.Scan(); lines.Text() != "the crawl does not answer; still waiting (Ctrl-C gives up)" {
		t.Errorf("a suspended crawl: %q", lines.Text())
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); !strings.HasPrefix(lines.Text(), "run #1 is paused") {
		t.Errorf("a crawl that goes on: %q", lines.Text())
	}
	if err := pause.Wait(); err != nil {
		t.Error(err)
	}
}

// A crawl whose output is no longer read, for example because Ctrl-C has ended tee first,
// continues, and ends as by a signal.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	read, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	c := startWith(t, time.Second, func(cmd *exec.Cmd) { cmd.Stderr = told }, "-v")
	read.Close()
	asked := c.status().Requests
	c.await("to go on", func() bool { return c.status().Requests > asked+1 })
	if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
