//go:build !linux

package crawl

import "time"

// clocksTell says that a suspension of the machine need not show in its clocks.
const clocksTell = false

// suspensions tells for how long the machine has been suspended since the call, by the
// wall clock, which goes on then. The other clock stands still, as on macOS, or goes on,
// as on Windows, where the pulse is late instead. A wall clock that is set ahead looks
// the same, and costs no more than connections that are made anew.
func suspensions() func() time.Duration {
	start := time.Now()
	return func() time.Duration {
		now := time.Now()
		return now.Round(0).Sub(start.Round(0)) - now.Sub(start)
	}
}
