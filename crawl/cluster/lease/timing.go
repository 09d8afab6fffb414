package lease

import "time"

// renewEvery is the time between renewals, however long a lease is.
const renewEvery = 10 * time.Second

// A Timing holds the durations of leases. It must be the same on all nodes of a terrain.
type Timing struct {
	Watch time.Duration // how long a taker must see a record unchanged
	Trust time.Duration // how long a holder trusts a renewal, from its sending
	Renew time.Duration // between renewals
	Jump  time.Duration // difference between the clocks, within a trust, that ends it
}

// Of returns the timing of a terrain with leases of the given length, which is at least 25 s.
func Of(length time.Duration) Timing {
	return Timing{Watch: length + length/5, Trust: length, Renew: renewEvery, Jump: time.Second}
}

// Patience is how long what should happen within a few renewals may take, such as an answer of the hub. A record that
// has not been renewed for that long belongs to a node that has no connection to the hub, but may still trust it.
func (t Timing) Patience() time.Duration { return 3 * t.Renew }

// restart is how long a node watches its own claim of a file that it has locked: longer than the renewals of another
// process with its ID and such a file are apart.
func (t Timing) restart() time.Duration { return 2 * t.Renew }

// look is the time between two looks at a clock or a record.
func (t Timing) look() time.Duration { return t.Renew / 5 }

// ask is how long to wait for an answer.
func (t Timing) ask() time.Duration { return t.Renew / 2 }

// trusts reports whether a write sent at from can be trusted now.
func (t Timing) trusts(from, now Instant) bool {
	ran, walked := now.Run-from.Run, now.Wall-from.Wall
	return ran < t.Trust && (walked-ran).Abs() <= t.Jump
}
