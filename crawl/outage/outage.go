// Package outage tells failures of this machine's own network from failures of hosts.
//
// One table, evidence, lists the signs of an outage. A failure of this machine itself, such as a missing
// route or an unreachable name server, is enough. Otherwise no host answers: neither by HTTP nor by a TLS
// handshake, which only the host itself can perform. Either five sites that answered before fail silently or
// without a connection while others are silent too; or no site has answered for half a minute, and at least
// three sites fail in any way. A site is a registrable domain and has one vote, however many hosts it has. An
// address also has one vote, as long as a site at another address answers. A host that sends a TLS alert or
// hangs up can usually be reached: while other hosts answer, the failure is its own.
//
// During an outage only one request is made at a time, every 5 to 60 s; any answer ends the outage. If an
// outage ends as soon as a site is requested that did not vote for it, and returns within a minute before most
// of its voters have answered, it was false: the sites that voted for it are at fault and lose their vote for
// an hour.
//
// The last hosts of a crawl may have fallen silent by themselves, when no others are left to answer. An
// outage therefore also ends when only silence has been evidence for it for half an hour while the machine
// was awake. From then until a host answers, failures are the hosts' own. If at least ten sites that answered
// before have failed, this takes twelve hours: a night in a network that blocks all traffic.
//
// Until an outage can be ruled out, failures are held back for at most 10 s. Failures during an outage are
// blamed on no host, nor are those of requests that were open when it began.
//
// A [Watch] reads no clock; callers pass the time. It is safe for concurrent use.
package outage

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	minProbe = 5 * time.Second
	maxProbe = 60 * time.Second

	elsewhere    = nobody // an answer within this time shows that more than one server can be reached
	maxAddresses = 8      // of one server

	quiet    = 5 * time.Second // without an answer; then requests sent before the last answer count too
	onTheWay = time.Second     // time in which answers may still arrive after the network has gone
	maxGuess = 30 * time.Minute
	many     = 10 // failed sites; with at least this many an outage may last manyFor
	manyFor  = 12 * time.Hour
	oneWake  = 2 * time.Second // several notices within this time report the same suspension

	// MaxHold is how long a failure is held back that may be due to an outage. If several sites are
	// being requested, a failure is held for longer while the last answer is less than half a
	// minute old.
	MaxHold = 10 * time.Second

	lately  = time.Minute // several sites must have been requested within this time to tell an outage from its end
	stuckAt = time.Minute // after this time, all hosts are taken to fail for a reason that waiting does not fix
)

// A Failure is a request without a complete HTTP answer.
type Failure struct {
	Host     uint64
	Site     uint64 // its registrable domain
	Address  string // "": unknown
	Next     string // address tried next, or Address again; "": unknown
	Sent     time.Time
	Way      Way
	Resolver bool      // no name server answers any longer
	Alone    bool      // no fault of this machine is known
	Met      bool      // the host had answered in an earlier process
	Spoke    bool      // TLS was spoken on its connection
	Alert    bool      // the peer sent a TLS alert
	Shaken   time.Time // the host took part in a TLS handshake; zero: not for this request
	Why      string    // for people
	Key      string    // configuration key that may be wrong, which waiting does not fix; "": none
}

// A Watch follows the answers and failures of all requests.
type Watch struct {
	mu        sync.Mutex
	answered  map[uint64]struct{} // hosts, in this process
	sites     map[uint64]struct{} // sites of those hosts
	row       map[uint64]failed   // sites that failed since the last answer
	ways      map[way]int         // number of sites in row per way
	open      map[uint64]asked    // sites with open requests
	recent    []asked             // the last few sites requested, the latest first
	first     time.Time           // time of the first request
	last      time.Time           // time of the last answer
	trouble   time.Time           // when the requests in row began to fail
	heard     []heard             // addresses that answered, the latest first
	away      bool
	why       string    // what failed
	own       time.Time // last failure of this machine itself
	doubted   bool      // an outage has ended without an answer
	since     time.Time
	ended     time.Time            // end of the last outage
	voters    map[uint64]bool      // sites that voted for it, and whether they have answered since; nil: it was certain
	back      int                  // voters that have
	confirmed bool                 // a further site has confirmed the outage
	refuted   bool                 // the last outage ended without the failure of a further site
	lost      map[uint64]time.Time // when each site gets its vote back
	stuck     stuck
	woke      time.Time // last wake-up of this machine
	probe     time.Time // when the next request may be made
	every     time.Duration
	listeners map[chan<- struct{}]struct{}
	changes   uint64
}

