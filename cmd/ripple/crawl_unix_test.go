//go:build !windows

package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/control"
)

// SIGHUP reads the configuration again: what cannot be followed changes nothing,
// what can be shows at once. SIGUSR1 tells the status.
func TestReload(t *testing.T) {
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
	rewrite := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(c.path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		signal(syscall.SIGHUP)
	}
	// A host gap of 60 s: nothing would end within the test.
	rewrite([]byte("[crawler]\nmax-dpth = 2\n"))
	rewrite(append([]byte("[url]\nmax-length = 1000\n"), text...))
	rewrite(bytes.Replace(text, []byte("max-depth = 2"), []byte("max-depth = 1"), 1))
	signal(syscall.SIGUSR1)
	var st crawlStatus
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && st.RunID == 0; time.Sleep(10 * time.Millisecond) {
		_ = control.Ask(t.Context(), c.state, "status", &st)
	}
	signal(syscall.SIGTERM)
	if code := c.wait(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	told := c.told.String()
	for _, want := range []string{"run #1 · ", "is interrupted"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in:\n%s", want, told)
		}
	}
}
