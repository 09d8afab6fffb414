package survey

import (
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Check reports every place where the records of a store contradict each other: a page that should
// wait and does not, an entry that waits for nothing, a counter that differs from the counted
// number, a depth that is not the shortest distance. It assumes that [kv.Check] has found nothing.
// An error means that the store could not be checked.
func Check(s *Survey, report func(problem string)) error {
	c := &checker{
		core: s.core, pages: s.pages, walks: s.walks, report: report,
		waits: newBitset(s.core.store.URLs()), visits: make([]hostCount, s.core.store.Hosts()+1),
	}
	for _, step := range []func() error{c.readWaiting, c.checkPages, c.checkCounters, c.checkDistances} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// A checker compares the records of a store with each other.
type checker struct {
	core   *core
	pages  *pages
	walks  *walks
	report func(string)
	waits  *bitset // pages in a line or waiting for a retry
	visits []hostCount

	archived int // pages that an import has read
}

// A hostCount is what can be counted for a host.
type hostCount struct{ known, asked, all int }

func (c *checker) problem(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// readWaiting records what waits. Each entry must be a URL of its host, with a depth that brought
// it there, unless an earlier run left it waiting. Only a retry that was planned under another
// configuration may have no depth; it is dropped when it is due.
func (c *checker) readWaiting() error {
	return c.core.view(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if h.Run == c.core.run.ID {
				for _, r := range h.Retries {
					c.wait(h, r.URL, true)
				}
			}
			if h.Generation != c.core.store.Generation() {
				return true, nil
			}
			err := tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool { c.wait(h, id, false); return true })
			return err == nil, err
		})
	})
}

func (c *checker) wait(h *schema.Host, id schema.ID, try bool) {
	switch {
	case id == 0 || int(id) > c.core.store.URLs():
		c.problem("%s: URL %d waits and does not exist", h.Name, id)
	case c.core.store.HostOf(id) != h.ID:
		c.problem("%s: URL %d waits here and belongs to host %d", h.Name, id, c.core.store.HostOf(id))
	case !c.core.inRun(id) && !try && (c.core.firstOfAll() || !c.core.neverAsked(id) && !c.core.visited(id)):
		c.problem("%s: URL %d waits without a depth", h.Name, id)
	default:
		c.waits.set(int(id))
	}
}

// checkPages derives the state of every page, and compares it with what waits, unless that must
// still be queued.
func (c *checker) checkPages() error {
	reapply, _, err := c.unfinished()
	if err != nil {
		return err
	}
	capped := c.core.cfg.Crawler.MaxSubdomains > 0
	return c.pages.each(1, func(p *Page) error {
		count := &c.visits[p.Host]
		if p.Visited && p.Visit.Archived && p.Visit.Run == c.core.run.ID {
			c.archived++
		}
		if p.Visit != nil && p.Visit.Requests > 0 {
			count.all++
			if p.Visited && p.Visit.Run == c.core.run.ID {
				count.asked++
			}
		}
		if !p.State.Valid() || p.State == schema.Fetching {
			c.problem("%s: state %d", p.URL, p.State)
		}
		_, pathQuery := weburl.Split(p.URL)
		capped := capped || p.capped.by != unhindered || len(c.core.scope.Caps(p.HostName, pathQuery, p.Own)) > 0
		if !capped && !reapply && !c.core.imports() && p.Missing() && !c.waits.has(int(p.ID)) {
			c.problem("%s is %s and waits nowhere", p.URL, p.State)
		}
		return nil
	})
}

// checkCounters compares the counters of hosts and of the newest run.
func (c *checker) checkCounters() error {
	c.countURLs()
	repeated, err := c.countRepeated()
	if err != nil {
		return err
	}
	err = c.core.view(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			n := c.visits[h.ID]
			if h.Known != n.known {
				c.problem("%s: %d URLs counted, %d recorded", h.Name, h.Known, n.known)
			}
			if want := n.asked + repeated[h.ID]; h.Run == c.core.run.ID && h.RunVisited != want {
				c.problem("%s: %d visits counted in run %d, %d recorded", h.Name, h.RunVisited, c.core.run.ID, want)
			}
			if h.Visits < n.all+repeated[h.ID] {
				c.problem("%s: %d visits counted, at least %d recorded", h.Name, h.Visits, n.all)
			}
			return true, nil
		})
	})
	pages := c.archived
	for id, n := range c.visits {
		pages += n.asked + repeated[schema.HostID(id)]
	}
	if pages != c.core.run.Pages {
		c.problem("run %d: %d visits counted, %d recorded", c.core.run.ID, c.core.run.Pages, pages)
	}
	return err
}