// An asked is a site with open requests: how many there are, and when the first was sent.
type asked struct {
	site     uint64
	requests int
	since    time.Time
}

// A stuck names the sites that have failed since a given time because of one key, while no other site has.
type stuck struct {
	key   string
	since time.Time
	sites map[uint64]struct{}
}

// A failed is a failed request. It counts until a host answers.
type failed struct {
	way
	how       Way
	sent, end time.Time
}

// A way is the address requested and the address tried next.
type way struct{ address, next string }

// A heard is when an address last answered.
type heard struct {
	address string
	at      time.Time
}

// Asked records that a request to site is sent. The request is open until done is called.
func (w *Watch) Asked(site uint64, now time.Time) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[uint64]asked{}
	}
	o := w.open[site]
	if o.requests++; o.requests == 1 {
		o.since = now
	}
	w.open[site] = o
	w.meet(site, now)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		o := w.open[site]
		if o.requests--; o.requests == 0 {
			delete(w.open, site)
			return
		}
		w.open[site] = o
	}
}

// meet records which sites were requested last.
func (w *Watch) meet(site uint64, now time.Time) {
	if w.first.IsZero() {
		w.first = now
	}
	others := slices.DeleteFunc(w.recent, func(a asked) bool { return a.site == site })
	w.recent = slices.Insert(others[:min(len(others), leastAll-1)], 0, asked{site: site, since: now})
}

// Answered records an HTTP answer from host at address. sent and done are the times of the request.
// The answer ends an outage, unless it was already under way when the outage began. Answered
// reports whether an outage ended.
func (w *Watch) Answered(host, site uint64, address string, sent, done, now time.Time) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answered == nil {
		w.answered, w.sites = map[uint64]struct{}{}, map[uint64]struct{}{}
	}
	w.answered[host], w.sites[site] = struct{}{}, struct{}{}
	w.meet(site, now)
	ended = w.alive(address, sent, done, now)
	w.believe(site, sent)
	return ended
}

// alive records that a host could be reached at a given time. It reports whether an outage ended.
func (w *Watch) alive(address string, sent, at, now time.Time) (ended bool) {
	w.hear(address, at)
	if at.After(w.last) {
		w.last = at
		w.changes++
	}
	w.doubted, w.stuck = false, stuck{}
	maps.DeleteFunc(w.row, func(_ uint64, f failed) bool { return !f.end.After(at) && w.leave(f.way) })
	if len(w.row) == 0 {
		w.trouble = time.Time{}
	}
	if !w.away || sent.Before(w.since) && at.Before(w.since.Add(onTheWay)) {
		return false
	}
	w.away, w.ended, w.refuted = false, now, w.voters != nil && !w.confirmed
	w.tell()
	return true
}

// hear records when an address answered. It keeps more addresses than one server has.
func (w *Watch) hear(address string, at time.Time) {
	if address == "" {
		return
	}
	others := slices.DeleteFunc(w.heard, func(h heard) bool { return h.address == address })
	w.heard = slices.Insert(others[:min(len(others), maxAddresses)], 0, heard{address, at})
}

// News is a change caused by a failure, or by the passing of time.
type News uint8

// The kinds of news.
const (
	None    News = iota
	Begun        // an outage begins
	Doubted      // it ends without an answer: failures are the hosts' own again
	Ended        // a host could be reached
	Refuted      // the apparent return shows that the last outage was false
)

// Failed records a failure and reports the change that it causes.
func (w *Watch) Failed(f Failure, now time.Time) News {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !f.Alone {
		w.own = now
	}
	w.meet(f.Site, now)
	if !f.Shaken.IsZero() && w.alive(f.Address, f.Shaken, f.Shaken, now) {
		return Ended
	}
	doubted := w.doubtful(now)
	if doubted {
		w.away, w.doubted = false, true
		w.tell()
	}
	if w.knows(&f) && f.Way.counts() && !f.Sent.Before(w.woke) {
		sent := f.Sent
		if f.Shaken.After(sent) {
			sent = f.Shaken
		}
		w.add(f.Site, failed{way{f.Address, cmp.Or(f.Next, f.Address)}, f.Way, sent, now})
		w.stick(&f, now)
		if _, spoke := w.voters[f.Site]; w.away && !spoke && !f.Sent.Before(w.since) {
			w.confirmed = true
		}
		w.why = f.Why
	}
	if f.Way == Local {
		w.why = f.Why
	}
	if news := w.look(f.Way == Local, now); news != None {
		return news
	}
	if doubted {
		return Doubted
	}
	return None
}

