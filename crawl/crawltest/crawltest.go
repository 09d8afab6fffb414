// Package crawltest provides what tests of a crawl need: the web, the configuration and the state file
// of a crawl, and checks of the file afterwards.
//
// It does not import package crawl, so tests inside that package can use it too. Functions fail the
// test that they are given instead of returning an error.
package crawltest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
)

// Full reports whether tests should run in their long form.
func Full() bool { return os.Getenv("RIPPLE_PROOF") == "full" }

// Seed returns the seed of a random test. RIPPLE_SEED sets it, to repeat a run.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("RIPPLE_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("RIPPLE_SEED=%d", seed)
	return seed
}

// Number returns the number in an environment variable, or otherwise if there is none.
func Number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// WithoutSystemRoots empties the system's list of trusted certificates for child processes: each would parse all of
// them when it starts, and the test web is signed by an authority of its own. It is called by TestMain.
func WithoutSystemRoots() {
	for name, value := range NoSystemRoots() {
		os.Setenv(name, value)
	}
}

// NoSystemRoots returns the environment of [WithoutSystemRoots], for children that do not inherit it.
func NoSystemRoots() map[string]string {
	return map[string]string{"SSL_CERT_FILE": os.DevNull, "SSL_CERT_DIR": "/nonexistent"}
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
