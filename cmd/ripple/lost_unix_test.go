//go:build !windows

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv"
)

// A crawl whose state file is taken away, exchanged or cut ends at its next commit,
// which here is the one of a signal, and says so in one sentence.
func TestLostState(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(state string) error
		says string
	}{
		{"removed", os.Remove, "was removed or renamed while it was in use"},
		{"renamed", func(state string) error { return os.Rename(state, state+".old") },
			"was removed or renamed while it was in use"},
		{
			"replaced by a pipe",
			func(state string) error { return errors.Join(os.Remove(state), syscall.Mkfifo(state, 0o600)) },
			"was replaced by another file while it was in use",
		},
		{"cut to nothing", func(state string) error { return os.Truncate(state, 0) },
			"was changed by another program while it was in use"},
		{"cut to a page", func(state string) error { return os.Truncate(state, 4096) },
			"was changed by another program while it was in use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCrawl(t)
			if err := tt.do(filepath.Join(c.dir, "ripple.bolt")); err != nil {
				t.Fatal(err)
			}
			if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			code, told := c.wait(), c.told()
			if code != 1 || strings.Count(told, "state file is lost: ") != 1 ||
				!strings.Contains(told, "ripple.bolt "+tt.says) ||
				!strings.Contains(told, "; put the file back") {
				t.Errorf("exit code %d, want 1 and: %s\n%s", code, tt.says, told)
			}
			if strings.Contains(told, "nil pointer") || strings.Contains(told, "goroutine ") {
				t.Errorf("said what nobody understands:\n%s", told)
			}
		})
	}
}

// TestLostWhileReplacing: what took the name of the state file meanwhile is not
// written over.
func TestLostWhileReplacing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(crawled(t, 5)), "state.bolt")
	named, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := statefile.OpenLocked(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	next := path + ".next"
	for name, text := range map[string]string{path: "precious", next: "new"} {
		err := errors.Join(os.WriteFile(name+".tmp", []byte(text), 0o600), os.Rename(name+".tmp", name))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := command.TakePlace(old, named, next); err == nil || !strings.Contains(err.Error(), "was replaced by another file") {
		t.Errorf("%v; want that it was replaced", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "precious" {
		t.Errorf("the file under the name says %q, %v", got, err)
	}
}

// Who waits for a state file that is replaced meanwhile, as by verify --compact, opens the new one.
func TestReplacedWhileWaiting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(crawled(t, 5)), "state.bolt")
	synctest.Test(t, func(t *testing.T) {
		old, err := kv.Open(path, kv.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var g errgroup.Group
		g.Go(func() error {
			store, err := statefile.OpenLocked(path, kv.Options{})
			if err != nil {
				return err
			}
			return errors.Join(store.Present(), store.Close())
		})
		synctest.Wait()
		_, _, err = command.Compact(path)
		if err := errors.Join(err, old.Close(), g.Wait()); err != nil {
			t.Error(err)
		}
	})
}
