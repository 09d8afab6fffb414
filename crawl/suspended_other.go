//go:build !linux

package crawl

import "time"

// clocksTell says that the clocks need not show a suspension of the machine.
const clocksTell = false

// suspensions returns a function that returns how long the machine has been suspended since the
// call, by the wall clock, which continues during a suspension. The monotonic clock stops, as on
// macOS, or continues, as on Windows, where the pulse is late instead. A wall clock that is set
// forward looks like a suspension; that costs only the connections, which are opened again.
func suspensions() func() time.Duration {
	start := time.Now()
	return func() time.Duration {
		now := time.Now()
		return now.Round(0).Sub(start.Round(0)) - now.Sub(start)
	}
}
