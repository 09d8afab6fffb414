//go:build unix

package process

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// CPUTime returns the CPU time of this process; 0 if unknown.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// MaxResident returns the peak resident memory of an ended process, in bytes; 0 if unknown.
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
