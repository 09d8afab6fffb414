package config

import (
	"cmp"
	"runtime"
	"time"

	"github.com/sumi-ripple/ripple/schema/terrain"
)

// Render says which pages are shown by a browser, and how. There is no key for it yet: a
// configuration that is read has none shown.
type Render struct {
	Mode        RenderMode
	Domains     []terrain.Pattern // empty: the hosts of all origins
	Browser     string            // empty: found on the PATH
	MaxBrowsers int               // 0: one a core
	MaxRequests int               // of one page
	Timeout     time.Duration     // of one round
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

// Browsers is how many run at a time.
func (r *Render) Browsers() int { return cmp.Or(r.MaxBrowsers, runtime.NumCPU()) }

// Renders reports whether the pages of a host may be rendered, where the terrain has it
// that it belongs to an origin.
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
