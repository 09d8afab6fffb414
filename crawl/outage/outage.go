// Package outage tells the failures of this machine's own network from those of
// hosts.
//
// What tells of an outage is in one table, evidence. A failure that is this machine's own, such as a missing route or
// a name server that is out of reach, is enough by itself. Otherwise nobody answers: neither by HTTP nor by a TLS
// handshake, which only the host itself can do. Five sites that answered before fail silently or without a connection
// while others are silent, too; or nobody has answered for half a minute, and three sites or more fail in whatever
// way. A site is a registrable domain, and has one vote however many hosts it has. So has an address, as long as
// somebody at another one answers. A host that sends a TLS alert or hangs up can be reached, as a rule: among others
// that answer it is to blame.
//
// While the network is away only one request is made at a time, every 5 to 60 s; any answer ends that. An outage that
// ends as soon as another site is asked than those that spoke for it, and returns within a minute, was none: who spoke
// for it is to blame, and loses the vote for an hour.
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
	minProbe = 5 * time.Second
	maxProbe = 60 * time.Second

	elsewhere    = nobody // for which an answer shows that others than one server can be reached
	maxAddresses = 8      // of a server

	quiet    = 5 * time.Second // without an answer, after which what was sent before the last one counts
	onTheWay = time.Second     // for which answers come in after the network has gone
	maxGuess = 30 * time.Minute
	many     = 10 // hosts, after which an outage is believed for longer
	manyFor  = 12 * time.Hour
	oneWake  = 2 * time.Second // within which all notice a suspension

	// MaxHold is how long a failure is held back that an outage may explain; longer where several sites are asked, and
	// nobody has answered for less than half a minute.
	MaxHold = 10 * time.Second

	lately  = time.Minute // within which several sites were asked, if an outage is to be told from the end of one
	stuckAt = time.Minute // for which all hosts fail in a way that no waiting mends
)

// A Failure is a request without a whole HTTP answer.
type Failure struct {
	Host     uint64
	Site     uint64 // its registrable domain
	Address  string // "": not known
	Next     string // address of the host behind that one, or that one; "": not known
	Sent     time.Time
	Way      Way
	Resolver bool      // no name server answers any more
	Alone    bool      // nothing of this machine's own is known to have failed
	Met      bool      // the host had answered in an earlier process
	Spoke    bool      // TLS was spoken on its connection
	Shaken   time.Time // the host took part in a TLS handshake; zero: not for this request
	Why      string    // for people
	Key      string    // of the configuration, which may be what is wrong, and no waiting mends it; "": none is
}

// A Watch follows the answers and failures of all requests.
type Watch struct {
	mu        sync.Mutex
	answered  map[uint64]struct{} // hosts, in this process
	sites     map[uint64]struct{} // of them
	row       map[uint64]failed   // sites that failed since the last answer
	ways      map[way]int         // of these, how many there are
	open      map[uint64]asked    // sites that are being asked
	recent    []asked             // of those that were asked, the last few sites, the last first
	first     time.Time           // that one was asked
	last      time.Time           // answer
	trouble   time.Time           // since when requests fail that are in the row
	heard     []heard             // addresses that answered, the last first
	away      bool
	why       string    // what failed
	own       time.Time // when something of this machine's own has failed, the last time
	doubted   bool      // an outage has ended without an answer
	since     time.Time
	ended     time.Time            // the last outage
	voters    map[uint64]struct{}  // sites that spoke for it; nil: it was certain
	confirmed bool                 // by a further site
	refuted   bool                 // no further site was asked in vain
	lost      map[uint64]time.Time // sites that have no vote until then
	stuck     stuck
	woke      time.Time // this machine, the last time
	probe     time.Time // when the next request may be made
	every     time.Duration
	listeners map[chan<- struct{}]struct{}
	changes   uint64
}

// An asked is a site with open requests: their number, and when the first was sent.
type asked struct {
	site     uint64
	requests int
	since    time.Time
}

// Stuck is which sites have failed for the sake of one key since a time, and no other site has.
type stuck struct {
	key   string
	since time.Time
	sites map[uint64]struct{}
}

// A failed request counts as long as nobody has answered since.
type failed struct {
	way
	how       Way
	sent, end time.Time
}

// A way is where a host was asked, and where it would be next.
type way struct{ address, next string }

// Heard is when an address answered.
type heard struct {
	address string
	at      time.Time
}

// Asked notes that a request to a site is sent, which is open until the function returned is called.
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

// meet notes which sites were asked last.
func (w *Watch) meet(site uint64, now time.Time) {
	if w.first.IsZero() {
		w.first = now
	}
	others := slices.DeleteFunc(w.recent, func(a asked) bool { return a.site == site })
	w.recent = slices.Insert(others[:min(len(others), leastAll-1)], 0, asked{site: site, since: now})
}

