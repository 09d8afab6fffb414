package crawl

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/schema"
)

// A command is an instruction for a running scheduler.
type command struct {
	do    commandKind
	reply chan<- Status // gets the status after the command, if it has room; may be nil
}

type commandKind uint8

const (
	commandStatus  commandKind = iota // nothing changes
	commandPause                      // nothing is sent until commandUnpause
	commandUnpause                    //
	commandStop                       // nothing more is sent, and run ends when everything is settled
	commandFinish                     // run ends if nothing is left to do
)

// obey follows a command. A paused scheduler still receives effects, and its run may end.
func (s *scheduler) obey(c command) {
	switch c.do {
	case commandPause:
		s.paused = true
	case commandUnpause:
		s.paused = false
	case commandStop:
		s.stopped = true
	case commandFinish:
		s.finished = s.idle()
	}
	if c.reply == nil {
		return
	}
	select {
	case c.reply <- s.status():
	default:
	}
}

// A Status is a snapshot of a running crawl: what is being fetched, and what the rest waits for.
type Status struct {
	Open     int           // requests and look-ups that are open
	Short    int           // limit of Open on this machine, which lacks resources or time; 0: not limited
	Pending  int           // steps sent whose outcomes are not committed
	Hosts    pace.Counts   // with steps to send, and fewer requests open than allowed
	Asleep   pace.Counts   // those whose plan is due later
	Waking   int           // plans requested and not yet answered
	Unsent   int           // steps that wait
	Sent     uint64        // since the start
	NextHost schema.HostID // the next host whose clock runs out; 0: none
	Next     time.Time     // when that is
	Away     time.Time     // since when this machine has no network; zero: it has
	Why      string        // of Away: what failed
	Paused   bool
	Stopped  bool
	Idle     bool    // nothing is left to do
	Full     bool    // too much is not committed: nothing is sent until the recorder catches up
	NoRoom   *NoRoom // the disk is full, so nothing is committed; nil: it is not
}

func (s *scheduler) status() Status {
	used := s.share.Used()
	if s.offered.made { // not yet
		used[s.offered.standing]--
	}
	st := Status{
		Open: used.Sum(), Short: s.share.Short(time.Now()), Pending: s.unsettled,
		Hosts: s.pacer.Counts(), Asleep: s.asleep.Counts(),
		Waking: s.waking, Unsent: s.unsent, Sent: s.sent,
		Paused: s.paused, Stopped: s.stopped, Idle: s.idle(), Full: s.full(),
	}
	if since, _, away := s.network.Away(); away {
		st.Away, st.Why = since, s.network.Why()
	}
	for _, p := range []*pace.Pacer{s.pacer, s.asleep} {
		if id, at, ok := p.Upcoming(); ok && (st.NextHost == 0 || at.Before(st.Next)) {
			st.NextHost, st.Next = id, at
		}
	}
	return st
}
