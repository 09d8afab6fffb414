package kv_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
)

// TestDiskFull commits on a small file system until it is full: the commit fails, the store closes itself,
// and the file holds all previous commits.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "state.db")
	s := openUnchecked(t, path)
	g := newGrower(s, 20)
	safe := s.LastCommit()
	var err error
	for err == nil {
		if err = g.commit(60); err == nil {
			safe = s.LastCommit()
		}
	}
	if !errors.Is(err, kv.ErrCommit) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("after %d commits: %v; want ErrCommit for ENOSPC", safe, err)
	}
	if err := g.commit(1); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("the next commit: %v; want ErrClosed", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := kv.Check(path, func(problem string) { t.Error(problem) }); err != nil {
		t.Fatal(err)
	}
	if s = openUnchecked(t, path); s.LastCommit() < safe {
		t.Errorf("%d commits are left of %d", s.LastCommit(), safe)
	}
	if err := newGrower(s, s.Hosts()).commit(20); err != nil {
		t.Errorf("going on: %v", err)
	}
	t.Logf("%d commits until the disk was full, 0 lost", safe)
}
