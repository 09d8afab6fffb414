package outage

import "time"

// Blameless reports whether a failed request sent at the given time is not the host's fault, because the
// network is down or has been since.
func (w *Watch) Blameless(sent time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away || sent.Before(w.ended)
}

// Settled reports whether a failure that ended at end need no longer be held back. This is so if
// the host can be reached; if a host has answered since, or none has for a long time; if the
// failure cannot belong to an outage, because too few sites have answered or are being requested;
// or if the peer sent a TLS alert and no other request is open that could show more.
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
	case f.Alert && len(w.open) == 0 && now.Sub(end) >= silence && !w.troubled(now): // no other request can show more
		return true
	}
	return late && now.Sub(w.quietSince()) >= nobody
}

// lonely reports whether fewer sites than an outage needs have been requested lately.
func (w *Watch) lonely(end time.Time) bool {
	since := w.first
	if len(w.recent) == leastAll {
		since = w.recent[leastAll-1].since
	}
	return end.Sub(since) >= lately
}

// alone reports whether fewer sites than an outage needs have been requested since the start,
// though there was time for more.
func (w *Watch) alone(now time.Time) bool {
	return len(w.recent) < leastAll && now.Sub(w.first) >= MaxHold
}

// troubled reports whether enough sites for an outage are silent or have failed.
func (w *Watch) troubled(now time.Time) bool {
	n := len(w.row)
	for site, o := range w.open {
		if _, fails := w.row[site]; !fails && now.Sub(o.since) >= silence {
			n++
		}
	}
	return n >= leastAll
}
