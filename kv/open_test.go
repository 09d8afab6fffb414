package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/kv"
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
	}{
		{"empty", nil, kv.ErrForeign},
		{"text", []byte("hello"), kv.ErrForeign},
		{"a page of zeros", make([]byte, 4096), kv.ErrForeign},
		{"four pages of zeros", make([]byte, 4*4096), kv.ErrForeign},
		{"another bbolt file", foreignRaw, kv.ErrForeign},
		{"the first two pages", raw[:2*4096], kv.ErrDamaged},
		{"three pages", raw[:3*4096], kv.ErrDamaged},
		{"cut by a byte", raw[:len(raw)-1], kv.ErrDamaged},
		{"cut by half", raw[:len(raw)/2], kv.ErrDamaged},
		{"no metas", append(make([]byte, 2*4096), raw[2*4096:]...), kv.ErrForeign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			if err := os.WriteFile(path, tt.raw, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, readOnly := range []bool{false, true} {
				if s, err := kv.Open(path, kv.Options{ReadOnly: readOnly}); !errors.Is(err, tt.err) {
					t.Errorf("Open(read only: %t) = %v, %v; want %v", readOnly, s, err, tt.err)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, tt.raw) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestOpenNewerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	fields := append([]byte{9, 4}, "3.14"...)
	if err := kv.WriteRaw(path, "meta", []byte("format"), kv.Seal("meta", []byte("format"), fields)); err != nil {
		t.Fatal(err)
	}
	_, err := kv.Open(path, kv.Options{})
	if !errors.Is(err, kv.ErrFormat) || !strings.Contains(err.Error(), "3.14") {
		t.Errorf("Open: %v; want ErrFormat naming release 3.14", err)
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
	if err := os.WriteFile(path+".new-1", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "state.db" {
		t.Errorf("folder after creation: %v, %v; want state.db alone", entries, err)
	}
}

// TestCreateTogether creates one file from many sides: all must get the same.
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
	a, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Update(func(*kv.Tx) error { return nil }); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("Update: %v; want ErrReadOnly", err)
	}
	if err := a.View(func(tx *kv.Tx) error { _, err := tx.AddHost("x"); return err }); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("AddHost in a View: %v; want ErrReadOnly", err)
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
			return tx.HostsBelow("", func(string, schema.HostID) bool { return true })
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

// TestSnapshot copies a store while it is written to: every copy is whole.
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

// TestCollision gives two URLs of one host, and one of another, the same hash.
func TestCollision(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openUnchecked(t, path)
	paths := []string{"/a", "/b", "/a"}
	hosts := []schema.HostID{1, 1, 2}
	update(t, s, func(tx *kv.Tx) error {
		for _, name := range []string{"x.example", "y.example"} {
			if _, err := tx.AddHost(name); err != nil {
				return err
			}
		}
		for i := range paths {
			if _, err := tx.AddURL(schema.URL{Host: hosts[i], PathQuery: paths[i]}, 42); err != nil {
				return err
			}
		}
		return nil
	})
	s.Close()
	s = openUnchecked(t, path)
	view(t, s, func(tx *kv.Tx) error {
		for i := range paths {
			id, found, err := tx.Lookup(42, hosts[i], schema.KindPage, paths[i])
			if id != schema.ID(i+1) || !found || err != nil {
				t.Errorf("Lookup(%d, %q) = %d, %t, %v; want %d", hosts[i], paths[i], id, found, err, i+1)
			}
		}
		for _, tt := range []struct {
			host schema.HostID
			kind schema.URLKind
			path string
		}{{2, schema.KindPage, "/b"}, {1, schema.KindSitemap, "/a"}, {1, schema.KindPage, "/c"}} {
			if id, found, err := tx.Lookup(42, tt.host, tt.kind, tt.path); found || err != nil {
				t.Errorf("Lookup(%v) = %d, %t, %v; want none", tt, id, found, err)
			}
		}
		return nil
	})
}

func TestHostsBelow(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "state.db"))
	names := []string{"example.com", "example.com:8443", "a.example.com", "b.a.example.com", "example-a.com", "example.co", "xexample.com",
		"192.0.2.1", "2.1", "[2001:db8::1]", "[2001:db8::1]:81", "com"}
	update(t, s, func(tx *kv.Tx) error {
		for _, name := range names {
			if _, err := tx.AddHost(name); err != nil {
				return err
			}
		}
		return nil
	})
	tests := map[string][]string{
		"example.com":      {"example.com", "a.example.com", "b.a.example.com", "example.com:8443"},
		"a.example.com":    {"a.example.com", "b.a.example.com"},
		"example.com:8443": {"example.com:8443"},
		"192.0.2.1":        {"192.0.2.1"},
		"[2001:db8::1]":    {"[2001:db8::1]", "[2001:db8::1]:81"},
		"none":             nil,
	}
	view(t, s, func(tx *kv.Tx) error {
		for host, want := range tests {
			var got []string
			err := tx.HostsBelow(host, func(name string, id schema.HostID) bool {
				if names[id-1] != name {
					t.Errorf("host %d is %q; want %q", id, name, names[id-1])
				}
				got = append(got, name)
				return true
			})
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("below %q: %v\n%s", host, err, diff)
			}
		}
		return nil
	})
}

// TestManyChunks voids a long queue: what is left of it goes little by little.
func TestManyChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	s.FastForTests()
	const n = 64*600 + 7
	update(t, s, func(tx *kv.Tx) error {
		id, err := addURL(s, tx, "example.com", "/")
		if err != nil {
			return err
		}
		h, err := tx.Host(1)
		for i := 0; i < n && err == nil; i++ {
			err = tx.Push(h, 2, id)
		}
		return err
	})
	if got := chunks(t, s, path); got != 600 {
		t.Fatalf("%d chunks; want 600", got)
	}
	s = openStore(t, path)
	update(t, s, func(tx *kv.Tx) error {
		if _, err := tx.NewGeneration(); err != nil {
			return err
		}
		h, err := tx.Host(1)
		if err != nil {
			return err
		}
		return tx.Push(h, 2, 1)
	})
	if got := chunks(t, s, path); got == 0 || got >= 600 {
		t.Errorf("%d chunks after the first sweep; want some", got)
	}
	s = openStore(t, path)
	for range 3 {
		update(t, s, func(tx *kv.Tx) error {
			h, err := tx.Host(1)
			if err != nil {
				return err
			}
			return tx.Trim(h, func(schema.ID) bool { return true })
		})
	}
	update(t, s, func(tx *kv.Tx) error {
		h, err := tx.Host(1)
		if err == nil && (h.Waiting != 0 || len(h.Queues) != 0) {
			t.Errorf("%d wait in %v; want none", h.Waiting, h.Queues)
		}
		return err
	})
	if got := chunks(t, s, path); got != 0 {
		t.Errorf("%d chunks in the end; want none", got)
	}
}