// Answered notes an HTTP answer to a request that was sent and done at some time, of a host at an address. It
// ends an outage, unless the answer was on its way when that began. Answered reports
// whether one ended.
func (w *Watch) Answered(host, site uint64, address string, sent, done, now time.Time) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answered == nil {
		w.answered, w.sites = map[uint64]struct{}{}, map[uint64]struct{}{}
	}
	w.answered[host], w.sites[site] = struct{}{}, struct{}{}
	w.meet(site, now)
	return w.alive(address, sent, done, now)
}

// alive notes that a host has shown at a time that it can be reached.
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
	Ended        // a host has shown that it can be reached
	Refuted      // what looked like its return shows that the last one was none
)

// Failed notes a failure, and reports what it changes.
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

// stick follows whether all hosts fail for the sake of one key.
func (w *Watch) stick(f *Failure, now time.Time) {
	if f.Key != w.stuck.key || w.stuck.sites == nil {
		w.stuck = stuck{f.Key, now, map[uint64]struct{}{}}
	}
	w.stuck.sites[f.Site] = struct{}{}
}

// Stuck reports that all hosts have failed for a minute because of one key of the configuration, and why. No waiting
// mends that.
func (w *Watch) Stuck(now time.Time) (key, why string, stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := len(w.stuck.sites)
	return w.stuck.key, w.why, w.away && w.stuck.key != "" && now.Sub(w.stuck.since) >= stuckAt && all >= leastAll &&
		2*all >= len(w.sites)
}

// add adds a site to those that failed, in place of what it did before.
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
	w.trouble = time.Time{}
}

// doubtful reports whether nothing but silence has spoken for an outage for too long.
func (w *Watch) doubtful(now time.Time) bool {
	guess := maxGuess
	if len(w.row) >= many {
		guess = manyFor
	}
	return w.away && now.Sub(w.since) >= guess && now.Sub(w.own) >= guess && now.Sub(w.woke) >= guess
}

// Look reports what changes because it has been quiet for so long.
func (w *Watch) Look(now time.Time) News {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(false, now)
}

// Begin notes that the network is away, and why. It reports whether that is news.
func (w *Watch) Begin(why string, now time.Time) (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if begun = w.look(true, now) == Begun; begun {
		w.why = why
	}
	return begun
}

// look begins an outage if there is one for certain, or the evidence shows it.
func (w *Watch) look(certain bool, now time.Time) News {
	switch {
	case w.away || w.doubted && !certain || !certain && !w.shown(now):
		return None
	case !certain && w.refute(now):
		return Refuted
	}
	w.voters, w.confirmed = nil, false
	if !certain {
		w.voters = map[uint64]struct{}{}
		for site := range w.row {
			w.voters[site] = struct{}{}
		}
	}
	w.away, w.since, w.every = true, now, minProbe
	w.probe = now.Add(minProbe)
	w.forget()
	w.tell()
	return Begun
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

// Settled reports whether a failure that ended at a time need not be held back any longer: the host can be reached, or
// somebody has answered since, or for long nobody has, or it cannot belong to an outage, because too few sites have
// answered or are asked.
func (w *Watch) Settled(f *Failure, end, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	late := now.Sub(end) >= MaxHold
	switch {
	case w.last.After(end), late && f.Resolver:
		return true
	case f.Resolver:
		return false
	case !f.Way.counts(), w.doubted, w.voteless(f.Site, now), len(w.sites) < leastAll && !f.Met:
		return true
	case (f.Spoke || w.lonely(end)) && !w.troubled(now), late && w.alone(now):
		return true
	}
	return late && now.Sub(w.quietSince()) >= nobody
}

// lonely reports whether for a while fewer sites have been asked than an outage takes.
func (w *Watch) lonely(end time.Time) bool {
	since := w.first
	if len(w.recent) == leastAll {
		since = w.recent[leastAll-1].since
	}
	return end.Sub(since) >= lately
}

// alone reports whether fewer sites have been asked since the start than an outage takes, though there was time for
// more.
func (w *Watch) alone(now time.Time) bool {
	return len(w.recent) < leastAll && now.Sub(w.first) >= MaxHold
}

// troubled reports whether as many sites as an outage takes are silent, or have failed.
func (w *Watch) troubled(now time.Time) bool {
	n := len(w.row)
	for site, o := range w.open {
		if _, fails := w.row[site]; !fails && now.Sub(o.since) >= silence {
			n++
		}
	}
	return n >= leastAll
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

// Why is what fails in an outage, for people; "": there is none.
func (w *Watch) Why() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.away {
		return ""
	}
	return w.why
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
