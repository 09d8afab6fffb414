// Package process tells tests what a process has used of the machine: the time of its processors, which other work on
// the machine does not lengthen as it does the clock's, memory, and what it has written.
package process

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// LiveHeap collects the heap, and returns what is left of it in bytes.
func LiveHeap() int64 {
	runtime.GC()
	runtime.GC() // what pools hold, the first one leaves
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Written is what this process has written to files, in bytes; 0: not known here.
func Written() (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "wchar: ")
	fmt.Sscanf(rest, "%d", &n)
	return n
}
