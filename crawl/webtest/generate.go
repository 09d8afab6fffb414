package webtest

import (
	"iter"
	"net/http"
	"sync"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

// A GenConfig describes a generated web. What is zero takes the default.
type GenConfig struct {
	Domain    string  // hosts are h0.Domain, h1.Domain, ...; default "gen.test"
	Hosts     int     // default 10
	Pages     int     // of each host; default 100
	Links     int     // distinct targets of a page; default 41, fewer where the web is too small for them
	Hrefs     int     // anchors of a page, repeats included; default 141
	Size      int     // bytes of a page, about; default 34,000
	Leave     float64 // share of links that lead to another host
	Redirects float64 // share of links that lead to a redirect
	Dead      float64 // share of links that lead to a 404
	Endless   bool    // Pages has no end: every page links to pages that none above it links to
	Robots    string  // robots.txt of every host; empty: 404
	Gzip      bool    // compress for clients that accept it, which costs more than the page
}

func (c GenConfig) withDefaults() GenConfig {
	for _, f := range []struct {
		field *int
		value int
	}{{&c.Hosts, 10}, {&c.Pages, 100}, {&c.Links, 41}, {&c.Hrefs, 141}, {&c.Size, 34000}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if c.Domain == "" {
		c.Domain = "gen.test"
	}
	return c
}

// extras is how many redirects or dead URLs a host has.
func (c *GenConfig) extras(share float64) uint64 {
	return uint64(share*float64(c.Pages)) + 1
}

// A Web is generated from a seed, the same for the same seed and configuration.
// Pages are made when they are asked for and forgotten again.
//
// Every page of a host can be reached from its front page, and where Leave is
// above zero every host from the first one. The web tells the truth about
// itself, so that a test can compare.
type Web struct {
	cfg      GenConfig
	seed     uint64
	names    naming
	prose    *prose.Stock
	buffers  sync.Pool
	encoders sync.Pool
}

// Generate adds a web to the server. A [Host] of the same name answers first,
// for the paths that it has.
func (s *Server) Generate(seed uint64, cfg GenConfig) *Web {
	w := &Web{cfg: cfg.withDefaults(), seed: prose.Mix(seed, 0x5eed)}
	w.names = naming{cfg: &w.cfg, seed: w.seed, suffix: "." + w.cfg.Domain}
	w.prose = prose.NewStock(w.seed)
	w.buffers.New = func() any { return new([]byte) }
	w.encoders.New = func() any { return newFastGzip() }
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webs = append(s.webs, w)
	return w
}

// Seeds are the front pages of all hosts.
func (w *Web) Seeds() []string {
	seeds := make([]string, w.cfg.Hosts)
	for i := range seeds {
		seeds[i] = w.names.url(place{host: uint64(i)})
	}
	return seeds
}

// Pages are the URLs that answer 200, host after host; in an endless web number
// after number, without end.
func (w *Web) Pages() iter.Seq[string] {
	if w.cfg.Endless {
		return w.endlessPages
	}
	return func(yield func(string) bool) {
		for host := range uint64(w.cfg.Hosts) {
			for n := range uint64(w.cfg.Pages) {
				if !yield(w.names.url(place{host, page, n})) {
					return
				}
			}
		}
	}
}

func (w *Web) endlessPages(yield func(string) bool) {
	for n := uint64(0); ; n++ {
		for host := range uint64(w.cfg.Hosts) {
			if !yield(w.names.url(place{host, page, n})) {
				return
			}
		}
	}
}

// Links are the distinct targets of a page, in document order and normalised:
// https, no fragment. Of anything but a page there are none.
func (w *Web) Links(url string) []string {
	from, ok := w.names.parse(url)
	if !ok || from.kind != page {
		return nil
	}
	var buf [64]place
	targets := w.targets(buf[:0], from)
	links := make([]string, len(targets))
	for i, t := range targets {
		links[i] = w.names.url(t)
	}
	return links
}

// Redirect is where the URL redirects to.
func (w *Web) Redirect(url string) (to string, ok bool) {
	from, ok := w.names.parse(url)
	if !ok || from.kind != moved {
		return "", false
	}
	return w.names.url(w.movedTo(from)), true
}

// Status is what the URL is answered with: 200, 301 or 404.
func (w *Web) Status(url string) int {
	switch at, ok := w.names.parse(url); {
	case ok && at.kind == page:
		return http.StatusOK
	case ok && at.kind == moved:
		return http.StatusMovedPermanently
	default:
		return http.StatusNotFound
	}
}
