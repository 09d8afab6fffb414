package lease

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// runningClock keeps running while the machine is suspended.
func runningClock() func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
			panic(fmt.Sprintf("lease: CLOCK_BOOTTIME: %v", err)) // every Linux that Go supports has it
		}
		return time.Duration(t.Nano())
	}
}
