//go:build !linux

package term

import "runtime/debug"

// LimitAddressSpace makes the collector work harder from the limit on; nothing better
// is known here.
func LimitAddressSpace(bytes int64) { debug.SetMemoryLimit(bytes) }
