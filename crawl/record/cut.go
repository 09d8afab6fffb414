package record

import (
	"cmp"
	"errors"
	"math"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

// A cutter knows which pages lack links that were beyond a limit when they were read, and may be
// within it now. That such a page has not changed says nothing of what it lacks.
type cutter struct {
	in    *scope
	traps map[schema.RunID]terrain.Traps
}

// lacks reports whether that is so of a page with such a last visit.
func (c *cutter) lacks(v *schema.Visit) (bool, error) {
	most := c.in.set.Config.Crawler.LinksPerPage()
	if v.LinkLimit > 0 && most > v.LinkLimit {
		return true, nil
	}
	stands := v
	if v.Stand != 0 {
		var err error
		if stands, err = c.in.tx.Visits.At(v.Stand); err != nil {
			return false, err
		}
	}
	read := v.Distinct
	if v.LinkLimit > 0 {
		read = min(read, v.LinkLimit)
	}
	if read <= len(stands.Links) {
		return false, nil
	}
	before, err := c.trapsOf(stands.Run)
	now := c.in.set.Config.Traps
	return v.BeyondHosts > 0 && above(now.MaxHostsPerPage, before.MaxHostsPerPage) ||
		read > len(stands.Links)+v.BeyondHosts &&
			(above(now.MaxURLsPerHost, before.MaxURLsPerHost) || above(now.MaxHostsPerSite, before.MaxHostsPerSite)), err
}

// above compares limits, of which 0 is none.
func above(now, before int) bool {
	return uint(cmp.Or(now, math.MaxInt)) > uint(cmp.Or(before, math.MaxInt))
}

// trapsOf returns the limits under which a run ended; the least that there can be, where its
// configuration was pruned.
func (c *cutter) trapsOf(id schema.RunID) (terrain.Traps, error) {
	if t, ok := c.traps[id]; ok {
		return t, nil
	}
	run, err := c.in.tx.Runs.At(id)
	if err != nil {
		return terrain.Traps{}, err
	}
	traps := terrain.Traps{MaxHostsPerPage: 1, MaxURLsPerHost: 1, MaxHostsPerSite: 1}
	text, err := c.in.tx.Runs.Config(run.Config)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return traps, err
	}
	if cfg, err := config.ParseEffective(text); err == nil {
		traps = cfg.Traps
	}
	if c.traps == nil {
		c.traps = map[schema.RunID]terrain.Traps{}
	}
	c.traps[id] = traps
	return traps, nil
}
