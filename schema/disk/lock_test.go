package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// Handles of one file behave like processes, because each has its own lock.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	one, other := open(), open()
	try := func(f *os.File, exclusive, want bool) {
		t.Helper()
		if got, err := TryLock(f, exclusive); err != nil || got != want {
			t.Errorf("TryLock = %v, %v; want %v", got, err, want)
		}
	}
	try(one, false, true)
	try(other, false, true)
	try(other, true, !Locks)
	Unlock(one)
	try(other, true, true)
	try(one, false, !Locks)
	other.Close()
	Unlock(other)
	try(one, true, true)
	if _, err := TryLock(other, true); Locks && err == nil {
		t.Error("a closed file was locked")
	}
}
