package sqlite

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// boundedFiles is the name of a VFS (https://www.sqlite.org/vfs.html) that works like the system's,
// except that all files open in it may have at most maxTemporary bytes together. A database in memory
// opens only temporary files.
const boundedFiles = "ripple"

// files holds the open files of the VFS. C has no closures, so the functions of the VFS need this
// variable.
var files = struct {
	mu         sync.Mutex
	systemOpen uintptr
	open       map[uintptr]*openFile // by sqlite3_file
	bytes      int64                 // of all files
	most       int64
}{open: map[uintptr]*openFile{}, most: maxTemporary}

// An openFile has its own copy of the system's methods, two of which are replaced.
type openFile struct {
	system, own uintptr
	bytes       int64
}

// The functions of a VFS that are called or replaced.
type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	writeFunc = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	closeFunc = func(tls *libc.TLS, file uintptr) int32
)

// registerFiles registers the VFS until the process ends.
func registerFiles() error {
	tls := libc.NewTLS()
	defer tls.Close()
	system := sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(boundedFiles)
	if system == 0 || err != nil {
		return errors.New("SQLite has no files on this system")
	}
	own := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	vfs := at[sqlite3.Tsqlite3_vfs](own)
	*vfs = *at[sqlite3.Tsqlite3_vfs](system)
	files.systemOpen = vfs.FxOpen
	vfs.FpNext, vfs.FzName, vfs.FxOpen = 0, name, pointer[openFunc](openBounded)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 0); rc != 0 {
		return fmt.Errorf("the files of SQLite cannot be bounded: error %d", rc)
	}
	return nil
}

func openBounded(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := function[openFunc](files.systemOpen)(tls, vfs, name, file, flags, outFlags)
	opened := at[sqlite3.Tsqlite3_file](file)
	if rc != 0 || opened.FpMethods == 0 {
		return rc
	}
	f := &openFile{system: opened.FpMethods}
	f.own = libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	methods := at[sqlite3.Tsqlite3_io_methods](f.own)
	*methods = *at[sqlite3.Tsqlite3_io_methods](f.system)
	methods.FxWrite, methods.FxClose = pointer[writeFunc](writeBounded), pointer[closeFunc](closeBounded)
	opened.FpMethods = f.own
	files.mu.Lock()
	defer files.mu.Unlock()
	files.open[file] = f
	return rc
}

func writeBounded(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	system, ok := grow(file, offset+int64(n))
	if !ok {
		return sqlite3.SQLITE_FULL
	}
	return function[writeFunc](system.FxWrite)(tls, file, data, n, offset)
}

// grow records the new minimum size of a file and returns the system's methods. If the limit is
// exceeded, it cancels the running statements.
func grow(file uintptr, bytes int64) (*sqlite3.Tsqlite3_io_methods, bool) {
	files.mu.Lock()
	defer files.mu.Unlock()
	f := files.open[file]
	more := max(0, bytes-f.bytes)
	if files.bytes+more > files.most {
		running.end(tooMuch(files.most, " of temporary files"))
		return nil, false
	}
	f.bytes += more
	files.bytes += more
	return at[sqlite3.Tsqlite3_io_methods](f.system), true
}

func closeBounded(tls *libc.TLS, file uintptr) int32 {
	files.mu.Lock()
	f := files.open[file]
	delete(files.open, file)
	files.bytes -= f.bytes
	files.mu.Unlock()
	defer libc.Xfree(tls, f.own)
	return function[closeFunc](at[sqlite3.Tsqlite3_io_methods](f.system).FxClose)(tls, file)
}
