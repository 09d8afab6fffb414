package webtest

import (
	"iter"
	"net/http"
	"sync"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

// A GenConfig describes a generated web. Zero values mean defaults.
type GenConfig struct {
	Domain    string  // hosts are h0.Domain, h1.Domain, ...; default "gen.test"
	Hosts     int     // default 10
	Pages     int     // per host; default 100
	Links     int     // distinct targets per page; default 41, fewer if the web is too small
	Hrefs     int     // anchors per page, including repeats; default 141
	Size      int     // approximate bytes per page; default 34,000
	Leave     float64 // share of links that lead to another host
	Redirects float64 // share of links that lead to a redirect
	Dead      float64 // share of links that lead to a 404
	Endless   bool    // pages are endless: every page links to new pages
	Robots    string  // robots.txt of every host; empty: 404
	Gzip      bool    // compress for clients that accept it; this costs more than creating the page
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

// extras returns how many redirects or dead URLs a host has.
func (c *GenConfig) extras(share float64) uint64 {
	return uint64(share*float64(c.Pages)) + 1
}

// A Web is generated from a seed. The same seed and configuration give the same web. Pages are
// created on request and not stored.
//
// Every page of a host is reachable from its front page and, if Leave is above zero, every host
// from the first one. The methods of a Web describe it correctly, so tests can compare their
// results with it.
type Web struct {
	cfg      GenConfig
	seed     uint64
	names    naming
	prose    *prose.Stock
	buffers  sync.Pool
	encoders sync.Pool
}

// Generate adds a web to the server. A [Host] of the same name takes precedence for its paths.
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

// Seeds returns the front pages of all hosts.
func (w *Web) Seeds() []string {
	seeds := make([]string, w.cfg.Hosts)
	for i := range seeds {
		seeds[i] = w.names.url(place{host: uint64(i)})
	}
	return seeds
}

// Pages returns the URLs that answer 200, host by host; in an endless web, number by number without
// end.
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

// Links returns the distinct targets of a page in document order and canonical form: https, no
// fragment. Other URLs have none.
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

// Redirect returns the target of a redirect.
func (w *Web) Redirect(url string) (to string, ok bool) {
	from, ok := w.names.parse(url)
	if !ok || from.kind != moved {
		return "", false
	}
	return w.names.url(w.movedTo(from)), true
}

// Status returns the status with which the URL is answered: 200, 301 or 404.
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