// knows reports whether a host has answered before.
func (w *Watch) knows(f *Failure) bool {
	_, known := w.answered[f.Host]
	return known || f.Met
}

// stick records whether all hosts fail because of one key.
func (w *Watch) stick(f *Failure, now time.Time) {
	if f.Key != w.stuck.key || w.stuck.sites == nil {
		w.stuck = stuck{f.Key, now, map[uint64]struct{}{}}
	}
	w.stuck.sites[f.Site] = struct{}{}
}

// Stuck reports whether all hosts have failed for a minute because of one configuration key, which waiting
// does not fix. why is the last failure.
func (w *Watch) Stuck(now time.Time) (key, why string, stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := len(w.stuck.sites)
	return w.stuck.key, w.why, w.away && w.stuck.key != "" && now.Sub(w.stuck.since) >= stuckAt && all >= leastAll &&
		2*all >= len(w.sites)
}

// add records that a site failed, in place of its previous failure.
func (w *Watch) add(site uint64, f failed) {
	if w.row == nil {
		w.row, w.ways = map[uint64]failed{}, map[way]int{}
	}
	if before, known := w.row[site]; known {
		w.leave(before.way)
	}
	if len(w.row) == 0 {
		w.trouble = f.sent
	}
	w.row[site] = f
	w.ways[f.way]++
}

// leave removes a site from a way. It always returns true.
func (w *Watch) leave(from way) bool {
	if w.ways[from]--; w.ways[from] == 0 {
		delete(w.ways, from)
	}
	return true
}

// forget forgets all failures.
func (w *Watch) forget() {
	clear(w.row)
	clear(w.ways)
	w.trouble = time.Time{}
}

// doubtful reports whether only silence has been evidence for the outage for too long.
func (w *Watch) doubtful(now time.Time) bool {
	guess := maxGuess
	if len(w.row) >= many {
		guess = manyFor
	}
	return w.away && now.Sub(w.since) >= guess && now.Sub(w.own) >= guess && now.Sub(w.woke) >= guess
}

// Look reports the change if no answer has arrived for a while.
func (w *Watch) Look(now time.Time) News {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(false, now)
}

// Begin records that the network is down, and why. It reports whether this is new.
func (w *Watch) Begin(why string, now time.Time) (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if begun = w.look(true, now) == Begun; begun {
		w.why = why
	}
	return begun
}

// look begins an outage if it is certain or the evidence shows it.
func (w *Watch) look(certain bool, now time.Time) News {
	switch {
	case w.away || w.doubted && !certain || !certain && !w.shown(now):
		return None
	case !certain && w.refute(now):
		return Refuted
	}
	w.voters, w.back, w.confirmed = nil, 0, false
	if !certain {
		w.voters = map[uint64]bool{}
		for site := range w.row {
			w.voters[site] = false
		}
	}
	w.away, w.since, w.every = true, now, minProbe
	w.probe = now.Add(minProbe)
	w.forget()
	w.tell()
	return Begun
}

// Suspended records that the machine was suspended until now. Several callers may report the same
// suspension, each a little later. Requests that were open meanwhile are no evidence.
func (w *Watch) Suspended(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.woke) >= oneWake {
		w.woke = now
		w.forget()
		w.changes++
	}
}

// Woke returns when the machine last woke; zero: never.
func (w *Watch) Woke() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.woke
}

// Changes returns a number that changes whenever the results of Blameless and Settled may change
// for a reason other than the passing of time.
func (w *Watch) Changes() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

// Anybody reports whether any host has answered after the given time.
func (w *Watch) Anybody(after time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.After(after)
}

// Away returns the time since which the network has been down, and when the next request may be
// made to check it. It returns false if the network is not down.
func (w *Watch) Away() (since, probe time.Time, away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.probe, w.away
}

// Why returns the failure that explains the current outage, for people. It is "" if there is no
// outage.
func (w *Watch) Why() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.away {
		return ""
	}
	return w.why
}

// Probed records that such a request is being made, and schedules the next.
func (w *Watch) Probed(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.every = min(2*w.every, maxProbe)
	w.probe = now.Add(w.every)
}

// Listen sends a value to c whenever an outage begins or ends, if c has room. It stops when stop is
// called.
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
