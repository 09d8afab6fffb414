//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// TestCheckLeavesNothing ends a check by a signal: its temporary folder is removed.
func TestCheckLeavesNothing(t *testing.T) {
	t.Parallel()
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	linksWeb(web)
	dir := t.TempDir()
	if _, err := web.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, []byte(smallConfig(web.Addr(), true, nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		end  os.Signal
		code int
	}{{"SIGINT", os.Interrupt, 130}, {"SIGTERM", syscall.SIGTERM, 143}} {
		temp := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "check", "--config", config, "https://a.test/")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp, "RIPPLE_TEST_MAIN=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begun := func() bool {
			found, _ := filepath.Glob(filepath.Join(temp, ".ripple-new-*", "check.bolt"))
			return len(found) > 0
		}
		for until := time.Now().Add(time.Minute); !begun() && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := cmd.Process.Signal(tt.end); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code says how it ended
		left, _ := filepath.Glob(filepath.Join(temp, ".ripple-new-*"))
		if code := cmd.ProcessState.ExitCode(); code != tt.code || len(left) > 0 || strings.Contains(stderr.String(), "panic") {
			t.Errorf("%s: exit code %d, %d folders are left\n%s", tt.name, code, len(left), stderr.String())
		}
	}
}
