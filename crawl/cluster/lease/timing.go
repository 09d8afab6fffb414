package lease

import "time"

// A Timing holds the durations of leases. It must be the same on all nodes of a terrain.
type Timing struct {
	Watch time.Duration // how long a taker must see a record unchanged
	Trust time.Duration // how long a holder trusts a renewal, from its sending
	Renew time.Duration // between renewals
	Jump  time.Duration // difference between the clocks, within a trust, that ends it
}

// Standard returns the timing of terrains.
func Standard() Timing {
	return Timing{Watch: 30 * time.Second, Trust: 25 * time.Second, Renew: 10 * time.Second, Jump: time.Second}
}

// look is the time between two looks at a clock or a record.
func (t Timing) look() time.Duration { return t.Renew / 5 }

// ask is how long to wait for an answer.
func (t Timing) ask() time.Duration { return t.Renew / 2 }

// trusts reports whether a write sent at from can be trusted now.
func (t Timing) trusts(from, now Instant) bool {
	ran, walked := now.Run-from.Run, now.Wall-from.Wall
	return ran < t.Trust && (walked-ran).Abs() <= t.Jump
}
