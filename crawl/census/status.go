package census

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema"
)

// A Status is a snapshot of a running crawl, for people and programs.
type Status struct {
	RunID          int            `json:"run_id"`
	Status         string         `json:"status"` // running, paused, stopping, writing
	PID            int            `json:"pid"`
	Elapsed        float64        `json:"elapsed_seconds"`
	Pages          int            `json:"pages_requested"` // visits of the run that made a request
	Rendered       int            `json:"rendered"`        // of those: read as their scripts left them
	Unrendered     int            `json:"not_rendered"`    // of those: read as fetched, since rendering failed
	Requests       int            `json:"requests"`
	Fetching       int            `json:"fetching"` // open requests of every kind
	PagesWaiting   int            `json:"pages_waiting"`
	PagesPerSecond float64        `json:"pages_per_second"`
	Hosts          Hosts          `json:"hosts"`
	Errors         map[string]int `json:"errors"` // by kind, see [survey.Counts]

	Lost map[schema.State]int `json:"-"` // pages of hosts that were given up, by state
	Left
	Troubles   []Trouble  `json:"troubles"`    // of the hosts with trouble, those that take longest
	Troubled   int        `json:"troubled"`    // hosts with trouble
	Groups     []Group    `json:"reasons"`     // hosts with pages left, by why they wait; empty: see rest
	Waits      string     `json:"waits_for"`   // why nothing is being fetched, or less than could be; empty: neither
	WaitsSince *time.Time `json:"waits_since"` // since when the network is away or the disk is full; null: neither
	Wait       Wait       `json:"-"`           // the same, as a value
	Condition  Condition  `json:"condition"`
	Next       time.Time  `json:"-"` // when the clock of the next host runs out; zero: none is waited for
}

// A Condition is what a run is doing, in the words that every view shows.
type Condition struct {
	Cause Cause `json:"cause"` // what the run waits for, if not for hosts; empty: nothing
	// Name is running, paused, network, disk, memory, hub, silent (shards), stopping, writing, completed, stopped,
	// interrupted, none (no run yet) or unknown.
	Name     string   `json:"name"`
	Label    string   `json:"label"`    // the same in a few words
	Headline string   `json:"headline"` // what is being fetched, and why no more
	Commands []string `json:"commands"` // that the crawl obeys now: pause, unpause, reload, stop
	Fetches  bool     `json:"fetches"`  // requests are made, so there is a rate, and a time until the end
}

// rest removes the rate, the remaining time, the hosts that are waited for and why, which mean nothing while nothing
// can be requested.
func (s *Status) rest() {
	s.PagesPerSecond = 0
	s.noETA()
	s.Groups = []Group{}
	s.Troubles = slices.DeleteFunc(s.Troubles, func(t Trouble) bool { return !t.Over })
	s.Troubled = len(s.Troubles)
}

func (s *Status) noETA() { s.ETA, s.ETALimit, s.ETAHosts = 0, "", []HostETA{} }

// rests reports whether the crawl makes no requests until it is resumed, or until its network or disk is back.
func (s *Status) rests() bool {
	return s.Status != "running" || s.Wait.Reason == ForNetwork || s.Wait.Reason == ForDisk
}

// Left is the known remaining work of a run within its budgets, max-pages and the delays of hosts. It is the
// one definition of progress and of the remaining time. That time never exceeds what max-run-time leaves to
// the current process, or to the next one.
type Left struct {
	PagesToVisit int       `json:"pages_to_visit"`
	Depth        int       `json:"depth"` // smallest depth of the waiting pages; -1: none wait
	MaxDepth     int       `json:"max_depth"`
	ETA          float64   `json:"eta_seconds"` // 0: nothing is left
	ETALimit     string    `json:"eta_limit"`   // the key and value that end the process earlier; empty: none
	ETAHosts     []HostETA `json:"eta_hosts"`   // the hosts that determine it
}

// endBy limits the remaining time to that of a process that has already worked for a while.
func (l *Left) endBy(limit, worked time.Duration) {
	rest := max(time.Millisecond, limit-worked).Seconds()
	if limit > 0 && l.ETA > rest {
		l.ETA, l.ETALimit = rest, "max-run-time = "+limit.String()
		l.ETAHosts = slices.Clone(l.ETAHosts)
		for i := range l.ETAHosts {
			l.ETAHosts[i].Seconds = l.Within(l.ETAHosts[i].Seconds)
		}
	}
}

// Within limits the time of a host to the remaining time.
func (l *Left) Within(seconds float64) float64 {
	if l.ETALimit == "" {
		return seconds
	}
	return min(seconds, l.ETA)
}

// Hosts counts hosts by what they do.
type Hosts struct {
	Active    int `json:"active"`  // with an open request
	Waiting   int `json:"waiting"` // other hosts with pages to visit: for their clock, or a free request
	Suspended int `json:"suspended"`
	GivenUp   int `json:"given_up"`
}

// A Wait is why nothing is being fetched, or less than possible.
type Wait struct {
	Reason Reason
	Few    int           // of [ForMeans]: requests that may be open
	Host   string        // of [ForHosts]: the next host to be requested
	Why    string        // of [ForHosts]: why that host waits, if not for minimum-time-on-page; else why requests fail
	NoRoom *crawl.NoRoom // of [ForDisk]: the disk is full; nil: it is slow
	Since  time.Time     // since when the network has been down, also during a pause, or the disk full; zero: neither
	Rest   time.Duration // of [ForHosts]: until the next request
}

// A Reason is why nothing is being fetched.
type Reason int

// The reasons. The zero value means that something is being fetched or is about to be.
const (
	_ Reason = iota
	Stopping
	Paused
	ForDisk     // the disk is full, or fetched data is still being written
	ForDecision // the next page is being looked up
	ForNothing  // nothing is left to request
	ForHosts    // every host's clock has to run out first
	ForNetwork  // the network of this machine is down
	ForMeans    // this machine has no resources or time for more open requests
)

// waitOf returns why a crawl fetches nothing, or less than possible, with toVisit pages left and next as the
// next host.
func waitOf(st *crawl.Status, toVisit int, next nextHost) Wait {
	switch {
	case st.NoRoom != nil && !st.Stopped && !st.Paused:
		return Wait{Reason: ForDisk, NoRoom: st.NoRoom, Since: st.NoRoom.Since}
	case !st.Away.IsZero() && !st.Stopped && !st.Paused:
		return Wait{Reason: ForNetwork, Why: st.Why, Since: st.Away}
	case st.Short > 0 && !st.Stopped && !st.Paused:
		return Wait{Reason: ForMeans, Few: st.Short}
	case st.Open > 0:
		return Wait{}
	case st.Stopped:
		return Wait{Reason: Stopping}
	case st.Paused:
		return Wait{Reason: Paused, Why: st.Why, Since: st.Away}
	case st.Full:
		return Wait{Reason: ForDisk}
	case st.Pending > 0 || st.Waking > 0 || st.Hosts.Ready > 0 || st.Asleep.Ready > 0: // about to
		return Wait{}
	case next.name == "" && toVisit > 0:
		return Wait{Reason: ForDecision}
	case next.name == "":
		return Wait{Reason: ForNothing}
	}
	return Wait{Reason: ForHosts, Host: next.name, Why: next.why, Rest: time.Until(st.Next)}
}
