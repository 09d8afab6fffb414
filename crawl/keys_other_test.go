//go:build !linux

package crawl_test

import (
	"syscall"
	"testing"
)

func shortQueue(t *testing.T, _ syscall.RawConn) { t.Skip("needs a listener whose queue is full") }
