package output

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// TestPagesDiskFull writes a body to a disk that has no room for it: no part of it is left.
func TestPagesDiskFull(t *testing.T) {
	t.Parallel()
	disk := crawltest.SmallDisk(t, "1m")
	d, err := openPages(disk, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Root.Close()
	if _, err := d.Put("abcdef", make([]byte, 2<<20)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("put = %v, want %v", err, syscall.ENOSPC)
	}
	if left, err := os.ReadDir(filepath.Join(disk, "ab", "cd")); err != nil || len(left) > 0 {
		t.Errorf("left on the disk: %v, %v", left, err)
	}
}
