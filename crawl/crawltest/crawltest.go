// Package crawltest is what tests of a crawl need around it: the web, the configuration and the state file that a crawl
// is given, and the questions that are put to the file afterwards.
//
// It does not know package crawl, so that tests inside that package may use it too. Every function fails the test that
// it is given instead of returning an error.
package crawltest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// Full reports whether proofs are wanted in their long form.
func Full() bool { return os.Getenv("RIPPLE_PROOF") == "full" }

// Seed returns the seed of a random test, which RIPPLE_SEED repeats.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("RIPPLE_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("RIPPLE_SEED=%d", seed)
	return seed
}

// Number is the number that a variable of the environment says, if it says one.
func Number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// InMemory has the files of a package's tests, and of the processes that these start, in memory where the machine has a
// file system for that: each commit of a state file waits for the disk, and on one that is shared, tests do little
// else. Whoever asks for a folder by TMPDIR gets it there. It is called by TestMain.
func InMemory() {
	const folder, least = "/dev/shm", 1 << 30
	if free, known := disk.Free(folder); os.Getenv("TMPDIR") != "" || !known || free < least {
		return
	}
	if probe, err := os.MkdirTemp(folder, "ripple-test"); err == nil && os.Remove(probe) == nil {
		os.Setenv("TMPDIR", folder)
	}
}

// Serve starts a web that ends with the test.
func Serve(t testing.TB, opts ...webtest.Option) *webtest.Server {
	t.Helper()
	s, err := webtest.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Open opens a state file for writing, until the test ends or closes it.
func Open(t testing.TB, path string) *kv.Store {
	t.Helper()
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}
