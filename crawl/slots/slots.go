// Package slots says how many requests may be open at a time, and whose may be the
// next.
//
// A crawl has a [Share], which bounds it, of [Slots], which bound all that share
// them. Beside that bound two rules decide:
//
// Hosts that never answered may be silent, and then hold a slot for as long as a
// time-out; those that answered, but have not yet sent a body, may send one for minutes.
// So each host has a [Standing], and slots are left to hosts of a better one that are due
// soon: one for each of them, but no more than half of the slots, rounded down, and once
// there is something to go by, as many as such hosts use in the mean, its root, and two more.
// Those that stand no better use the rest.
//
// Where this machine lacks descriptors, ports or memory, half as many requests as were
// open may be, at least one; where a process lacks time on its processor, half as many,
// but never fewer than a processor has the time for. From there it is a quarter more
// every 5 to 60 s, until all slots are there again.
//
// Shares that were refused have their turn in the order of their first refusal.
// Slots may be used from many goroutines.
package slots

import (
	"math"
	"slices"
	"sync"
	"time"
)

const (
	minGrowth = 5 * time.Second
	maxGrowth = 60 * time.Second

	unhurried = 32 // requests that may be open in a process that lacks time

	mostSlots = 1 << 24 // more than anybody has

	memory = 10 * time.Second // in which what was used before counts for less and less
	recall = 30 * time.Second // after which it says nothing, and before which it does not say enough
)

// A Standing is what a host has shown.
type Standing uint8

// The standings, the best first.
const (
	Proven    Standing = iota // it sends whole pages in time
	Answering                 // it answers
	Unknown
	standings
)

// A Tally is a number of hosts or slots for each standing.
type Tally [standings]int

// Add adds another tally to t.
func (t *Tally) Add(other Tally) {
	for i, n := range other {
		t[i] += n
	}
}

// Sub takes another tally off t.
func (t *Tally) Sub(other Tally) {
	for i, n := range other {
		t[i] -= n
	}
}

// Sum is the number for all standings.
func (t *Tally) Sum() int { return t.from(Proven) }

// from is the number for a standing and those that are no better.
func (t *Tally) from(s Standing) (n int) {
	for _, m := range t[s:] {
		n += m
	}
	return n
}

// better is the number for the standings that are better than one.
func (t *Tally) better(s Standing) int { return t.Sum() - t.from(s) }

// A load is how many slots hosts use at once in the mean of late, for each standing those that are better.
type load struct {
	begun time.Time
	seen  time.Time // last
	mean  [standings]float64
}

// see takes notice of what is used. After a time without news nothing is known. Several crawls may
// tell the time, each a little late.
func (l *load) see(used *Tally, now time.Time) {
	took := now.Sub(l.seen)
	switch {
	case took < 0:
		return
	case took >= recall:
		*l = load{begun: now}
	}
	l.seen = now
	weight := min(1, took.Seconds()/memory.Seconds())
	for s := range used {
		l.mean[s] += weight * (float64(used.better(Standing(s))) - l.mean[s])
	}
}

// room is how many slots are worth leaving to hosts that are better than a standing: as many as they use, a
// standard deviation more of what is used where each host comes when it does, and two, of which few have need. Who
// finds all of them taken waits for a moment, as those that are taken are soon free again. As long as little is known
// it is all of them.
func (l *load) room(s Standing) int {
	if l.seen.Sub(l.begun) < recall {
		return mostSlots
	}
	return int(l.mean[s]+math.Sqrt(l.mean[s])) + 2
}

// Slots are what several crawls share.
type Slots struct {
	mu     sync.Mutex
	most   int // 0: no bound
	used   Tally
	load   load
	shares []*Share
	line   []*Share // that were refused

	few    int           // allowed while means are lacking; 0: they are not
	halved time.Time     // requests sent before say nothing of few
	grows  time.Time     // when few does
	every  time.Duration // between two growths
}

// A Share is what one crawl has of the slots.
type Share struct {
	slots *Slots
	most  int
	used  Tally
	load  load
	due   Tally    // hosts that may want a slot soon
	wants Standing // that was refused last
	freed chan struct{}
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

// Shares is how many shares there are.
func (s *Slots) Shares() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shares)
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

