// Package slots limits how many requests may be open at a time, and decides which crawl may open the next.
//
// Each crawl has a [Share], with a limit of its own, of the [Slots], which limit all shares together. Two
// more rules apply:
//
// Hosts that never answered may be silent, and then occupy a slot until they time out. Hosts that have
// answered but never sent a body may take minutes to send one. Each host therefore has a [Standing], and
// slots are reserved for hosts of a better standing that are due soon: one for each, but no more than half of
// the slots, rounded down. Once there is enough data, the reserve is also at most the mean number of slots
// that such hosts use, plus its square root, plus two. Hosts of no better standing use the rest.
//
// When this machine runs out of descriptors, ports or memory, the limit is halved from what was open, down to
// one request. When a process gets too little processor time it is halved, too, but never below the number
// that a processor can always handle. The limit then grows by a quarter every 5 to 60 s until all slots are
// available again.
//
// Shares that were refused take their turn in the order of their first refusal. Slots is safe for concurrent
// use.
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

	unhurried = 32 // requests that may be open even if the process gets too little time

	mostSlots = 1 << 24 // more than any machine has

	memory = 10 * time.Second // over which earlier use loses weight
	recall = 30 * time.Second // after which earlier use is forgotten, and before which there is too little data
)

// A Standing is what a host has shown so far.
type Standing uint8

// The standings, best first.
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

// Sub subtracts another tally from t.
func (t *Tally) Sub(other Tally) {
	for i, n := range other {
		t[i] -= n
	}
}

// Sum returns the total over all standings.
func (t *Tally) Sum() int { return t.from(Proven) }

// from returns the number for s and all worse standings.
func (t *Tally) from(s Standing) (n int) {
	for _, m := range t[s:] {
		n += m
	}
	return n
}

// better returns the number for the standings better than s.
func (t *Tally) better(s Standing) int { return t.Sum() - t.from(s) }

// A load holds, for each standing, the recent mean number of slots used at once by hosts of better standings.
type load struct {
	begun time.Time
	seen  time.Time // last
	mean  [standings]float64
}

// see updates the means with the slots used now. After a gap of recall it starts over. Several crawls call
// it, each with a time that may be a little late.
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

// room returns how many slots are worth reserving for hosts better than s: the mean number they use, one
// standard deviation more (for independent arrivals, the square root of the mean), and two, which matter only
// for small means. A better host that finds all of them taken waits only a moment, since slots in use are
// soon free again. As long as there is too little data, room returns all slots.
func (l *load) room(s Standing) int {
	if l.seen.Sub(l.begun) < recall {
		return mostSlots
	}
	return int(l.mean[s]+math.Sqrt(l.mean[s])) + 2
}

// Slots is shared by several crawls.
type Slots struct {
	mu     sync.Mutex
	most   int // 0: no bound
	used   Tally
	load   load
	shares []*Share
	line   []*Share // shares that were refused

	few    int           // limit while this machine lacks resources; 0: it does not
	halved time.Time     // requests sent before this say nothing about few
	grows  time.Time     // when few next grows
	every  time.Duration // time between two increases
}

// A Share is one crawl's part of the slots.
type Share struct {
	slots *Slots
	most  int
	used  Tally
	load  load
	due   Tally    // hosts that may want a slot soon
	wants Standing // standing of the last host refused
	freed chan struct{}
}

// New returns slots shared by any number of shares: the sum of their limits, but at most most; 0: no such
// limit.
func New(most int) *Slots { return &Slots{most: most} }

// Share returns a share of at most the given number of slots. Close ends it.
func (s *Slots) Share(most int) *Share {
	sh := &Share{slots: s, most: max(1, most), freed: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares = append(s.shares, sh)
	return sh
}

// Shares returns the number of shares.
func (s *Slots) Shares() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shares)
}

// Close ends a share whose slots have all been returned.
func (sh *Share) Close() {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(sh)
	s.shares = slices.DeleteFunc(s.shares, func(other *Share) bool { return other == sh })
	s.signal()
}

// Take takes a slot for a request to a host of the given standing; due counts the hosts that are due soon. If
// Take refuses, Freed signals when to try again.
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

// Give returns a slot that was taken for a host of the given standing.
func (sh *Share) Give(standing Standing) {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	sh.add(-1, standing)
	s.signal()
}

// Withdraw records that the share wants no slot now; due counts its hosts that are due soon.
func (sh *Share) Withdraw(due Tally) {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect(sh, due)
	if s.leave(sh) {
		s.signal()
	}
}

// expect replaces the number of hosts for which a share reserves slots.
func (s *Slots) expect(sh *Share, due Tally) {
	fewer := due[Proven] < sh.due[Proven] || due[Answering] < sh.due[Answering]
	sh.due = due
	if fewer {
		s.signal()
	}
}

// Freed receives a value when a refused share should try again.
func (sh *Share) Freed() <-chan struct{} { return sh.freed }

// Grows returns when the limit next increases; zero: it is not reduced.
func (sh *Share) Grows() time.Time {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.few == 0 {
		return time.Time{}
	}
	return s.grows
}

// Short returns the reduced limit of all shares, if they use all of it; 0: the limit is not reduced or not
// used up.
func (sh *Share) Short(now time.Time) int {
	s := sh.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grow(now); s.used.Sum() < s.limit() {
		return 0
	}
	return s.few
}

// Used returns how many slots of the share are in use.
func (sh *Share) Used() Tally {
	sh.slots.mu.Lock()
	defer sh.slots.mu.Unlock()
	return sh.used
}

// Lack records that this machine lacked resources for the requests that were open at sent, such as the time
// at which a request that failed for this reason was sent. It returns the new limit, and whether that is
// news.
func (s *Slots) Lack(sent, now time.Time) (limit int, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.halve(1, sent, now)
}

// Late records that this process has been short of time since the given moment, and returns the same as Lack.
// If few requests were open, they are not the cause, and nothing changes.
func (s *Slots) Late(since, now time.Time) (limit int, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used.Sum() <= unhurried {
		return s.limit(), false
	}
	return s.halve(unhurried, since, now)
}

// halve sets the limit to half of the open requests, but at least to least.
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

// grow raises the limit when it is time.
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

// allows reports whether a share may take a slot, disregarding the shares that are waiting.
func (s *Slots) allows(sh *Share, standing Standing) bool {
	limit := s.limit()
	if s.used.Sum() >= limit || sh.used.Sum() >= sh.most {
		return false
	}
	var due Tally
	for _, other := range s.shares {
		due.Add(other.due)
	}
	for bound := standing; bound > Proven; bound-- { // one limit for all hosts of no better standing
		mine, all := min(sh.due.better(bound), sh.load.room(bound)), min(due.better(bound), s.load.room(bound))
		if sh.used.from(bound) >= usable(sh.most, mine) || s.used.from(bound) >= usable(limit, all) {
			return false
		}
	}
	return true
}

// usable returns how many slots may be used if others want the given number; these never reserve more than
// half.
func usable(slots, wanted int) int { return slots - min(wanted, slots/2) }

// ahead counts the shares that have been waiting longer and could take a slot.
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

// signal tells the waiting shares to look again.
func (s *Slots) signal() {
	for _, sh := range s.line {
		select {
		case sh.freed <- struct{}{}:
		default: // already signalled
		}
	}
}
