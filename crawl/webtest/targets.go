package webtest

import "slices"

// A place is one URL of a generated web.
type place struct {
	host uint64
	kind kind
	n    uint64
}

type kind uint8

const (
	page kind = iota
	moved
	gone
)

// branches is how many pages a page is the parent of: the tree by which every
// page of a host is reached.
const branches = 8

// mix is a hash of its numbers (the finaliser of SplitMix64 after each).
func mix(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// share turns a hash into a number from 0 up to 1.
func share(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// targets appends the distinct targets of a page: first those that make
// everything reachable, then by chance.
func (w *Web) targets(to []place, from place) []place {
	add := func(p place) {
		if p != from && !slices.Contains(to, p) {
			to = append(to, p)
		}
	}
	for i := range uint64(branches) {
		if child, ok := w.child(from, i); ok {
			add(child)
		}
	}
	if from.n == 0 && w.cfg.Leave > 0 {
		for host := 2*from.host + 1; host <= 2*from.host+2 && host < uint64(w.cfg.Hosts); host++ {
			add(place{host: host})
		}
	}
	add(place{host: from.host})
	for try := 0; len(to) < w.cfg.Links && try < 4*w.cfg.Links; try++ {
		add(w.chance(from, uint64(try)))
	}
	return to
}

func (w *Web) child(from place, i uint64) (place, bool) {
	n := from.n*branches + i + 1
	if from.n >= 1<<58 { // deeper than any crawl; stay a valid number
		n = mix(w.seed, from.n, i) >> 2
	}
	return place{from.host, page, n}, w.cfg.Endless || n < uint64(w.cfg.Pages)
}

// chance is one random target. Low numbers are more popular than high ones.
func (w *Web) chance(from place, try uint64) place {
	h := mix(w.seed, from.host, from.n, try)
	where, what := h&0xffffffff, share(mix(h, 1))
	to := place{host: from.host}
	if share(mix(h, 2)) < w.cfg.Leave {
		to.host = where % uint64(w.cfg.Hosts)
	}
	switch {
	case what < w.cfg.Dead:
		to.kind, to.n = gone, mix(h, 3)%w.extras(w.cfg.Dead)
	case what < w.cfg.Dead+w.cfg.Redirects:
		to.kind, to.n = moved, mix(h, 3)%w.extras(w.cfg.Redirects)
	default:
		luck := share(mix(h, 4))
		to.n = uint64(luck * luck * float64(w.cfg.Pages))
	}
	return to
}

// extras is how many redirects or dead URLs a host has.
func (w *Web) extras(share float64) uint64 {
	return uint64(share*float64(w.cfg.Pages)) + 1
}

// movedTo is a page, of another host as often as links are, or, for every
// eighth, the redirect before it.
func (w *Web) movedTo(from place) place {
	if from.n%8 == 7 {
		return place{from.host, moved, from.n - 1}
	}
	h := mix(w.seed, from.host, from.n, 0x301)
	to := place{from.host, page, mix(h, 1) % uint64(w.cfg.Pages)}
	if share(h) < w.cfg.Leave {
		to.host = mix(h, 2) % uint64(w.cfg.Hosts)
	}
	return to
}
