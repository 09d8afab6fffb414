//go:build linux || darwin

package main

import "syscall"

// freeSpace returns the bytes that may still be written into a folder.
func freeSpace(dir string) (uint64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}

// writable reports why nothing can be made in a folder.
func writable(dir string) error {
	const write, enter = 2, 1 // W_OK, X_OK
	return syscall.Access(dir, write|enter)
}
