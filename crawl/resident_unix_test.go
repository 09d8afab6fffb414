//go:build unix

package crawl_test

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident returns the most memory that a process had resident; 0: unknown.
func maxResident(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
