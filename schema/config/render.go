package config

import (
	"cmp"
	"runtime"
	"time"

	"github.com/sumi-ripple/ripple/schema/scope"
)

// Render is [render].
type Render struct {
	Mode        RenderMode
	Domains     []scope.Pattern // empty: the hosts of all origins
	Browser     string          // empty: found on the PATH
	MaxBrowsers int             // 0: one per core
	MaxRequests int             // per page
	Timeout     time.Duration   // per round
	Sandbox     bool
}

// RenderMode says which pages are rendered.
type RenderMode string

// The values of mode.
const (
	RenderOff    RenderMode = "off"
	RenderAuto   RenderMode = "auto"
	RenderAlways RenderMode = "always"
)

func readPattern(raw any) (scope.Pattern, error) {
	s, err := text(raw)
	if err != nil {
		return scope.Pattern{}, err
	}
	p, _, err := scope.ParsePattern(s)
	return p, err
}

func (r *Render) keys() []key {
	return []key{
		{name: "mode", doc: "off | auto: pages that show nothing without their scripts | always; needs Chromium",
			value: enum(&r.Mode, RenderOff, RenderAuto, RenderAlways)},
		{name: "domains", doc: "hosts whose pages are rendered, as [\"*.example.com\"]; empty: all quality hosts",
			value: list(&r.Domains, readPattern, func(p scope.Pattern) string { return tomlString(p.String()) })},
		{name: "browser", doc: "the browser's path; \"\": chromium, chromium-headless-shell or google-chrome on the PATH",
			value: str(&r.Browser, anything)},
		{name: "max-browsers", doc: "browsers at a time; 0: one per core", value: number(&r.MaxBrowsers, 0, 64)},
		{name: "max-requests", doc: "for scripts and data of one page", value: number(&r.MaxRequests, 0, 10_000)},
		{name: "timeout", unit: "duration", doc: "for rendering a page once, by the wall clock",
			value: duration(&r.Timeout, time.Second)},
		{name: "sandbox", doc: "Chromium's sandbox stays on", value: boolean(&r.Sandbox)},
	}
}

// Browsers returns how many browsers run at a time.
func (r *Render) Browsers() int { return cmp.Or(r.MaxBrowsers, runtime.NumCPU()) }

// Renders reports whether pages of a host may be rendered. ofOrigin says whether the host belongs to an
// origin.
func (r *Render) Renders(host string, ofOrigin bool) bool {
	if r.Mode == RenderOff {
		return false
	}
	if len(r.Domains) == 0 {
		return ofOrigin
	}
	for _, p := range r.Domains {
		if p.Match(host) {
			return true
		}
	}
	return false
}
