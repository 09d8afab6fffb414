package statefile

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// TestCheckThatWaits makes the process that checks a file wait for longer than it may take, as with
// a slow disk: nothing is reported about the file.
func TestCheckThatWaits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a check may")
	}
	t.Parallel()
	path := filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt")
	if _, _, err := Compact(path); err != nil { // a small file may take less time
		t.Fatal(err)
	}
	go func() {
		for stopped := false; !stopped && t.Context().Err() == nil; {
			for _, pid := range childrenThatCheck() {
				stopped = syscall.Kill(pid, syscall.SIGSTOP) == nil
			}
		}
	}()
	v, err := CheckApart(t.Context(), path, false)
	if err == nil {
		t.Errorf("the verdict is %+v", v)
	}
}

// childrenThatCheck returns the child processes that check a file.
func childrenThatCheck() (pids []int) {
	all, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range all {
		children, _ := os.ReadFile(name)
		for _, child := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if pid, err := strconv.Atoi(child); err == nil && bytes.Contains(line, []byte("\x00check-file\x00")) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