// Take takes a slot for a request to a host of a standing, beside so many hosts that are
// due soon. If it is refused, Freed tells when to try again.
func (sh *Share) Take(now time.Time, standing Standing, due Tally) bool {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grow(now)
	s.expect(sh, due)
	s.load.see(&s.used, now)
	sh.load.see(&sh.used, now)
	if !s.allows(sh, standing) || s.limit()-s.used.Sum() <= s.ahead(sh) {
		sh.wants = standing
		if !slices.Contains(s.line, sh) {
			s.line = append(s.line, sh)
		}
		return false
	}
	s.leave(sh)
	sh.add(1, standing)
	return true
}

// Give gives a slot back that was taken for a host of a standing.
func (sh *Share) Give(standing Standing) {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	sh.add(-1, standing)
	s.signal()
}

// Withdraw says that no slot is wanted now, beside so many hosts that are due soon.
func (sh *Share) Withdraw(due Tally) {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect(sh, due)
	if s.leave(sh) {
		s.signal()
	}
}

// expect leaves slots to so many hosts of a share, and no longer to those before.
func (s *Slots) expect(sh *Share, due Tally) {
	fewer := due[Proven] < sh.due[Proven] || due[Answering] < sh.due[Answering]
	sh.due = due
	if fewer {
		s.signal()
	}
}

// Freed gets a value when a share that was refused should try again.
func (sh *Share) Freed() <-chan struct{} { return sh.freed }

// Grows returns when more slots may be used again; zero: none are lacking.
func (sh *Share) Grows() time.Time {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.few == 0 {
		return time.Time{}
	}
	return s.grows
}

// Short returns how many slots all shares may use while means or time are lacking, if they use
// as many; 0: they do not.
func (sh *Share) Short(now time.Time) int {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grow(now); s.used.Sum() < s.limit() {
		return 0
	}
	return s.few
}

// Used returns how many slots of the share are used.
func (sh *Share) Used() Tally {
	sh.slots.mu.Lock()
	defer sh.slots.mu.Unlock()
	return sh.used
}

// Lack says that this machine lacks means for what was open at a time, such as when a
// request that failed of it was sent. It returns how many may be open from now on, and whether that is news.
func (s *Slots) Lack(sent, now time.Time) (limit int, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.halve(1, sent, now)
}

// Late says that this process lacked time from a moment on for what was open, and returns what
// Lack does. Where little was open, that is not why, and changes nothing.
func (s *Slots) Late(since, now time.Time) (limit int, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used.Sum() <= unhurried {
		return s.limit(), false
	}
	return s.halve(unhurried, since, now)
}

// halve allows half of what is open, but not fewer than least.
func (s *Slots) halve(least int, sent, now time.Time) (limit int, news bool) {
	s.grow(now)
	if s.few > 0 && sent.Before(s.halved) {
		return s.few, false
	}
	news = s.few == 0
	s.every = min(max(2*s.every, minGrowth), maxGrowth)
	s.few = max(least, min(s.limit(), s.used.Sum())/2)
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
func (s *Slots) allows(sh *Share, standing Standing) bool {
	limit := s.limit()
	if s.used.Sum() >= limit || sh.used.Sum() >= sh.most {
		return false
	}
	var due Tally
	for _, other := range s.shares {
		due.Add(other.due)
	}
	for bound := standing; bound > Proven; bound-- { // a bound for all that stand no better than it
		mine, all := min(sh.due.better(bound), sh.load.room(bound)), min(due.better(bound), s.load.room(bound))
		if sh.used.from(bound) >= usable(sh.most, mine) || s.used.from(bound) >= usable(limit, all) {
			return false
		}
	}
	return true
}

// usable is how many of so many slots may be used beside so many that are wanted for others.
func usable(slots, wanted int) int { return slots - min(wanted, slots/2) }

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

func (sh *Share) add(n int, standing Standing) {
	sh.used[standing] += n
	sh.slots.used[standing] += n
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
