// Package slots says how many requests may be open at a time, and whose may be the
// next.
//
// A crawl has a [Share], which bounds it, of [Slots], which bound all that share
// them. Beside that bound two rules decide:
//
// Hosts that have not proven that they answer may be silent, and then hold a slot
// for as long as a time-out. So a slot is left to each proven host that is due soon,
// half of the slots at most, rounded down; unproven hosts use the rest.
//
// Where this machine lacks descriptors, ports or memory, half as many requests as
// were open may be, at least one; from there it is a quarter more every 5 to 60 s,
// until all slots are there again.
//
// Shares that were refused have their turn in the order of their first refusal.
// Slots may be used from many goroutines.
package slots

import (
	"slices"
	"sync"
	"time"
)

const (
	minGrowth = 5 * time.Second
	maxGrowth = 60 * time.Second
)

// Slots are what several crawls share.
type Slots struct {
	mu       sync.Mutex
	most     int // 0: no bound
	used     int
	unproven int // of these
	shares   []*Share
	line     []*Share // that were refused

	few    int           // allowed while means are lacking; 0: they are not
	halved time.Time     // requests sent before say nothing of few
	grows  time.Time     // when few does
	every  time.Duration // between two growths
}

// A Share is what one crawl has of the slots.
type Share struct {
	slots    *Slots
	most     int
	used     int
	unproven int
	due      int  // proven hosts that may want a slot soon
	wants    bool // an unproven host was refused last
	freed    chan struct{}
}

// New returns as many slots as the shares add up to, but at most so many; 0: without
// such a bound.
func New(most int) *Slots { return &Slots{most: most} }

// Share returns a share of at most so many slots. Close ends it.
func (s *Slots) Share(most int) *Share {
	sh := &Share{slots: s, most: max(1, most), freed: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares = append(s.shares, sh)
	return sh
}

// Close ends a share of which nothing is used any more.
func (sh *Share) Close() {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(sh)
	s.shares = slices.DeleteFunc(s.shares, func(other *Share) bool { return other == sh })
	s.signal()
}

// Take takes a slot for a request, to a host that is unproven or not, beside so many
// proven hosts that are due soon. If it is refused, Freed tells when to try again.
func (sh *Share) Take(now time.Time, unproven bool, due int) bool {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grow(now)
	fewer := due < sh.due
	sh.due = due
	if !s.allows(sh, unproven) || s.limit()-s.used <= s.ahead(sh) {
		sh.wants = unproven
		if !slices.Contains(s.line, sh) {
			s.line = append(s.line, sh)
		}
		return false
	}
	s.leave(sh)
	sh.add(1, unproven)
	if fewer && len(s.line) > 0 {
		s.signal()
	}
	return true
}

// Give gives a slot back that was taken for such a host.
func (sh *Share) Give(unproven bool) {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	sh.add(-1, unproven)
	s.signal()
}

// Withdraw says that no slot is wanted now.
func (sh *Share) Withdraw() {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leave(sh) {
		s.signal()
	}
}

// Freed gets a value when a share that was refused should try again.
func (sh *Share) Freed() <-chan struct{} { return sh.freed }

// Used returns how many slots of the share are used, and of these those for
// unproven hosts.
func (sh *Share) Used() (used, unproven int) {
	sh.slots.mu.Lock()
	defer sh.slots.mu.Unlock()
	return sh.used, sh.unproven
}

// Lack says that a request sent at a time failed because this machine lacks means
// to open it. It returns how many may be open from now on, and whether that is news.
func (s *Slots) Lack(sent, now time.Time) (limit int, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grow(now)
	if s.few > 0 && sent.Before(s.halved) {
		return s.few, false
	}
	news = s.few == 0
	s.every = min(max(2*s.every, minGrowth), maxGrowth)
	s.few = max(1, min(s.limit(), s.used)/2)
	s.halved, s.grows = now, now.Add(s.every)
	return s.few, news
}

// grow allows more once it is time.
func (s *Slots) grow(now time.Time) {
	for s.few > 0 && !now.Before(s.grows) {
		s.few += max(1, s.few/4)
		s.grows = s.grows.Add(s.every)
		if s.few >= s.size() {
			s.few, s.every = 0, 0
		}
	}
}

func (s *Slots) size() int {
	n := 0
	for _, sh := range s.shares {
		n += sh.most
	}
	if s.most > 0 {
		return min(n, s.most)
	}
	return n
}

func (s *Slots) limit() int {
	if s.few > 0 {
		return min(s.few, s.size())
	}
	return s.size()
}

// allows says whether a share may take a slot, but for the shares that wait.
func (s *Slots) allows(sh *Share, unproven bool) bool {
	limit := s.limit()
	if s.used >= limit || sh.used >= sh.most {
		return false
	}
	if !unproven {
		return true
	}
	due := 0
	for _, other := range s.shares {
		due += other.due
	}
	return sh.unproven < left(sh.most, sh.due) && s.unproven < left(limit, due)
}

// left is what unproven hosts have of so many slots.
func left(slots, due int) int { return slots - min(due, slots/2) }

// ahead counts the shares that have been waiting for longer and could take a slot.
func (s *Slots) ahead(sh *Share) (n int) {
	for _, other := range s.line {
		if other == sh {
			break
		}
		if s.allows(other, other.wants) {
			n++
		}
	}
	return n
}

func (s *Slots) leave(sh *Share) bool {
	i := slices.Index(s.line, sh)
	if i >= 0 {
		s.line = slices.Delete(s.line, i, i+1)
	}
	return i >= 0
}

func (sh *Share) add(n int, unproven bool) {
	sh.used += n
	sh.slots.used += n
	if unproven {
		sh.unproven += n
		sh.slots.unproven += n
	}
}

// signal has the shares that wait look again.
func (s *Slots) signal() {
	for _, sh := range s.line {
		select {
		case sh.freed <- struct{}{}:
		default: // told already
		}
	}
}
