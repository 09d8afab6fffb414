//go:build !(unix && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || mips64 || mips64le || loong64))

package kv

// mapRoom returns the address space for mapping the file: only its own size. On Windows the file would grow
// to the size of its mapping.
func mapRoom() int { return 0 }
