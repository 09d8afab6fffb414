package split

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// copyCounts copies the counts of the groups in which the shard has a host or a visited page, whose names no file
// contains.
func (f *filler) copyCounts() error {
	lists, limit := f.cfg.Scope(), f.cfg.Crawler.MaxSubdomains
	err := f.each(f.src.Hosts(), func(tx *kv.Tx, n int) error {
		if f.hosts[n] == 0 {
			return nil
		}
		h, err := f.from.Hosts.At(schema.HostID(n))
		if err != nil {
			return err
		}
		site := weburl.Site(h.Name)
		if h.Place != schema.NoPlace {
			if err := tx.Runs.AddToTotal(scope.CountOfPlace(h.Place), site, f.last().ID); err != nil {
				return err
			}
		}
		if f.hostShard(h.ID) != f.shard {
			return nil
		}
		for _, rule := range []string{scope.CountSiteOverflow, scope.CountSiteText} {
			if err := f.copyCount(tx, rule, site); err != nil {
				return err
			}
		}
		for _, vouched := range []bool{true, false} {
			if limit <= 0 {
				break
			}
			by, err := lists.SubdomainCap(h.Name, limit, vouched, tx.Runs.Count)
			if err == nil {
				err = f.copyCount(tx, by.Counted(), by.Group)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.each(f.src.URLs(), func(tx *kv.Tx, n int) error {
		id := schema.ID(n)
		if !f.own(id) || f.src.Kind(id) != schema.KindPage || f.src.Latest(id) < max(1, f.last().FirstVisit) {
			return nil
		}
		return f.countPage(tx, id, lists)
	})
}

// copyCount copies a count, once.
func (f *filler) copyCount(tx *kv.Tx, rule, group string) error {
	return tx.Runs.MergeCounts(rule, group, []*kv.Runs{&f.from.Runs})
}

// countPage copies the counts of the groups of a page that the last run has visited, and counts it anew in that of its
// page type.
func (f *filler) countPage(tx *kv.Tx, id schema.ID, lists *scope.Scope) error {
	norm, err := f.from.URLs.Norm(id)
	if err != nil {
		return err
	}
	host, pathQuery := weburl.Split(norm)
	for _, own := range []bool{true, false} { // it may have become its host's own since it was counted
		for _, by := range lists.Caps(host, pathQuery, own) {
			switch {
			case !by.Rule.Trap && own == f.src.Own(id):
				err = f.countOfType(tx, id, by)
			case by.Rule.Trap:
				err = f.copyCount(tx, by.Counted(), by.Group)
				if err == nil && by.Others {
					err = f.copyCount(tx, by.Missed(), by.Group)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countOfType counts a page in the group of its page type, as its visit did.
func (f *filler) countOfType(tx *kv.Tx, id schema.ID, by scope.Cap) error {
	v, err := f.from.Visits.At(f.src.Latest(id))
	if err != nil || v.Requests == 0 {
		return err
	}
	if by.Others && v.State == schema.DeadLink {
		n, err := tx.Runs.Count(by.Missed(), by.Group)
		if err != nil {
			return err
		}
		if n < by.MostMissed() {
			return tx.Runs.CountUp(by.Missed(), by.Group, v.Run)
		}
	}
	return tx.Runs.CountUp(by.Counted(), by.Group, v.Run)
}
