//go:build unix

package kv_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// A closed file can be locked at once, even while child processes are being started.
func TestClosedWhileChildrenStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.Command(os.Args[0], "-test.run=^$").Run()
			}
		}
	}()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := range 300 {
		s, err := kv.Open(path, kv.Options{ReadOnly: true})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if held, err := disk.TryLock(f, true); err != nil || !held {
			t.Fatalf("it was opened and closed %d times, and is locked: %v", n+1, err)
		}
		disk.Unlock(f)
	}
	close(stop)
	<-stopped
}
