//go:build unix && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || mips64 || mips64le || loong64)

package kv

// mapSize is the address space that the file is mapped into. A file that
// outgrows it must wait for its readers and is mapped anew.
const mapSize = 16 << 30
