package term

import "syscall"

// LimitAddressSpace bounds the data of this process, mapped files left out.
func LimitAddressSpace(bytes int64) {
	const rlimitData = 2
	_ = syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)})
}