// countURLs counts the URLs of each host.
func (c *checker) countURLs() {
	for id := schema.ID(1); int(id) <= c.core.store.URLs(); id++ {
		c.visits[c.core.store.HostOf(id)].known++
	}
}

// countRepeated counts by host the visits of the newest run that were followed by another visit of
// the same page in that run, because another form was found.
func (c *checker) countRepeated() (map[schema.HostID]int, error) {
	n := map[schema.HostID]int{}
	err := c.core.view(func(tx *kv.Tx) error {
		return tx.Visits.Each(c.core.run.FirstVisit, func(v *schema.Visit) (bool, error) {
			if v.Run == c.core.run.ID && v.Requests > 0 && c.core.isPage(v.URL) && c.core.store.Latest(v.URL) != v.Seq {
				n[c.core.store.HostOf(v.URL)]++
			}
			return true, nil
		})
	})
	return n, err
}

// checkDistances derives all distances from the recorded links and compares them. While depths are
// still being passed on, the recorded ones may be larger.
func (c *checker) checkDistances() error {
	found, err := c.walks.distances()
	if err != nil {
		return err
	}
	reapply, travel, err := c.unfinished()
	if err != nil {
		return err
	}
	lost, err := c.lostLinks()
	if err != nil {
		return err
	}
	for id := schema.ID(1); int(id) <= c.core.store.URLs(); id++ {
		if !c.core.isPage(id) {
			continue
		}
		depth, hops := c.core.store.Depth(id)
		have, want := near{depth, hops, depth != kv.NoDepth && c.core.store.Own(id)}, found[id]
		if lost && (depth < want.depth || depth == want.depth && (hops < want.hops || have.own && !want.own)) {
			continue
		}
		if depth < want.depth || hops < want.hops || have.own && !want.own || !reapply && !travel && have != want {
			if err := c.differs(id, have, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinished reports whether all depths and queues must be derived again, and whether depths must
// still be passed on.
func (c *checker) unfinished() (reapply, travel bool, err error) {
	err = c.core.view(func(tx *kv.Tx) error {
		pending, err := tx.Depths.Pending()
		reapply, travel = tx.Meta.Reapply(), len(pending) > 0
		return err
	})
	return reapply, travel, err
}

// lostLinks reports whether a shard's file was lost with its links. Depths may then be smaller than the links that are
// left explain.
func (c *checker) lostLinks() (bool, error) {
	if part := c.core.store.Part(); part.Shards > 0 && !part.Merged() {
		return false, nil // it has received everything
	}
	var run []byte
	err := c.core.view(func(tx *kv.Tx) (err error) { run, err = tx.Meta.Value(kv.MetaRecreated); return err })
	runs := c.core.runs
	return err == nil && len(runs) > 0 && string(run) == fmt.Sprint(runs[len(runs)-1].ID), err
}

func (c *checker) differs(id schema.ID, have, want near) error {
	return c.core.view(func(tx *kv.Tx) error {
		norm, err := tx.URLs.Norm(id)
		if err != nil {
			return err
		}
		if slices.Contains([]near{have, want}, near{depth: kv.NoDepth, hops: kv.NoDepth}) {
			c.problem("%s: belongs to the run: %t; its links say %t", norm, have.depth != kv.NoDepth, want.depth != kv.NoDepth)
			return nil
		}
		if have.depth == want.depth && have.hops == want.hops {
			c.problem("%s: its host's own: %t; its links say %t", norm, have.own, want.own)
			return nil
		}
		c.problem("%s: depth %d after %d redirects; its links say %d after %d",
			norm, have.depth, have.hops, want.depth, want.hops)
		return nil
	})
}
