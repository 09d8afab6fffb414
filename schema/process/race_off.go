//go:build !race

package process

// Race reports whether the race detector is on. It makes everything slower, so timings mean nothing.
const Race = false
