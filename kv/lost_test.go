package kv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A loss is something another process does to an open state file.
type loss struct {
	name string
	do   func(path string) error
	says string // empty: nothing is lost
}

const changed = "was changed by another program"

func losses() []loss {
	const another, gone = "was replaced by another file", "was removed or renamed"
	return []loss{
		{"removed", os.Remove, gone},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") }, gone},
		{"its folder is renamed", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old") },
			gone},
		{"its folder is removed", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, gone},
		{"replaced", func(path string) error { return os.Rename(path+".other", path) }, another},
		{"replaced by its copy", func(path string) error {
			return errors.Join(duplicate(path, path+".copy"), os.Rename(path+".copy", path))
		}, another},
		{"replaced by a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
			another},
		{
			"replaced by a link to another", func(path string) error {
				return errors.Join(os.Remove(path), os.Symlink(path+".other", path))
			}, another,
		},
		{"replaced by a link to nothing",
			func(path string) error { return errors.Join(os.Remove(path), os.Symlink("nothing", path)) }, gone},
		{"cut to nothing", func(path string) error { return os.Truncate(path, 0) }, changed},
		{"cut by half", func(path string) error { return cut(path, 2) }, changed},
		{"cut by a byte", func(path string) error { return add(path, -1) }, changed},
		{"added to", func(path string) error { return add(path, 1) }, changed},
		{"written over by another", func(path string) error { return duplicate(path+".other", path) }, changed},
		{"written over by one of its size", overwrite, changed},
		{"linked, and its first name removed",
			func(path string) error { return errors.Join(os.Link(path, path+".link"), os.Remove(path)) }, gone},
		{"linked", func(path string) error { return os.Link(path, path+".link") }, ""},
		{"a link to it has its name", func(path string) error {
			return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
		}, ""},
		{"copied", func(path string) error { return duplicate(path, path+".copy") }, ""},
		{"moved away and back", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Rename(path+".old", path))
		}, ""},
		{"its permissions taken", func(path string) error { return os.Chmod(path, 0) }, ""},
		{"touched", func(path string) error { return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) }, ""},
	}
}

// overwrite writes the content of another state file into a file of the same size.
func overwrite(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return errors.Join(duplicate(path+".other", path), os.Truncate(path, info.Size()))
}

// duplicate writes the content of a file into another one, like cp.
func duplicate(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}

func cut(path string, parts int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/parts)
}

func add(path string, n int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()+n)
}

// inUse opens a store that has been written to, in a folder of its own, next to another state file.
func inUse(t *testing.T) (*grower, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "state.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".other", sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	g := newGrower(openUnchecked(t, path), 20)
	for range 2 {
		if err := g.commit(40); err != nil {
			t.Fatal(err)
		}
	}
	return g, path
}

// requireLost checks that an error says which file was lost, and how.
func requireLost(t *testing.T, err error, path, says string) {
	t.Helper()
	if !errors.Is(err, kv.ErrLost) || !strings.Contains(err.Error(), path+" "+says) {
		t.Errorf("%v; want ErrLost: %s %s", err, path, says)
	} else if strings.Contains(err.Error(), "nil pointer") || strings.Contains(err.Error(), "fault") {
		t.Errorf("%v: says what nobody understands", err)
	}
}

// TestLostBetweenCommits: the next commit detects it.
func TestLostBetweenCommits(t *testing.T) {
	for _, tt := range losses() {
		t.Run(tt.name, func(t *testing.T) {
			g, path := inUse(t)
			if err := tt.do(path); err != nil {
				t.Fatal(err)
			}
			err := g.commit(40)
			if tt.says == "" {
				if err != nil {
					t.Errorf("%v; nothing was lost", err)
				}
				return
			}
			requireLost(t, err, path, tt.says)
			again := g.commit(1)
			requireLost(t, again, path, tt.says)
			if !errors.Is(again, kv.ErrClosed) {
				t.Errorf("the store is still open: %v", again)
			}
		})
	}
}

// TestLostWithinCommit: the commit during which it happens detects it.
func TestLostWithinCommit(t *testing.T) {
	for _, tt := range losses() {
		t.Run(tt.name, func(t *testing.T) {
			g, path := inUse(t)
			err := g.s.Update(func(tx *kv.Tx) error {
				if err := tx.Meta.Put("before", make([]byte, 1<<16)); err != nil {
					return err
				}
				if err := tt.do(path); err != nil {
					t.Fatal(err)
				}
				_, err := tx.Hosts.Add("after.example")
				return err
			})
			switch {
			case tt.name == "written over by one of its size": // detected by the next commit, if any change is left
			case tt.says == "" && err != nil:
				t.Errorf("%v; nothing was lost", err)
			case tt.says != "":
				requireLost(t, err, path, tt.says)
			}
		})
	}
}

// TestLostWhileReading: a reader continues without the name, and reports when what it reads was truncated.
func TestLostWhileReading(t *testing.T) {
	for _, tt := range losses() {
		t.Run(tt.name, func(t *testing.T) {
			g, path := inUse(t)
			g.s.Close()
			s, err := kv.Open(path, kv.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := tt.do(path); err != nil {
				t.Fatal(err)
			}
			err = s.View(func(tx *kv.Tx) error {
				return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) { return true, tx.Visits.Anchors(v) })
			})
			if strings.HasPrefix(tt.name, "cut") {
				requireLost(t, err, path, "was cut")
			} else if tt.says != changed && err != nil {
				t.Errorf("%v; it can be read to its end", err)
			}
		})
	}
}

// TestLostWhileCopied truncates the file during a snapshot.
func TestLostWhileCopied(t *testing.T) {
	g, path := inUse(t)
	_, err := g.s.Snapshot(cutter{t, path})
	requireLost(t, err, path, "was cut")
}

// A cutter truncates a file at its first write.
type cutter struct {
	t    *testing.T
	path string
}

func (c cutter) Write(p []byte) (int, error) {
	if err := os.Truncate(c.path, 4096); err != nil {
		c.t.Fatal(err)
	}
	return len(p), nil
}

// TestLostWhileChecked: a check reports that the file was lost, not that it is damaged.
func TestLostWhileChecked(t *testing.T) {
	g, path := inUse(t)
	g.s.Close()
	if err := kv.WriteRaw(path, "hosts", []byte("wrong"), nil); err != nil {
		t.Fatal(err)
	}
	err := kv.Check(path, func(string) {
		if err := os.Truncate(path, 4096); err != nil {
			t.Fatal(err)
		}
	})
	requireLost(t, err, path, "")
}

// TestPresent tests the check made before another file gets the name.
func TestPresent(t *testing.T) {
	g, path := inUse(t)
	if err := g.s.Present(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path+".other", path); err != nil {
		t.Fatal(err)
	}
	requireLost(t, g.s.Present(), path, "was replaced")
	g.s.Close()
	if err := g.s.Present(); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
