// Package sidebyside lets tests wait at the same time.
package sidebyside

import (
	"flag"
	"runtime"
	"strconv"

	"github.com/sumi-ripple/ripple/schema/process"
)

// Tests lets so many parallel tests of a package run at a time, however few processors there are, where
// they wait more than they compute. It leaves -parallel as it is where that was given, and where there
// are as many processors. Under the race detector, where they compute much more, it is half of
// them. It is called by TestMain.
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
