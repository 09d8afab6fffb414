//go:build !windows

package control

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the owner of a file.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid), true
	}
	return 0, false
}
