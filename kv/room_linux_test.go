package kv_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sumi-ripple/ripple/kv"
)

const envRoom = "KV_ROOM_STATE"

// TestAddressSpaceLimited opens and fills a store when little can be mapped: it uses what is available, and
// explains the error when that is exhausted.
func TestAddressSpaceLimited(t *testing.T) {
	if path := os.Getenv(envRoom); path != "" {
		fillWithLimit(t, path)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAddressSpaceLimited$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), envRoom+"="+filepath.Join(t.TempDir(), "state.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func fillWithLimit(t *testing.T, path string) {
	reserveHeap()
	limitAddressSpace(t, 300<<20)
	s := openUnchecked(t, path)
	s.FastForTests()
	var err error
	n := 0
	for ; err == nil && n < 2000; n++ {
		if n%8 == 0 {
			runtime.GC() // otherwise, on a busy machine, garbage may use up the rest, which ends the process
		}
		err = s.Update(func(tx *kv.Tx) error {
			return tx.Meta.Put("filler "+strconv.Itoa(n), make([]byte, 256<<10))
		})
	}
	if !errors.Is(err, kv.ErrCommit) || !strings.Contains(err.Error(), "address space of this process is limited to") {
		t.Fatalf("after %d commits: %v; want ErrCommit that names the limit", n, err)
	}
	if n < 200 {
		t.Errorf("only %d MB fitted", n/4)
	}
	s.Close()
	limitAddressSpace(t, 16<<20)
	if _, err := kv.Open(path, kv.Options{}); err == nil || !strings.Contains(err.Error(), "(ulimit -v)") {
		t.Errorf("Open: %v; want an error that names the limit", err)
	}
}

// reserveHeap makes the heap reserve room: if the heap cannot grow, the process ends.
func reserveHeap() {
	room := make([][]byte, 64)
	for i := range room {
		room[i] = make([]byte, 1<<20)
	}
	runtime.KeepAlive(room)
	runtime.GC()
}

// limitAddressSpace limits this process to the given number of bytes beyond its current mappings.
func limitAddressSpace(t *testing.T, more uint64) {
	t.Helper()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "VmSize:" {
			continue
		}
		kb, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		limit := syscall.Rlimit{Cur: kb<<10 + more, Max: unix.RLIM_INFINITY}
		if err := syscall.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
			t.Skip(err)
		}
		return
	}
	t.Skip("the size of this process is not known")
}
