// Package disktest keeps the files of tests in memory if the machine has a file system for that. Each commit of a state
// file waits for the disk, and on a shared disk tests do little else.
package disktest

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/schema/disk"
)

const shared, least = "/dev/shm", 1 << 30

// InMemory keeps the files of a package's tests, and of their child processes, in memory. A TMPDIR that is set takes
// precedence. It is called by TestMain.
func InMemory() {
	if probe, err := os.MkdirTemp(parent(), "ripple-test"); err == nil && os.Remove(probe) == nil {
		os.Setenv("TMPDIR", parent())
	}
}

// Folder returns a new folder in memory, or else one on the disk. It is removed at the end of the test.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent(), "ripple-test")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// parent returns where temporary files are made.
func parent() string {
	if free, known := disk.Free(shared); os.Getenv("TMPDIR") != "" || !known || free < least {
		return os.TempDir()
	}
	return shared
}
