//go:build unix

package crawl

import "syscall"

// descriptors returns how many file descriptors this process may have open; 0: any number.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}
