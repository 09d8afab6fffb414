package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

func TestOpenRefuses(t *testing.T) {
	raw := sample(t)
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	db, err := bbolt.Open(foreign, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	foreignRaw, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		raw  []byte
		err  error
		says string
	}{
		{"empty", nil, kv.ErrForeign, ""},
		{"text", []byte("hello"), kv.ErrForeign, ""},
		{"a page of zeros", make([]byte, 4096), kv.ErrForeign, ""},
		{"four pages of zeros", make([]byte, 4*4096), kv.ErrForeign, ""},
		{"another bbolt file", foreignRaw, kv.ErrForeign, ""},
		{"the first two pages", raw[:2*4096], kv.ErrDamaged, "it was cut: 8192 bytes of "},
		{"three pages", raw[:3*4096], kv.ErrDamaged, "it was cut: 12288 bytes of "},
		{"cut by a byte", raw[:len(raw)-1], kv.ErrDamaged, ""},
		{"cut by half", raw[:len(raw)/2], kv.ErrDamaged, ""},
		{"longer by a byte", append(bytes.Clone(raw), 0), kv.ErrDamaged,
			fmt.Sprintf("its size, %d bytes, is not a multiple of its page size, 4096", len(raw)+1)},
		{"no metas", append(make([]byte, 2*4096), raw[2*4096:]...), kv.ErrForeign, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			if err := os.WriteFile(path, tt.raw, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, readOnly := range []bool{false, true} {
				if s, err := kv.Open(path, kv.Options{ReadOnly: readOnly}); !errors.Is(err, tt.err) ||
					!strings.Contains(err.Error(), tt.says) {
					t.Errorf("Open(read only: %t) = %v, %v; want %v: %s", readOnly, s, err, tt.err, tt.says)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, tt.raw) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// Locked is called when no other process can open the file any longer.
func TestOpenLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := 0
	s, err := kv.Open(path, kv.Options{Locked: func() {
		calls++
		if _, err := kv.Open(path, kv.Options{Timeout: time.Millisecond}); !errors.Is(err, kv.ErrLocked) {
			t.Errorf("another Open: %v, want ErrLocked", err)
		}
	}})
	if err != nil || calls != 1 {
		t.Fatalf("Open: %v; Locked was called %d times", err, calls)
	}
	defer s.Close()
	if _, err := kv.Open(path, kv.Options{Timeout: time.Millisecond,
		Locked: func() { t.Error("Locked was called without the lock") }}); !errors.Is(err, kv.ErrLocked) {
		t.Errorf("another Open: %v, want ErrLocked", err)
	}
}

func TestOpenOtherFormat(t *testing.T) {
	for _, version := range []byte{1, 2, 3, 4, 5, 8, 9, 11} {
		path := filepath.Join(t.TempDir(), "state.db")
		if err := os.WriteFile(path, sample(t), 0o600); err != nil {
			t.Fatal(err)
		}
		fields := append([]byte{version, 4}, "3.14"...)
		if err := kv.WriteRaw(path, "meta", []byte("format"), kv.Seal("meta", []byte("format"), fields)); err != nil {
			t.Fatal(err)
		}
		_, err := kv.Open(path, kv.Options{})
		want := "open " + path + ": written by a development version of Ripple; crawl again"
		if !errors.Is(err, kv.ErrFormat) || err.Error() != want {
			t.Errorf("format %d: Open: %v; want %s", version, err, want)
		}
	}
}

func TestOpenMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	if _, err := kv.Open(path, kv.Options{ReadOnly: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("read only: %v; want not exist", err)
	}
	if _, err := kv.Open(dir, kv.Options{}); !errors.Is(err, kv.ErrForeign) {
		t.Errorf("a folder: %v; want ErrForeign", err)
	}
	gone := filepath.Join(dir, "gone", "state.db")
	if _, err := kv.Open(gone, kv.Options{}); err == nil || err.Error() != "create "+gone+": no such file or directory" {
		t.Errorf("in no folder: %v", err)
	}
	if _, err := kv.Open(gone, kv.Options{ReadOnly: true}); err == nil ||
		err.Error() != "open "+gone+": no such file or directory" {
		t.Errorf("in no folder, read only: %v", err)
	}
	if err := os.WriteFile(path+".new-1", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "state.db" {
		t.Errorf("folder after creation: %v, %v; want state.db alone", entries, err)
	}
}

// TestCreateTogether creates one file concurrently: all must get the same one.
func TestCreateTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var g errgroup.Group
	var opened atomic.Int32
	for range 8 {
		g.Go(func() error {
			s, err := kv.Open(path, kv.Options{})
			if errors.Is(err, kv.ErrLocked) {
				return nil
			}
			if err != nil {
				return err
			}
			opened.Add(1)
			return errors.Join(s.Update(func(tx *kv.Tx) error { return nil }), s.Close())
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if s := openStore(t, path); s.LastCommit() != uint64(opened.Load()) {
		t.Errorf("%d commits by %d openers", s.LastCommit(), opened.Load())
	}
}

func TestReadersShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	openStore(t, path).Close()
	a := scaletest.Open(t, path)
	scaletest.Open(t, path)
	if err := a.Update(func(*kv.Tx) error { return nil }); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("Update: %v; want ErrReadOnly", err)
	}
	if err := a.View(func(tx *kv.Tx) error { _, err := tx.Hosts.Add("x"); return err }); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("Hosts.Add in a View: %v; want ErrReadOnly", err)
	}
}

func TestFailedUpdateCloses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	mine := errors.New("mine")
	err := s.Update(func(tx *kv.Tx) error {
		if _, err := addURL(s, tx, "example.com", "/"); err != nil {
			return err
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("Update: %v; want mine", err)
	}
	for name, err := range map[string]error{
		"Update": s.Update(func(*kv.Tx) error { return nil }),
		"View":   s.View(func(*kv.Tx) error { return nil }),
	} {
		if !errors.Is(err, kv.ErrClosed) || !errors.Is(err, mine) {
			t.Errorf("%s afterwards: %v; want ErrClosed and mine", name, err)
		}
	}
	if s.Size() != 0 {
		t.Errorf("Size afterwards = %d", s.Size())
	}
	if again := openStore(t, path); again.URLs() != 0 {
		t.Errorf("%d URLs after a rollback", again.URLs())
	}
}

func TestPanicOfCallerGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	func() {
		defer func() {
			if v := recover(); v != "mine" {
				t.Errorf("recovered %v; want mine", v)
			}
		}()
		_ = s.Update(func(tx *kv.Tx) error {
			return tx.Hosts.Below("", func(string, schema.HostID) bool { return true })
		})
		_ = s.Update(func(*kv.Tx) error { panic("mine") })
	}()
	if err := s.View(func(*kv.Tx) error { return nil }); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("View after a panic: %v; want ErrClosed", err)
	}
	openStore(t, path)
}

func TestNestedTransaction(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "state.db"))
	view(t, s, func(*kv.Tx) error {
		if err := s.View(func(*kv.Tx) error { return nil }); err == nil {
			t.Error("a transaction within a transaction was begun")
		}
		return nil
	})
}

// TestSnapshot copies a store while it is written: every copy is complete.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "state.db"))
	s.FastForTests()
	g := newGrower(s, 20)
	var group errgroup.Group
	done := make(chan struct{})
	group.Go(func() error {
		defer close(done)
		for range 40 {
			if err := g.commit(20); err != nil {
				return err
			}
		}
		return nil
	})
	for i := 0; ; i++ {
		path := filepath.Join(dir, fmt.Sprint("copy", i))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Snapshot(f)
		if info, err2 := f.Stat(); err != nil || err2 != nil || info.Size() != n {
			t.Fatalf("Snapshot = %d, %v; the copy has %v", n, err, info)
		}
		f.Close()
		if err := kv.Check(path, func(problem string) { t.Errorf("copy %d: %s", i, problem) }); err != nil {
			t.Fatal(err)
		}
		os.Remove(path)
		select {
		case <-done:
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "state.db"), filepath.Join(dir, "small.db")
	if err := os.WriteFile(src, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := kv.Compact(src, dst); err != nil {
		t.Fatal(err)
	}
	if got, want := digest(t, dst), digest(t, src); got != want {
		t.Error("the compacted file holds something else")
	}
	if err := kv.Check(dst, func(problem string) { t.Error(problem) }); err != nil {
		t.Fatal(err)
	}
	if err := kv.Compact(src, dst); !errors.Is(err, os.ErrExist) {
		t.Errorf("onto an existing file: %v; want ErrExist", err)
	}
}

// TestAbandonedStoreGivesUpItsLock: a mapping that is left behind would keep the file's lock, unless that is
// released.
func TestAbandonedStoreGivesUpItsLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	if err := s.Abandon(); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
}
