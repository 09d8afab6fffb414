package pace

import (
	"sync"
	"time"
)

// Clocks holds the clocks of addresses shared by several pacers. A pacer reserves an address before a
// request, and then either starts its clock or cancels. The zero value is ready to use. Clocks is safe for
// concurrent use.
type Clocks struct {
	mu       sync.Mutex
	reserved map[string]struct{}
	asked    map[string]clock
	before   map[string]clock // the previous generation, dropped when the longest gap has passed
	turned   time.Time
	longest  time.Duration
	sharers  int       // processes that share the addresses, including this one; 0: one
	since    time.Time // until when another process requested addresses; zero: none has
}

// A clock is when an address was last requested, and how long it is then left alone.
type clock struct {
	at  time.Time
	gap time.Duration
}

const minGeneration = 100 * time.Millisecond

// Share multiplies every gap by the number of sharers, because each requests the addresses with clocks of its
// own.
func (c *Clocks) Share(sharers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sharers = sharers
}

// Since tells c that another process, such as one that was killed, requested unknown addresses until moment.
// Every address counts as requested then.
func (c *Clocks) Since(moment time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = moment
}

// shared returns a gap multiplied by the number of sharers.
func (c *Clocks) shared(gap time.Duration) time.Duration {
	return gap * time.Duration(max(1, c.sharers))
}

// Reserve reports whether an address may be requested now by a pacer that then leaves it alone for gap. If
// so, no other pacer may request it until Start or Cancel. Otherwise Reserve returns when to try again.
func (c *Clocks) Reserve(address string, gap time.Duration, now time.Time) (again time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.reserved[address]; taken {
		return now.Add(gap), false
	}
	last, known := c.asked[address]
	if !known {
		last, known = c.before[address]
	}
	free := c.since.Add(c.shared(gap))
	if again := last.at.Add(max(c.shared(gap), last.gap)); known && again.After(free) {
		free = again
	}
	if free.After(now) {
		return free, false
	}
	if c.reserved == nil {
		c.reserved = map[string]struct{}{}
	}
	c.reserved[address] = struct{}{}
	return time.Time{}, true
}

// Ask is Reserve followed by Start.
func (c *Clocks) Ask(address string, gap time.Duration, now time.Time) (again time.Time, ok bool) {
	if again, ok = c.Reserve(address, gap, now); ok {
		c.Start(address, gap, now)
	}
	return again, ok
}

// Start starts the clock of a reserved address, which is requested now.
func (c *Clocks) Start(address string, gap time.Duration, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start(address, gap, now)
}

func (c *Clocks) start(address string, gap time.Duration, now time.Time) {
	delete(c.reserved, address)
	gap = c.shared(gap)
	c.longest = max(c.longest, gap, minGeneration)
	if c.asked == nil || now.Sub(c.turned) > c.longest {
		c.before, c.asked, c.turned = c.asked, c.before, now
		clear(c.asked)
	}
	if c.asked == nil {
		c.asked = map[string]clock{}
	}
	c.asked[address] = clock{now, gap}
}

// Restart is called when a request was handed over at handed, with its clock, but is sent only now. It
// reports whether the request may still be sent. It may not if another pacer has requested the address since,
// or is about to.
func (c *Clocks) Restart(address string, gap time.Duration, handed, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.asked[address]
	if !known {
		last = c.before[address]
	}
	_, taken := c.reserved[address]
	// The clock was started at about that time, or soon will be; other pacers keep the gap before and after
	// it.
	switch unstarted := last.at.Before(handed.Add(-gap / 2)); {
	case last.at.After(handed.Add(gap / 2)):
		return false
	case taken:
		return unstarted && now.Sub(handed) < gap/2
	}
	c.start(address, gap, now)
	return true
}

// Cancel releases a reserved address that is not requested.
func (c *Clocks) Cancel(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reserved, address)
}
