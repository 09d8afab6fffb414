package kv

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// holder names the process that holds the lock of a file.
func holder(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "another process"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "another process"
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return "another process"
	}
	defer f.Close()
	inode := strconv.FormatUint(stat.Ino, 10)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 1: FLOCK ADVISORY WRITE 1234 08:01:5678 0 EOF
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" || !strings.HasSuffix(fields[5], ":"+inode) {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			return fmt.Sprintf("process %d", pid)
		}
	}
	return "another process"
}
