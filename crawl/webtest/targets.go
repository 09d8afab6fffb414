package webtest

import (
	"slices"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

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

// branches is the number of children of each page in the tree that makes all pages of a host reachable.
const branches = 8

// share converts a hash to a number in [0, 1).
func share(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// targets appends the distinct targets of a page: first those that make everything reachable, then
// random ones.
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
	if from.n >= 1<<58 { // deeper than any crawl; keep the number valid
		n = prose.Mix(w.seed, from.n, i) >> 2
	}
	return place{from.host, page, n}, w.cfg.Endless || n < uint64(w.cfg.Pages)
}

// chance returns one random target. Low numbers are more popular than high ones.
func (w *Web) chance(from place, try uint64) place {
	h := prose.Mix(w.seed, from.host, from.n, try)
	where, what := h&0xffffffff, share(prose.Mix(h, 1))
	to := place{host: from.host}
	if share(prose.Mix(h, 2)) < w.cfg.Leave {
		to.host = where % uint64(w.cfg.Hosts)
	}
	switch {
	case what < w.cfg.Dead:
		to.kind, to.n = gone, prose.Mix(h, 3)%w.cfg.extras(w.cfg.Dead)
	case what < w.cfg.Dead+w.cfg.Redirects:
		to.kind, to.n = moved, prose.Mix(h, 3)%w.cfg.extras(w.cfg.Redirects)
	default:
		luck := share(prose.Mix(h, 4))
		to.n = uint64(luck * luck * float64(w.cfg.Pages))
	}
	return to
}

// movedTo returns the target of a redirect: a page, as often on another host as with links. Every
// eighth redirect leads to the previous redirect.
func (w *Web) movedTo(from place) place {
	if from.n%8 == 7 {
		return place{from.host, moved, from.n - 1}
	}
	h := prose.Mix(w.seed, from.host, from.n, 0x301)
	to := place{from.host, page, prose.Mix(h, 1) % uint64(w.cfg.Pages)}
	if share(h) < w.cfg.Leave {
		to.host = prose.Mix(h, 2) % uint64(w.cfg.Hosts)
	}
	return to
}
