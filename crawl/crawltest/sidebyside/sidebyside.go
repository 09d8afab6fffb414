// Package sidebyside lets waiting tests run concurrently.
package sidebyside

import (
	"flag"
	"runtime"
	"strconv"

	"github.com/sumi-ripple/ripple/schema/process"
)

// Tests sets how many parallel tests of a package run at a time, for tests that wait more than they
// compute. It does nothing if -parallel is given, or if there are at least n processors. Under the race
// detector, which makes tests compute much more, it uses half of n. It is called by TestMain.
func Tests(n int) {
	const name = "test.parallel"
	if process.Race {
		n /= 2
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given || runtime.GOMAXPROCS(0) >= n {
		return
	}
	if err := flag.Set(name, strconv.Itoa(n)); err != nil {
		panic(err) // package testing has no such flag
	}
}
