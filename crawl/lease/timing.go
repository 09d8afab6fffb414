package lease

import "time"

// A Timing has the times of leases, which must be the same at all nodes of a terrain.
type Timing struct {
	Watch time.Duration // for which a taker must have seen a record unchanged
	Trust time.Duration // of a holder in a renewal, from its sending
	Renew time.Duration // from one renewal to the next
	Jump  time.Duration // of the wall clock against the other, within a trust, that ends it
}

// Standard is the timing that terrains have.
func Standard() Timing {
	return Timing{Watch: 30 * time.Second, Trust: 25 * time.Second, Renew: 10 * time.Second, Jump: time.Second}
}

// look is from one look at a clock, or at a record, to the next.
func (t Timing) look() time.Duration { return t.Renew / 5 }

// ask is how long to wait for an answer.
func (t Timing) ask() time.Duration { return t.Renew / 2 }

// trusts reports whether what was sent at a moment can be trusted now.
func (t Timing) trusts(from, now Instant) bool {
	ran, walked := now.Run-from.Run, now.Wall-from.Wall
	return ran < t.Trust && (walked-ran).Abs() <= t.Jump
}
