package crawltest

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// SmallDisk mounts a disk of a size in the words of tmpfs, and returns its folder. The test is skipped where none
// can be mounted.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { // a child that is being started may have a file of it open for a moment
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// FillDisk leaves no page of a disk free, by a new file.
func FillDisk(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
