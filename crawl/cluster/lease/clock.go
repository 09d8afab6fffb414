package lease

import "time"

// An Instant is a moment on two clocks.
type Instant struct {
	Run  time.Duration // of a clock that is never set, and that includes suspension where possible
	Wall time.Duration // since 1970
}

// atOnce is how far apart the two clocks are read, at most, if possible: far less than any jump that matters.
const atOnce = 100 * time.Microsecond

// MachineClock returns the clocks of this machine. They are read almost simultaneously, because a pause
// between the readings would look like a jump.
func MachineClock() func() Instant {
	running := runningClock()
	return func() Instant {
		best, width := Instant{}, time.Duration(-1)
		for range 3 {
			before := running()
			wall := time.Duration(time.Now().UnixNano())
			after := running()
			if width < 0 || after-before < width {
				best, width = Instant{Run: before, Wall: wall}, after-before
			}
			if width < atOnce {
				break
			}
		}
		return best
	}
}
