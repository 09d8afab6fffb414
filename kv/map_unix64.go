//go:build unix && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || mips64 || mips64le || loong64)

package kv

import "golang.org/x/sys/unix"

// mapSize is the address space for mapping the file, if there is enough. A file that outgrows it must wait
// for its readers and is remapped.
const mapSize = 16 << 30

// mapRoom returns the largest part of mapSize that leaves the same amount to the rest of the process; 0: the
// file's own size.
func mapRoom() int {
	for size := mapSize; size >= 32<<20; size /= 2 {
		b, err := unix.Mmap(-1, 0, 2*size, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err == nil {
			_ = unix.Munmap(b)
			return size
		}
	}
	return 0
}
