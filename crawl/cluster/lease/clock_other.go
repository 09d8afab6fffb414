//go:build !linux

package lease

import "time"

// runningClock may stop while the machine is suspended. The wall clock keeps running then, which looks like a
// jump.
func runningClock() func() time.Duration {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}
