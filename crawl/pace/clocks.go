package pace

import (
	"sync"
	"time"
)

// Clocks are the clocks of addresses that several pacers ask. Whoever is about to
// ask an address reserves it, and then either starts its clock or cancels. The
// zero value is ready. Clocks may be used from many goroutines.
type Clocks struct {
	mu       sync.Mutex
	reserved map[string]struct{}
	asked    map[string]clock
	before   map[string]clock // the generation before, forgotten when the longest gap has passed
	turned   time.Time
	longest  time.Duration
	sharers  int       // of the addresses, of which this is one; 0: one
	since    time.Time // until when somebody else has asked addresses; zero: nobody has
}

// A clock is when an address was asked, and how long it is then left alone.
type clock struct {
	at  time.Time
	gap time.Duration
}

const minGeneration = 100 * time.Millisecond

// Share makes every gap so many times as long, because as many sharers ask the addresses,
// each with clocks of its own.
func (c *Clocks) Share(sharers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sharers = sharers
}

// Since says that until a moment somebody else has asked addresses, nobody knows which, as a process
// that was killed: each counts as asked then.
func (c *Clocks) Since(moment time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = moment
}

// shared is a gap as it is among all sharers.
func (c *Clocks) shared(gap time.Duration) time.Duration {
	return gap * time.Duration(max(1, c.sharers))
}

// Reserve reports whether an address may be asked now, by somebody who leaves it
// alone for a gap; nobody else may, until Start or Cancel. Otherwise it returns
// when to try again.
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

// Ask starts the clock of an address that is asked at once, and reports whether it may
// be. Otherwise it returns when to try again.
func (c *Clocks) Ask(address string, gap time.Duration, now time.Time) (again time.Time, ok bool) {
	if again, ok = c.Reserve(address, gap, now); ok {
		c.Start(address, gap, now)
	}
	return again, ok
}

// Start says that a reserved address is asked now.
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

// Restart says that an address for which a request was handed over at a moment, with its clock,
// is asked only now, and reports whether that may still be. It may not where somebody else has asked
// it since, or is about to.
func (c *Clocks) Restart(address string, gap time.Duration, handed, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.asked[address]
	if !known {
		last = c.before[address]
	}
	_, taken := c.reserved[address]
	// The clock was started about then, or is so soon; others keep the gap before and after.
	switch unstarted := last.at.Before(handed.Add(-gap / 2)); {
	case last.at.After(handed.Add(gap / 2)):
		return false
	case taken:
		return unstarted && now.Sub(handed) < gap/2
	}
	c.start(address, gap, now)
	return true
}

// Cancel says that a reserved address is not asked.
func (c *Clocks) Cancel(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reserved, address)
}
