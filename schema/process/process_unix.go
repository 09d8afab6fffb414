//go:build unix

package process

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// CPUTime is what this process has used of the processors; 0: not known here.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// MaxResident returns the most memory that an ended process had resident; 0: not known here.
func MaxResident(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
