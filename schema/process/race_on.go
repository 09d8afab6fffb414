//go:build race

package process

// Race reports whether the race detector watches: times say nothing, and everything takes longer.
const Race = true
