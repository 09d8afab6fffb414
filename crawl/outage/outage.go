// Package outage tells the failures of this machine's own network from those of
// hosts.
//
// The network counts as away when hosts that answered before fail in a row, without
// an HTTP answer between: five of them, or all that ever answered, at least three; where
// none has answered in this process, three that had in an earlier one. A
// failure that is this machine's own, such as a missing route or a name server that is
// out of reach, too, is enough by itself. While the network is away only one request is
// made at a time, every 5 to 60 s; any HTTP answer ends that.
//
// The last hosts of a crawl may have fallen silent by themselves, and nobody else is left
// to answer. So an outage ends, too, when for half an hour nothing but silence has spoken for
// it, and the machine was awake: from then on, until somebody answers, who fails is to blame.
// Where ten hosts or more have failed that answered before, it takes twelve hours: a night
// in a network that lets nobody through.
//
// Until an outage can be ruled out, failures are held back, 10 s at most. Those that
// fall into one are nobody's fault, and neither are those of requests that were open
// when it began.
//
// A [Watch] reads no clock: time is what the caller says. It may be used from many
// goroutines.
package outage

import (
	"maps"
	"sync"
	"time"
)

const (
	inARow   = 5 // hosts that fail
	leastAll = 3 // hosts that answered, where all of them fail
	minProbe = 5 * time.Second
	maxProbe = 60 * time.Second

	quiet    = 5 * time.Second // without an answer, after which what was sent before the last one counts
	onTheWay = time.Second     // for which answers come in after the network has gone
	maxGuess = 30 * time.Minute
	many     = 10 // hosts, after which an outage is believed for longer
	manyFor  = 12 * time.Hour
	oneWake  = 2 * time.Second // within which all notice a suspension

	// MaxHold is how long a failure is held back.
	MaxHold = 10 * time.Second
)

// A Failure is a request without a whole HTTP answer.
type Failure struct {
	Host    uint64
	Sent    time.Time
	Own     bool // no route to anybody
	Alone   bool // nothing of this machine's own is known to have failed
	Met     bool // the host had answered in an earlier process
	Network bool // no connection, a TLS failure, a time-out or a halt: what a network that is away looks like
}

// A Watch follows the answers and failures of all requests.
type Watch struct {
	mu        sync.Mutex
	answered  map[uint64]struct{} // hosts, in this process
	row       map[uint64]failed   // hosts that failed since the last answer
	last      time.Time           // answer
	away      bool
	own       time.Time // when something of this machine's own has failed, the last time
	doubted   bool      // an outage has ended without an answer
	since     time.Time
	ended     time.Time // the last outage
	woke      time.Time // this machine, the last time
	probe     time.Time // when the next request may be made
	every     time.Duration
	listeners map[chan<- struct{}]struct{}
	changes   uint64
}

// A failed request counts as long as nobody has answered since.
type failed struct{ sent, end time.Time }

// Answered notes an HTTP answer to a request that was sent and done at some time. It
// ends an outage, unless the answer was on its way when that began. Answered reports
// whether one ended.
func (w *Watch) Answered(host uint64, sent, done, now time.Time) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answered == nil {
		w.answered = map[uint64]struct{}{}
	}
	w.answered[host] = struct{}{}
	if done.After(w.last) {
		w.last = done
		w.changes++
	}
	w.doubted = false
	maps.DeleteFunc(w.row, func(_ uint64, f failed) bool { return !f.end.After(done) })
	if !w.away || sent.Before(w.since) && done.Before(w.since.Add(onTheWay)) {
		return false
	}
	w.away, w.ended = false, now
	w.tell()
	return true
}

// News is what a failure changes.
type News uint8

// The kinds of news.
const (
	None    News = iota
	Begun        // an outage begins
	Doubted      // it ends without an answer: who fails is to blame again
)

// Failed notes a failure, and reports what it changes.
func (w *Watch) Failed(f Failure, now time.Time) News {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !f.Alone {
		w.own = now
	}
	doubted := w.doubtful(now)
	if doubted {
		w.away, w.doubted = false, true
		w.tell()
	}
	if _, known := w.answered[f.Host]; (known || f.Met) && f.Network && !f.Sent.Before(w.woke) {
		if w.row == nil {
			w.row = map[uint64]failed{}
		}
		w.row[f.Host] = failed{f.Sent, now}
	}
	switch {
	case w.look(f.Own, now):
		return Begun
	case doubted:
		return Doubted
	}
	return None
}

// doubtful reports whether nothing but silence has spoken for an outage for too long.
func (w *Watch) doubtful(now time.Time) bool {
	guess := maxGuess
	if len(w.row) >= many {
		guess = manyFor
	}
	return w.away && now.Sub(w.since) >= guess && now.Sub(w.own) >= guess && now.Sub(w.woke) >= guess
}

// Look reports whether an outage begins because it has been quiet for so long.
func (w *Watch) Look(now time.Time) (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(false, now)
}

// Begin notes that the network is away. It reports whether that is news.
func (w *Watch) Begin(now time.Time) (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(true, now)
}

// look begins an outage if there is one for certain, or the row is long enough. A
// request that was sent before the last answer may have failed by itself among many
// that succeed, unless it is quiet.
func (w *Watch) look(certain bool, now time.Time) bool {
	if w.away || w.doubted && !certain {
		return false
	}
	row := 0
	for _, f := range w.row {
		if !f.sent.Before(w.last) || now.Sub(w.last) >= quiet {
			row++
		}
	}
	if !certain && row < min(inARow, max(leastAll, len(w.answered))) {
		return false
	}
	w.away, w.since, w.every = true, now, minProbe
	w.probe = now.Add(minProbe)
	clear(w.row)
	w.tell()
	return true
}

// Suspended notes that the machine was suspended until now. Several may notice one
// suspension, each a little later. Requests that were open meanwhile show nothing.
func (w *Watch) Suspended(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.woke) >= oneWake {
		w.woke = now
		clear(w.row)
		w.changes++
	}
}

// Woke returns when the machine was suspended last; zero: never.
func (w *Watch) Woke() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.woke
}

// Changes is another number whenever what Blameless and Settled say may be something
// else, but for the time that passes.
func (w *Watch) Changes() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

// Blameless reports whether a failure of a request sent at a time is nobody's fault,
// because the network is away or was since.
func (w *Watch) Blameless(sent time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away || sent.Before(w.ended)
}

// Settled reports whether a failure need not be held back any longer: it ended at a
// time, and somebody has answered since, or for long nobody has, or it cannot belong
// to an outage because too few hosts have answered. One of this machine's own can, and one of a
// host that answered in an earlier process.
func (w *Watch) Settled(end time.Time, can bool, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !can && len(w.answered) < leastAll || w.last.After(end) || now.Sub(end) >= MaxHold
}

// Anybody reports whether a host has answered after a time.
func (w *Watch) Anybody(after time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.After(after)
}

// Away reports since when the network is away, and when a request may be made to
// see whether it still is.
func (w *Watch) Away() (since, probe time.Time, away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.probe, w.away
}

// Probed notes that such a request is made. The next one follows later.
func (w *Watch) Probed(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.every = min(2*w.every, maxProbe)
	w.probe = now.Add(w.every)
}

// Listen has a value sent whenever an outage begins or ends, where the channel has
// room for it, until the function returned is called.
func (w *Watch) Listen(c chan<- struct{}) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners == nil {
		w.listeners = map[chan<- struct{}]struct{}{}
	}
	w.listeners[c] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, c)
	}
}

func (w *Watch) tell() {
	w.changes++
	for c := range w.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
