//go:build !linux

package lease

import "time"

// runningClock may stand still while the machine is suspended. The wall clock goes on then,
// which looks like a jump.
func runningClock() func() time.Duration {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}
