//go:build !linux

package main

import "runtime/debug"

// limitMemory makes the collector work harder from the limit on; nothing better
// is known here.
func limitMemory(bytes int64) { debug.SetMemoryLimit(bytes) }
