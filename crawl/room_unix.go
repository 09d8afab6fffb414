//go:build linux || darwin

package crawl

import "syscall"

// freeSpace returns the bytes that may still be written into a folder.
func freeSpace(dir string) (uint64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
