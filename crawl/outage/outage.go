// Package outage tells the failures of this machine's own network from those of
// hosts.
//
// The network counts as away when hosts that answered before fail in a row, without
// an HTTP answer between: five of them, or all that ever answered, at least three; where
// none has answered in this process, three that had in an earlier one. If all of them are at
// one address, or at some that their hosts have together, and somebody elsewhere has just
// answered, it is their server that is away. A failure that is this machine's own, such as a
// missing route or a name server that is out of reach, too, is enough by itself. While the
// network is away only one request is made at a time, every 5 to 60 s; any HTTP answer ends that.
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
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	inARow   = 5 // hosts that fail
	leastAll = 3 // hosts that answered, where all of them fail
	minProbe = 5 * time.Second
	maxProbe = 60 * time.Second

	elsewhere    = time.Minute // for which an answer shows that others than one server can be reached
	maxAddresses = 8           // of a server

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
	Address string // "": not known
	Next    string // address of the host behind that one, or that one; "": not known
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
	ways      map[way]int         // of these, how many there are
	last      time.Time           // answer
	heard     []heard             // addresses that answered, the last first
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
type failed struct {
	way
	sent, end time.Time
}

// A way is where a host was asked, and where it would be next.
type way struct{ address, next string }

// Heard is when an address answered.
type heard struct {
	address string
	at      time.Time
}

// Answered notes an HTTP answer to a request that was sent and done at some time, of a host at an address. It
// ends an outage, unless the answer was on its way when that began. Answered reports
// whether one ended.
func (w *Watch) Answered(host uint64, address string, sent, done, now time.Time) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answered == nil {
		w.answered = map[uint64]struct{}{}
	}
	w.answered[host] = struct{}{}
	w.hear(address, done)
	if done.After(w.last) {
		w.last = done
		w.changes++
	}
	w.doubted = false
	maps.DeleteFunc(w.row, func(_ uint64, f failed) bool { return !f.end.After(done) && w.leave(f.way) })
	if !w.away || sent.Before(w.since) && done.Before(w.since.Add(onTheWay)) {
		return false
	}
	w.away, w.ended = false, now
	w.tell()
	return true
}

// hear notes when an address has answered, of more than a server has.
func (w *Watch) hear(address string, at time.Time) {
	if address == "" {
		return
	}
	others := slices.DeleteFunc(w.heard, func(h heard) bool { return h.address == address })
	w.heard = slices.Insert(others[:min(len(others), maxAddresses)], 0, heard{address, at})
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
		w.add(f.Host, failed{way{f.Address, cmp.Or(f.Next, f.Address)}, f.Sent, now})
	}
	switch {
	case w.look(f.Own, now):
		return Begun
	case doubted:
		return Doubted
	}
	return None
}

// add adds a host to those that failed, in place of what it did before.
func (w *Watch) add(host uint64, f failed) {
	if w.row == nil {
		w.row, w.ways = map[uint64]failed{}, map[way]int{}
	}
	if before, known := w.row[host]; known {
		w.leave(before.way)
	}
	w.row[host] = f
	w.ways[f.way]++
}

// leave takes a host off a way, and returns true.
func (w *Watch) leave(from way) bool {
	if w.ways[from]--; w.ways[from] == 0 {
		delete(w.ways, from)
	}
	return true
}

// forget forgets who has failed.
func (w *Watch) forget() {
	clear(w.row)
	clear(w.ways)
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
	if !certain && (!w.inARow(now) || w.oneServer(now)) {
		return false
	}
	w.away, w.since, w.every = true, now, minProbe
	w.probe = now.Add(minProbe)
	w.forget()
	w.tell()
	return true
}

// inARow reports whether the row is long enough.
func (w *Watch) inARow(now time.Time) bool {
	left := min(inARow, max(leastAll, len(w.answered)))
	for _, f := range w.row {
		if !f.sent.Before(w.last) || now.Sub(w.last) >= quiet {
			left--
		}
		if left == 0 {
			return true
		}
	}
	return false
}

// oneServer reports whether all that failed are of one server, and somebody elsewhere has just answered.
func (w *Watch) oneServer(now time.Time) bool {
	its := map[string]bool{}
	for grown := true; grown && len(its) <= maxAddresses; { // hosts that have an address in common are of one server
		grown = false
		for f := range w.ways {
			if len(its) == 0 || its[f.address] != its[f.next] {
				its[f.address], its[f.next], grown = true, true, true
			}
		}
	}
	for f := range w.ways {
		if f.address == "" || !its[f.address] {
			return false
		}
	}
	return slices.ContainsFunc(w.heard, func(h heard) bool { return !its[h.address] && now.Sub(h.at) < elsewhere })
}

// Suspended notes that the machine was suspended until now. Several may notice one
// suspension, each a little later. Requests that were open meanwhile show nothing.
func (w *Watch) Suspended(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.woke) >= oneWake {
		w.woke = now
		w.forget()
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
