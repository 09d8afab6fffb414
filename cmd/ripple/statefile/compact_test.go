package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
)

// TestCompactBesideAnother compacts a file in two processes at a time: neither uses the file that
// the other one is writing.
func TestCompactBesideAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt")
	for range 5 {
		var both errgroup.Group
		for range 2 {
			both.Go(func() error {
				_, _, err := Compact(path)
				if err != nil && strings.HasSuffix(err.Error(), ": another command has just compacted it; nothing was done") {
					return nil
				}
				return err
			})
		}
		if err := both.Wait(); err != nil {
			t.Fatal(err)
		}
		if v, err := CheckApart(t.Context(), path, false); err != nil || !v.Whole {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range beside {
		if strings.HasPrefix(e.Name(), ".ripple") || isBeside(e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// A command that replaces a state file notices if another command was faster. Only a file that is
// not a state file is a reason to restore a backup.
func TestTakePlace(t *testing.T) {
	t.Parallel()
	good := filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt")
	for name, tt := range map[string]struct{ replace, want string }{
		"a state file": {good, "another command has just compacted it; nothing was done"},
		"another file": {"compact_test.go", "put the file back"},
		"none":         {"", "put the file back"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, next := filepath.Join(dir, "s.bolt"), filepath.Join(dir, "next")
			rippletest.Copy(t, good, path)
			rippletest.Copy(t, good, next)
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			old, err := kv.Open(path, kv.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
			if tt.replace != "" {
				rippletest.Copy(t, tt.replace, path)
			}
			if got := term.Complaint(takePlace(old, before, next)); !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestLostWhileReplacing: a file that got the name of the state file meanwhile is not overwritten.
func TestLostWhileReplacing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt")
	named, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := OpenLocked(path, kv.Options{})
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
	if err := takePlace(old, named, next); err == nil || !strings.Contains(err.Error(), "was replaced by another file") {
		t.Errorf("%v; want that it was replaced", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "precious" {
		t.Errorf("the file under the name says %q, %v", got, err)
	}
}

// A command that waits for a state file while it is replaced, as by verify --compact, opens the new
// one.
func TestReplacedWhileWaiting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt")
	synctest.Test(t, func(t *testing.T) {
		old, err := kv.Open(path, kv.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var g errgroup.Group
		g.Go(func() error {
			store, err := OpenLocked(path, kv.Options{})
			if err != nil {
				return err
			}
			return errors.Join(store.Present(), store.Close())
		})
		synctest.Wait()
		_, _, err = Compact(path)
		if err := errors.Join(err, old.Close(), g.Wait()); err != nil {
			t.Error(err)
		}
	})
}
