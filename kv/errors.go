package kv

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Errors on which callers base decisions.
var (
	// ErrNotFound reports a record that is not in the store.
	ErrNotFound = errors.New("not found")
	// ErrLocked reports that another process holds the state file.
	ErrLocked = errors.New("state file is in use")
	// ErrForeign reports a file that Ripple did not write.
	ErrForeign = errors.New("not a state file of Ripple")
	// ErrFormat reports a state file of another format version.
	ErrFormat = errors.New("written by a development version of Ripple; crawl again")
	// ErrDamaged reports a state file whose content is not what was written to it.
	ErrDamaged = errors.New("state file is damaged")
	// ErrMemory reports a state file that needs more memory than is available.
	ErrMemory = errors.New("state file needs more memory than there is")
	// ErrLost reports a state file that was removed, replaced, truncated or written to by another process
	// while it was open.
	ErrLost = errors.New("state file is lost")
	// ErrCommit reports a failed commit; whether it took place is unknown.
	ErrCommit = errors.New("commit failed")
	// ErrClosed reports a store that was closed, or that closed itself after an error, which it then also
	// wraps.
	ErrClosed = errors.New("state file is closed")
	// ErrReadOnly reports an update of a store that was opened for reading.
	ErrReadOnly = errors.New("state file was opened for reading")
	// ErrFull reports that one of a state file's number ranges is exhausted, or that a value or a commit is
	// too large.
	ErrFull = errors.New("state file is full")
)

// bare strips the operation and file name from the error of a system call: the caller names the state file.
func bare(err error) error {
	if at, ok := err.(*os.PathError); ok {
		return at.Err
	}
	return err
}

// Guard runs f, which reads a store inside a transaction of another caller, so that damage found in f has
// become an error when Guard returns.
func Guard(f func() error) error { return guard(f) }

// guard runs f. A fault of the mapped file, or a panic that originates in the store, becomes an error that
// wraps [ErrDamaged]; other panics continue.
func guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if _, fault := v.(interface{ Addr() uintptr }); !fault && !fromStore() {
			panic(v)
		}
		if _, broken := v.(runtime.Error); broken {
			v = "a page holds impossible values"
		}
		err = fmt.Errorf("%w: %v", ErrDamaged, v)
	}()
	return f()
}

// fromStore reports whether the current panic originated in bbolt or in this package, or in a helper called
// by one of them.
func fromStore() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicking := false
	for {
		frame, more := frames.Next()
		name := frame.Function
		switch {
		case !panicking:
			panicking = name == "runtime.gopanic"
		case strings.HasPrefix(name, "go.etcd.io/bbolt"), strings.HasPrefix(name, "github.com/sumi-ripple/ripple/kv."):
			return true
		case !isHelper(name):
			return false
		}
		if !more {
			return false
		}
	}
}

// isHelper reports whether a function belongs to the standard library or to a library that only this package
// calls within a transaction.
func isHelper(name string) bool {
	if strings.HasPrefix(name, "github.com/klauspost/compress") || strings.HasPrefix(name, "github.com/zeebo/xxh3") {
		return true
	}
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(name, "/") && !strings.Contains(first, ".") ||
		!strings.Contains(name, "/") && !strings.HasPrefix(name, "main.")
}
