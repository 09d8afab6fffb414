package record

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// A cutter knows which pages lack something that an earlier run left out when it read them, and
// that this run would not leave out: links beyond a limit that has been raised, facts of new
// extracts, the content of noindex pages, and the page itself if it was not stored. Even if such a
// page has not changed, it must be read again.
type cutter struct {
	in     *runState
	before map[schema.RunID]earlier
}

// An earlier is the configuration under which a run read pages, from a moment on; zero: from its
// beginning.
type earlier struct {
	*config.Config
	since time.Time
}

// lacks reports whether that is true of a page with this last visit on a host.
func (c *cutter) lacks(v *schema.Visit, host string) (bool, error) {
	now := c.in.set.Config
	if v.LinkLimit > 0 && now.Crawler.LinksPerPage() > v.LinkLimit || v.BeyondText > 0 {
		return true, nil
	}
	stands := v
	if v.Stand != 0 {
		var err error
		if stands, err = c.in.tx.Visits.At(v.Stand); err != nil {
			return false, err
		}
	}
	before, err := c.configOf(stands)
	if err != nil {
		return false, err
	}
	hidden := v.NoIndex && now.Crawler.RespectNoindex
	mayBeList := media.Extract(v.ContentType).MayBeOPML()
	return v.NoIndex && before.Crawler.RespectNoindex && !hidden ||
		now.Crawler.OPML && !before.Crawler.OPML && mayBeList ||
		now.Pages.Keep && !before.Pages.Keep && v.StoredPath == "" && !hidden && ring.IsHTML(v.ContentType) ||
		lacksLinks(v, len(stands.Links), &now.Traps, &before.Traps) || c.lacksFacts(before.Extracts, host), nil
}

// lacksLinks reports whether a page has more links than were recorded, and a limit that may have
// excluded them has been raised.
func lacksLinks(v *schema.Visit, recorded int, now, before *scope.Traps) bool {
	read := v.Distinct
	if v.LinkLimit > 0 {
		read = min(read, v.LinkLimit)
	}
	if read > recorded && v.BeyondHosts > 0 && above(now.MaxHostsPerPage, before.MaxHostsPerPage) {
		return true
	}
	return read > recorded+v.BeyondHosts+v.BeyondText &&
		(above(now.MaxURLsPerHost, before.MaxURLsPerHost) || above(now.MaxHostsPerSite, before.MaxHostsPerSite))
}

// above compares limits; 0 means no limit.
func above(now, before int) bool { return cmp.Or(now, math.MaxInt) > cmp.Or(before, math.MaxInt) }

// lacksFacts reports whether the pages of a host have an extract now that they did not have before.
func (c *cutter) lacksFacts(before []config.Extract, host string) bool {
	for i, e := range c.in.set.Config.Extracts {
		if on := c.in.set.Extracts[i].On; on != nil && !on(host) {
			continue
		}
		if !slices.ContainsFunc(before, func(b config.Extract) bool { return same(&b, &e) }) {
			return true
		}
	}
	return false
}

func same(a, b *config.Extract) bool {
	domains := a.Domain == b.Domain || a.Domain != nil && b.Domain != nil && a.Domain.String() == b.Domain.String()
	return domains && a.Name == b.Name && a.Selector == b.Selector && a.Attr == b.Attr
}

// least returns a configuration that leaves out as much as possible.
func least() *config.Config {
	return &config.Config{
		Crawler: config.Crawler{RespectNoindex: true},
		Traps:   scope.Traps{MaxHostsPerPage: 1, MaxURLsPerHost: 1, MaxHostsPerSite: 1},
	}
}

// configOf returns the configuration under which a page was read. If it was pruned, or has been
// changed since within the run, configOf returns the least.
func (c *cutter) configOf(v *schema.Visit) (*config.Config, error) {
	s, known := c.before[v.Run]
	if !known {
		var err error
		if s, err = c.read(v.Run); err != nil {
			return nil, err
		}
		if c.before == nil {
			c.before = map[schema.RunID]earlier{}
		}
		c.before[v.Run] = s
	}
	if !v.At.After(s.since) {
		return least(), nil
	}
	return s.Config, nil
}

func (c *cutter) read(id schema.RunID) (earlier, error) {
	run, err := c.in.tx.Runs.At(id)
	if err != nil {
		return earlier{}, err
	}
	text, err := c.in.tx.Runs.Config(run.Config)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return earlier{}, err
	}
	cfg, err := config.ParseEffective(text)
	if err != nil {
		cfg = least()
	}
	return earlier{cfg, run.Changed}, nil
}
