//go:build unix

package crawl

import (
	"syscall"
	"time"
)

// CPUTime is what this process has used of the processors.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
