package merge

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A counter adds up what the shards have counted of groups, whose names no file contains: they are those of the
// hosts and pages of the new file.
type counter struct {
	*merger
	run   schema.Run
	cfg   *config.Config
	lists *scope.Scope
}

// copyCounts adds up the counts of all groups under the configuration of the last run.
func (m *merger) copyCounts() error {
	runs := m.sources[0].runs
	if len(runs) == 0 {
		return nil
	}
	c := &counter{merger: m}
	err := m.dst.View(func(tx *kv.Tx) (err error) {
		if c.run, err = tx.Runs.At(runs[len(runs)-1].ID); err != nil {
			return err
		}
		text, err := tx.Runs.Config(c.run.Config)
		if err == nil {
			c.cfg, err = config.ParseEffective(text)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.lists = c.cfg.Scope()
	if err := c.eachOf(m.dst.Hosts(), c.countHost); err != nil {
		return err
	}
	return c.eachOf(m.dst.URLs(), c.countPage)
}

// eachOf calls f for the numbers from 1 to last of the new file.
func (m *merger) eachOf(last int, f func(tx *kv.Tx, n int) error) error {
	n := 0
	return m.batches(func(tx *kv.Tx) (bool, error) {
		if n++; n > last {
			return false, nil
		}
		return true, f(tx, n)
	})
}

// countHost adds the counts of a host's site. A host that several shards have recorded counts once.
func (c *counter) countHost(tx *kv.Tx, n int) error {
	h, err := tx.Hosts.At(schema.HostID(n))
	if err != nil {
		return err
	}
	site := weburl.Site(h.Name)
	if h.Place != schema.NoPlace {
		if err := tx.Runs.AddToTotal(scope.CountOfPlace(h.Place), site, c.run.ID); err != nil {
			return err
		}
	}
	for _, rule := range []string{scope.CountSiteOverflow, scope.CountSiteText} {
		if err := c.add(tx, rule, site); err != nil {
			return err
		}
	}
	limit := c.cfg.Crawler.MaxSubdomains
	for _, vouched := range []bool{true, false} {
		if limit <= 0 {
			break
		}
		by, err := c.lists.SubdomainCap(h.Name, limit, vouched, tx.Runs.Count)
		if err == nil {
			err = c.add(tx, by.Counted(), by.Group)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countPage adds the counts of the groups of a page that the last run has visited.
func (c *counter) countPage(tx *kv.Tx, n int) error {
	id := schema.ID(n)
	if c.dst.Kind(id) != schema.KindPage || c.dst.Latest(id) < max(1, c.run.FirstVisit) {
		return nil
	}
	norm, err := tx.URLs.Norm(id)
	if err != nil {
		return err
	}
	host, pathQuery := weburl.Split(norm)
	for _, own := range []bool{true, false} { // it may have become its host's own since it was counted
		for _, by := range c.lists.Caps(host, pathQuery, own) {
			err := c.add(tx, by.Counted(), by.Group)
			if err == nil && by.Others {
				err = c.add(tx, by.Missed(), by.Group)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds up what the shards have counted of a group, once.
func (c *counter) add(tx *kv.Tx, rule, group string) error {
	from := make([]*kv.Runs, len(c.sources))
	for i, s := range c.sources {
		from[i] = &s.tx.Runs
	}
	return tx.Runs.MergeCounts(rule, group, from)
}
