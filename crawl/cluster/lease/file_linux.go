package lease

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// FileID identifies a file of this machine until the machine restarts. It is empty if that is not possible,
// for example on other systems.
func FileID(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	stat, ok := info.Sys().(*syscall.Stat_t)
	if err != nil || !ok {
		return "", nil
	}
	return fmt.Sprintf("%d:%d@%s", stat.Dev, stat.Ino, bytes.TrimSpace(boot)), nil
}
