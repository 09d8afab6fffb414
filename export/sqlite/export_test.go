package sqlite

import "testing"

// BoundFiles limits the temporary files of the process during a test.
func BoundFiles(t testing.TB, bytes int64) {
	set := func(n int64) {
		files.mu.Lock()
		defer files.mu.Unlock()
		files.most = n
	}
	set(bytes)
	t.Cleanup(func() { set(maxTemporary) })
}

// Taken returns the memory and temporary files that SQLite uses in this process, in bytes.
func Taken() (memoryBytes, fileBytes int64) {
	files.mu.Lock()
	defer files.mu.Unlock()
	return memory.bytes.Load(), files.bytes
}
