package outage

import (
	"slices"
	"time"
)

// A Way is how a request failed.
type Way uint8

// The ways.
const (
	Other  Way = iota // by the host's own doing: an answer that cannot be read
	Local             // this machine has no network, or no name server was ever within reach
	Silent            // nothing came in time
	Barred            // refused, no such name, a private address, the certificate of somebody else, a proxy that fails
	HungUp            // a TLS alert, or the end of the connection before TLS was spoken: its peer can be reached
	Cut               // the end of the connection after TLS was spoken: the host can be reached
)

const (
	leastAll = 3                // sites that answered, where all of them fail
	nobody   = 30 * time.Second // without any answer, after which it does not matter how requests fail
	silence  = 3 * time.Second  // without an answer, before which nothing is wrong with the network
)

// A rule says whose failures tell of an outage. Only a host that answered before has a vote, in this process or in an
// earlier one, and each site has one.
type rule struct {
	ways   []Way
	sites  int           // that must vote; fewer where fewer have answered, but not fewer than leastAll
	quiet  time.Duration // for which nobody has answered while requests failed
	others bool          // somebody else was asked as long ago and has not answered, or all sites that answered fail
}

// evidence is what begins an outage, besides Local failures: one of these is enough, of any host. A failure in a way
// that no rule names never counts: Other and Cut.
var evidence = []rule{
	{ways: []Way{Silent, Barred}, sites: 5, quiet: silence, others: true},
	{ways: []Way{Silent, Barred, HungUp}, sites: leastAll, quiet: nobody},
}

// counts reports whether a failure in a way may tell of an outage.
func (way Way) counts() bool {
	return way == Local || slices.ContainsFunc(evidence, func(r rule) bool { return slices.Contains(r.ways, way) })
}

// shown reports whether a rule is met.
func (w *Watch) shown(now time.Time) bool {
	return slices.ContainsFunc(evidence, func(r rule) bool { return w.meets(&r, now) })
}

func (w *Watch) meets(r *rule, now time.Time) bool {
	need := min(r.sites, max(leastAll, len(w.sites)))
	if len(w.row) < need || now.Sub(w.quietSince()) < r.quiet {
		return false
	}
	if w.elsewhere(now) && (w.oneServer() || w.fewAddresses(need)) {
		return false
	}
	return w.votes(r, need, now) && (!r.others || w.othersToo(r.quiet, now))
}

// votes reports whether need sites vote. A request that was sent before the last answer may have failed by itself
// among many that succeed, unless it has been quiet since.
func (w *Watch) votes(r *rule, need int, now time.Time) bool {
	for site, f := range w.row {
		if slices.Contains(r.ways, f.how) && !w.voteless(site, now) &&
			(!f.sent.Before(w.last) || now.Sub(w.last) >= quiet) {
			need--
		}
		if need == 0 {
			return true
		}
	}
	return false
}

// othersToo reports whether somebody who has not failed is as silent as those who did, or nobody else is left.
func (w *Watch) othersToo(quiet time.Duration, now time.Time) bool {
	answered := 0
	for site := range w.row {
		if _, known := w.sites[site]; known {
			answered++
		}
	}
	if answered == len(w.sites) {
		return true
	}
	for site, o := range w.open {
		if _, fails := w.row[site]; !fails && now.Sub(o.since) >= quiet {
			return true
		}
	}
	return false
}

// quietSince is from when on requests have failed and nobody has answered.
func (w *Watch) quietSince() time.Time {
	if w.trouble.After(w.last) {
		return w.trouble
	}
	return w.last
}

// elsewhere reports whether an address has just answered at which nobody has failed since.
func (w *Watch) elsewhere(now time.Time) bool {
	return slices.ContainsFunc(w.heard, func(h heard) bool {
		if now.Sub(h.at) >= elsewhere {
			return false
		}
		for f := range w.ways {
			if f.address == h.address || f.next == h.address {
				return false
			}
		}
		return true
	})
}

// fewAddresses reports whether fewer addresses than that were asked in vain; each is one if it is not known.
func (w *Watch) fewAddresses(than int) bool {
	known, unknown := make(map[string]struct{}, than), 0
	for f, hosts := range w.ways {
		if f.address == "" {
			unknown += hosts
		} else {
			known[f.address] = struct{}{}
		}
		if len(known)+unknown >= than {
			return false
		}
	}
	return true
}

// oneServer reports whether all that failed are of one server: hosts that have an address in common are.
func (w *Watch) oneServer() bool {
	its := map[string]bool{}
	for grown := true; grown && len(its) <= maxAddresses; {
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
	return true
}

// An outage that ended as soon as somebody was asked who had not spoken for it, and that returns within a minute, was
// none. Those who spoke for either are to blame, and have no vote for a while.
const (
	returns  = time.Minute
	voteless = time.Hour
)

// refute reports whether an outage that the evidence shows is the return of one that was none, and takes the votes.
func (w *Watch) refute(now time.Time) bool {
	if !w.refuted || now.Sub(w.ended) >= returns {
		return false
	}
	if w.lost == nil {
		w.lost = map[uint64]time.Time{}
	}
	for site := range w.voters {
		w.lost[site] = now.Add(voteless)
	}
	for site := range w.row {
		w.lost[site] = now.Add(voteless)
	}
	w.forget()
	w.changes++
	return true
}

func (w *Watch) voteless(site uint64, now time.Time) bool { return now.Before(w.lost[site]) }
