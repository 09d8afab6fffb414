package crawl

import (
	"time"

	"golang.org/x/sys/unix"
)

// suspensions tells for how long the machine has been suspended since it was started.
func suspensions() func() time.Duration { return suspended }

func suspended() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
