package kv

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
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

// withoutRoom explains an error of mapping by the limit that was reached. bbolt does not wrap the error of
// mapping a file that has grown.
func withoutRoom(err error) error {
	var limit unix.Rlimit
	if err == nil || !strings.Contains(err.Error(), unix.ENOMEM.Error()) ||
		unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur > 1<<60 {
		return err
	}
	return fmt.Errorf("the address space of this process is limited to %d MB, which the file no longer fits in: "+
		"raise the limit (ulimit -v): %w", limit.Cur/1_000_000, err)
}

// willNeed asks the system to read a part of a file ahead. Errors show when the part is read.
func willNeed(f *os.File, at, size int64) {
	_ = unix.Fadvise(int(f.Fd()), at, size, unix.FADV_WILLNEED)
}
