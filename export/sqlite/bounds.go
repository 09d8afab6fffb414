package sqlite

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// Limits for all statements of this process together, in bytes. The driver copies every row before it
// can be rejected, so a statement takes at most twice maxHeap.
const (
	maxHeap      = 128 << 20 // SQLite's memory
	maxRow       = 32 << 20  // one row of the answer
	maxTemporary = 1 << 30   // SQLite's temporary files
)

// ErrMemory reports a statement that exceeds the limit on memory or on temporary files.
var ErrMemory = errors.New("the question needs too much memory")

func tooMuch(bytes int64, where string) error {
	return fmt.Errorf("%w: more than %d MiB%s", ErrMemory, bytes>>20, where)
}

// memory counts the memory of SQLite. This build of SQLite does not count by itself, and if it refuses
// memory because of a limit of its own, some of its functions continue uselessly until the end of the
// statement. C has no closures, so the functions of the allocator need this variable.
var memory struct {
	system sqlite3.Tsqlite3_mem_methods
	bytes  atomic.Int64
	most   atomic.Int64 // 0: no limit
}

// The functions of an allocator that are replaced.
type (
	mallocFunc  = func(tls *libc.TLS, n int32) uintptr
	freeFunc    = func(tls *libc.TLS, p uintptr)
	reallocFunc = func(tls *libc.TLS, p uintptr, n int32) uintptr
	sizeFunc    = func(tls *libc.TLS, p uintptr) int32
)

// uncounted is why the memory of SQLite is not counted, or nil if it is. SQLite accepts another
// allocator only before its first use in a process, so it is set when the process starts.
var uncounted = count()

// count makes SQLite allocate memory through this file.
func count() error {
	tls := libc.NewTLS()
	defer tls.Close()
	own := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(memory.system)))
	defer libc.Xfree(tls, own) // SQLite copies it
	list := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(own)))
	defer libc.Xfree(tls, list)
	rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_GETMALLOC, libc.VaList(list, own))
	methods := at[sqlite3.Tsqlite3_mem_methods](own)
	memory.system = *methods
	methods.FxMalloc, methods.FxFree = pointer[mallocFunc](malloc), pointer[freeFunc](free)
	methods.FxRealloc = pointer[reallocFunc](realloc)
	if rc == 0 {
		rc = sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(list, own))
	}
	if rc != 0 {
		return fmt.Errorf("the memory of SQLite cannot be counted: error %d", rc)
	}
	return nil
}

func malloc(tls *libc.TLS, n int32) uintptr {
	if !mayTake(n) {
		return 0
	}
	p := function[mallocFunc](memory.system.FxMalloc)(tls, n)
	memory.bytes.Add(size(tls, p))
	return p
}

func free(tls *libc.TLS, p uintptr) {
	memory.bytes.Add(-size(tls, p))
	function[freeFunc](memory.system.FxFree)(tls, p)
}

// realloc may need the old and the new memory at the same time.
func realloc(tls *libc.TLS, p uintptr, n int32) uintptr {
	old := size(tls, p)
	if int64(n) > old && !mayTake(n) {
		return 0
	}
	q := function[reallocFunc](memory.system.FxRealloc)(tls, p, n)
	if q != 0 {
		memory.bytes.Add(size(tls, q) - old)
	}
	return q
}

func size(tls *libc.TLS, p uintptr) int64 {
	if p == 0 {
		return 0
	}
	return int64(function[sizeFunc](memory.system.FxSize)(tls, p))
}

// mayTake reports whether n more bytes are within the limit. If not, it cancels the running statements.
func mayTake(n int32) bool {
	most := memory.most.Load()
	if most == 0 || memory.bytes.Load()+int64(n) <= most {
		return true
	}
	running.end(tooMuch(most, ""))
	return false
}

// at returns the target of a C pointer.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer converts a function that is not a closure to a C pointer; function does the reverse.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p})) }