// chunks closes a store and counts its frontier chunks.
func chunks(t *testing.T, s *kv.Store, path string) int {
	t.Helper()
	s.Close()
	n := 0
	err := kv.EachRaw(path, func(bucket string, key, _ []byte) {
		if bucket == "frontier" {
			n++
			if binary.BigEndian.Uint32(key) != 1 {
				t.Errorf("chunk of another host: %x", key)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOldDepthsGo makes generations and looks for depths of older ones.
func TestOldDepthsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	s.FastForTests()
	for i := range 100 {
		update(t, s, func(tx *kv.Tx) error {
			id, err := addURL(s, tx, "example.com", fmt.Sprint("/", i))
			tx.SetDepth(id, 3, 0)
			return err
		})
	}
	update(t, s, func(tx *kv.Tx) error { _, err := tx.NewGeneration(); return err })
	for range 4 {
		update(t, s, func(tx *kv.Tx) error { tx.SetDepth(1, 4, 4); return nil })
	}
	if d, h := s.Depth(1); d != 4 || h != 4 {
		t.Errorf("Depth(1) = %d, %d; want 4, 4", d, h)
	}
	if d, _ := s.Depth(2); d != kv.NoDepth {
		t.Errorf("Depth(2) = %d; want none", d)
	}
	s.Close()
	n := 0
	err := kv.EachRaw(path, func(bucket string, key, _ []byte) {
		if bucket == "depths" {
			n++
		}
	})
	if n != 1 || err != nil {
		t.Errorf("%d values of depths, %v; want 1", n, err)
	}
}

// TestLargeCommit splits packed values at their largest size.
func TestLargeCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	s.FastForTests()
	const n = 120_000
	update(t, s, func(tx *kv.Tx) error {
		for i := range n {
			id, err := addURL(s, tx, "example.com", fmt.Sprint("/", i))
			if err != nil {
				return err
			}
			tx.SetDepth(id, uint8(i%200), 1)
		}
		for i := range n {
			v := &schema.Visit{URL: schema.ID(i + 1), Links: []schema.Link{{To: 1, Anchor: fmt.Sprint("anchor ", i)}}}
			if _, err := tx.AddVisit(v); err != nil {
				return err
			}
		}
		return nil
	})
	s.Close()
	largest := 0
	if err := kv.EachRaw(path, func(_ string, _, value []byte) { largest = max(largest, len(value)) }); err != nil {
		t.Fatal(err)
	}
	if largest > 300<<10 {
		t.Errorf("a value of %d bytes", largest)
	}
	s = openStore(t, path)
	if d, _ := s.Depth(n); d != (n-1)%200 || s.Latest(n) != n {
		t.Errorf("URL %d: depth %d, latest %d", n, d, s.Latest(n))
	}
	view(t, s, func(tx *kv.Tx) error {
		for _, seq := range []schema.Seq{1, n / 2, n} {
			v, err := tx.Visit(seq)
			if err != nil {
				return err
			}
			if err := tx.Anchors(v); err != nil || v.Links[0].Anchor != fmt.Sprint("anchor ", seq-1) {
				t.Errorf("visit %d: anchor %q, %v", seq, v.Links[0].Anchor, err)
			}
		}
		return nil
	})
}
