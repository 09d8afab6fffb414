package kv_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
)

// TestOpenReplacedFile waits for the lock of a file that is replaced meanwhile: later writes must go to the
// file that has the name.
func TestOpenReplacedFile(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "state.db"), filepath.Join(dir, "next.db")
	old := openUnchecked(t, path)
	openUnchecked(t, next).Close()
	opened := make(chan *kv.Store)
	go func() {
		s, err := kv.Open(path, kv.Options{Timeout: time.Minute})
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	for waiting := false; !waiting; { // until the other side has the old file open
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("open files cannot be listed here")
		}
		n := 0
		for _, e := range entries {
			if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); to == path {
				n++
			}
		}
		waiting = n > 1
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := <-opened
	if s == nil {
		t.FailNow()
	}
	update(t, s, func(tx *kv.Tx) error { _, err := tx.Hosts.Add("a.example"); return err })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s = openUnchecked(t, path); s.Hosts() != 1 {
		t.Errorf("the file under the name has %d hosts; what was written went elsewhere", s.Hosts())
	}
}
