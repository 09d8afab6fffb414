package disk

import (
	"runtime"
	"testing"
)

func TestFree(t *testing.T) {
	asks := runtime.GOOS == "linux" || runtime.GOOS == "darwin"
	if bytes, known := Free(t.TempDir()); known != asks || known && bytes == 0 {
		t.Errorf("Free = %d, %v", bytes, known)
	}
	if _, known := Free(t.TempDir() + "/none"); known {
		t.Error("the room of a folder that is not there is known")
	}
}
