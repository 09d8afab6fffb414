package crawl

import (
	"time"

	"golang.org/x/sys/unix"
)

// suspensions tells for how long the machine has been suspended since it was started.
func suspensions() func() time.Duration { return suspended }

// suspended reads one clock between two readings of the other, and once more where the
// process was kept waiting between them.
func suspended() (asleep time.Duration) {
	for range 5 {
		before, all, after := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_MONOTONIC)
		asleep = all - after
		if after-before < noise/4 {
			break
		}
	}
	return asleep
}

// read is a clock's time; 0: there is no such clock.
func read(clock int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
