package kv

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// What a caller decides on.
var (
	// ErrNotFound reports a record that is not in the store.
	ErrNotFound = errors.New("not found")
	// ErrLocked reports that another process holds the state file.
	ErrLocked = errors.New("state file is in use")
	// ErrForeign reports a file that Ripple did not write.
	ErrForeign = errors.New("not a state file of Ripple")
	// ErrFormat reports a state file of another format version.
	ErrFormat = errors.New("written by a development version of Ripple; crawl again")
	// ErrDamaged reports a state file that does not hold what was written to it.
	ErrDamaged = errors.New("state file is damaged")
	// ErrMemory reports a state file of which more is held in memory than there may be.
	ErrMemory = errors.New("state file needs more memory than there is")
	// ErrLost reports a state file that was removed, replaced, cut or written to by
	// somebody else while it was open.
	ErrLost = errors.New("state file is lost")
	// ErrCommit reports a failed commit; whether it took place is unknown.
	ErrCommit = errors.New("commit failed")
	// ErrClosed reports a store that was closed, or closed itself after an error,
	// which the error then wraps too.
	ErrClosed = errors.New("state file is closed")
	// ErrReadOnly reports an update of a store that was opened for reading.
	ErrReadOnly = errors.New("state file was opened for reading")
	// ErrFull reports that one of the numbers of a state file is used up, or that a value or
	// a commit is too large for it.
	ErrFull = errors.New("state file is full")
)

// bare strips the error of a system call of its operation and file name: whoever returns
// it names the state file.
func bare(err error) error {
	if at, ok := err.(*os.PathError); ok {
		return at.Err
	}
	return err
}

// Guard runs f, which reads a store within a transaction that somebody else has begun,
// so that damage that is met in there is an error already when f is left.
func Guard(f func() error) error { return guard(f) }

// guard runs f. A fault of the mapped file or a panic that begins in the store
// becomes an error that wraps [ErrDamaged]; the panics of others go on.
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

// fromStore reports whether the panic being recovered began in bbolt or in this
// package, or in a helper that one of them called.
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

// isHelper reports whether a function belongs to the standard library or to a
// library that only this package calls within a transaction.
func isHelper(name string) bool {
	if strings.HasPrefix(name, "github.com/klauspost/compress") || strings.HasPrefix(name, "github.com/zeebo/xxh3") {
		return true
	}
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(name, "/") && !strings.Contains(first, ".") ||
		!strings.Contains(name, "/") && !strings.HasPrefix(name, "main.")
}
