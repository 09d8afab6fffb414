package lease

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// FileID identifies a file of this machine until the machine restarts. It is empty if that is not possible,
// for example on other systems.
func FileID(path string) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", nil
	}
	return identify(path, boot)
}

// FolderID identifies a folder of this machine, as far as that is possible: a copy elsewhere has another ID.
func FolderID(path string) (string, error) {
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return identify(path, machine)
}

// identify identifies a file or folder at a place.
func identify(path string, place []byte) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", nil
	}
	return fmt.Sprintf("%d:%d@%s", stat.Dev, stat.Ino, bytes.TrimSpace(place)), nil
}
