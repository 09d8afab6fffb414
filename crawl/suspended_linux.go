package crawl

import (
	"time"

	"golang.org/x/sys/unix"
)

// clocksTell says that the clocks always show a suspension of the machine.
const clocksTell = true

// suspensions returns a function that returns how long the machine has been suspended since it was
// started.
func suspensions() func() time.Duration { return suspended }

// suspended reads one clock between two readings of the other, and repeats that if the process was
// delayed in between.
func suspended() time.Duration {
	for {
		before, all, after := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_MONOTONIC)
		if after-before < noise/4 {
			return all - after
		}
	}
}

// read returns a clock's time; 0: there is no such clock.
func read(clock int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
