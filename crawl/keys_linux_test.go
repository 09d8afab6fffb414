package crawl_test

import (
	"syscall"
	"testing"
)

// shortQueue limits the queue of connections waiting to be accepted.
func shortQueue(t *testing.T, raw syscall.RawConn) {
	if err := raw.Control(func(fd uintptr) { _ = syscall.Listen(int(fd), 0) }); err != nil {
		t.Fatal(err)
	}
}
