//go:build linux || darwin

package disk

import "syscall"

// Free returns how many bytes this user may still write to a folder; known is false if the system does
// not say.
func Free(dir string) (bytes uint64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
