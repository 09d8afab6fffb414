//go:build linux || darwin

package disk

import "syscall"

// Free returns how many bytes may still be written into a folder, or that this is not known.
func Free(dir string) (bytes uint64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
