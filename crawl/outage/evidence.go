package outage

import (
	"slices"
	"time"
)

// A Way is the way in which a request failed.
type Way uint8

// The ways.
const (
	Other  Way = iota // the host's own failure: an answer that cannot be read
	Local             // this machine has no network, or has never reached a name server
	Silent            // no answer within the time-out
	Barred            // refused, no such name, a private address, a certificate for another name, a failing proxy
	HungUp            // a TLS alert, or the connection ended before the TLS handshake: the peer can be reached
	Cut               // the connection ended after the TLS handshake: the host can be reached
)

const (
	leastAll = 3                // sites that have answered; the failures of fewer never show an outage
	nobody   = 30 * time.Second // without any answer; after this time the way in which requests fail does not matter
	silence  = 3 * time.Second  // without an answer; before this time has passed the network counts as working
)

// A rule defines which failures show an outage. Only hosts that have answered before, in this
// process or in an earlier one, have a vote, and each site has one vote.
type rule struct {
	ways   []Way
	sites  int           // votes needed; fewer if fewer sites have answered, but at least leastAll
	quiet  time.Duration // time without any answer while requests fail
	others bool          // a further site has been silent for as long, or every site that answered has failed
}

// evidence lists the rules that begin an outage, in addition to Local failures. One rule is enough.
// No rule contains Other and Cut, so such failures never count.
var evidence = []rule{
	{ways: []Way{Silent, Barred}, sites: 5, quiet: silence, others: true},
	{ways: []Way{Silent, Barred, HungUp}, sites: leastAll, quiet: nobody},
}

// counts reports whether a failure of this kind may show an outage.
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

// votes reports whether need sites vote for the rule. A request that was sent before the last
// answer may have failed by chance while many others succeed. It counts only if there has been
// silence since.
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

// othersToo reports whether a site that has not failed has been silent for as long as those that
// have, or no other site is left.
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

// quietSince returns the start of the current period of failures without an answer.
func (w *Watch) quietSince() time.Time {
	if w.trouble.After(w.last) {
		return w.trouble
	}
	return w.last
}

// elsewhere reports whether an address answered recently at which no request has failed since.
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

// fewAddresses reports whether the failed requests went to fewer than the given number of addresses. A host
// without a known address counts as an address of its own.
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

// oneServer reports whether all failed hosts belong to one server. Hosts that share an address do.
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

// An outage is refuted if the first request to a site that had not voted for it ended it, and it
// seems to return within a minute, before most of the sites that voted for it have answered. The
// sites that voted for either then lose their vote for a while.
const (
	returns  = time.Minute
	voteless = time.Hour
)

// refute reports whether the evidence repeats a refuted outage. If so, it takes away the voters' votes.
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

// believe records that a site has answered since the last outage. If most of its voters have, only the network
// can have been at fault.
func (w *Watch) believe(site uint64, sent time.Time) {
	if answered, voted := w.voters[site]; !voted || answered || w.away || sent.Before(w.since) {
		return
	}
	w.voters[site] = true
	w.back++
	if 2*w.back > len(w.voters) {
		w.refuted = false
	}
}

func (w *Watch) voteless(site uint64, now time.Time) bool { return now.Before(w.lost[site]) }
