package survey

import (
	"errors"
	"maps"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// missingPages knows the pages that are what their hosts answer for pages that do not exist. The verdict is derived
// from all pages of a host, so it is not part of a record.
type missingPages struct {
	core   *core
	stands *stands
	hosts  *hosts
	byHost map[schema.HostID]*missingOf
	all    bool // byHost has every host
}

// A missingOf is what is known about the missing pages of a host.
type missingOf struct {
	manner missing.Manner
	rules  map[schema.ID]string // by which a page is a missing one; of the manner [missing.Soft]
}

// of returns what is known about a host. The first host is read alone, and all others with the second one.
func (m *missingPages) of(tx *kv.Tx, id schema.HostID) (*missingOf, error) {
	if found := m.byHost[id]; found != nil || m.all {
		return found, nil
	}
	h, err := m.hosts.host(tx, id)
	if err != nil || h.probe == nil {
		return nil, err
	}
	if m.byHost == nil {
		m.byHost = map[schema.HostID]*missingOf{}
		err = m.derive(tx, []schema.HostID{id})
		return m.byHost[id], err
	}
	var every []schema.HostID
	for other := schema.HostID(1); int(other) < len(m.hosts.byID) && err == nil; other++ {
		if h, err = m.hosts.host(tx, other); err == nil && h.probe != nil && m.byHost[other] == nil {
			every = append(every, other)
		}
	}
	err = errors.Join(err, m.derive(tx, every))
	m.all = err == nil
	return m.byHost[id], err
}

// derive compares the pages of hosts with what the hosts answered for pages that do not exist.
func (m *missingPages) derive(tx *kv.Tx, hosts []schema.HostID) error {
	comparable := map[schema.HostID]bool{}
	for _, id := range hosts {
		manner := missing.MannerOf(m.hosts.byID[id].probe)
		m.byHost[id] = &missingOf{manner: manner}
		comparable[id] = manner == missing.Soft
	}
	pages, ends := m.core.byHost(func(id schema.ID) bool {
		return comparable[m.core.store.HostOf(id)] && m.core.isPage(id) && m.core.latest(id) != 0 && m.core.speaks(id)
	})
	for _, id := range hosts {
		if !comparable[id] {
			continue
		}
		c := comparison{m: m, tx: tx, host: m.hosts.byID[id], rules: map[schema.ID]string{}, counts: map[string]int{}}
		if err := c.compare(pages[ends[id-1]:ends[id]], m.core.latest); err != nil {
			return err
		}
		if !c.tells() {
			m.byHost[id].manner = missing.Unknown
			continue
		}
		m.byHost[id].rules = c.rules
	}
	return nil
}

// A comparison compares the pages of a host with what it answered for a page that does not exist.
type comparison struct {
	m      *missingPages
	tx     *kv.Tx
	host   *host
	pages  int // that could be compared
	rules  map[schema.ID]string
	counts map[string]int // by rule
}

// compare compares pages as visits have found them, and drops what too few pages show.
func (c *comparison) compare(pages []schema.ID, visit func(schema.ID) schema.Seq) error {
	for _, id := range pages {
		if err := errors.Join(c.page(id, visit(id)), c.m.core.live()); err != nil {
			return err
		}
	}
	maps.DeleteFunc(c.rules, func(_ schema.ID, rule string) bool { return !missing.Enough(rule, c.counts[rule]) })
	return nil
}

// page compares one page.
func (c *comparison) page(id schema.ID, seq schema.Seq) error {
	v, err := c.m.stands.visit(c.tx, seq)
	if err != nil || v.State != schema.Processed || v.Answer != schema.AnswerPage || v.RedirectTo == 0 && !isHTML(v) {
		return err
	}
	c.pages++
	u, err := c.tx.URLs.At(id)
	if err != nil || !missing.MayBe(u.PathQuery, &v.Content) {
		return err
	}
	rule := ""
	if v.RedirectTo == 0 {
		rule = missing.Compare(c.host.probe, &v.Content)
	} else {
		to, err := c.tx.URLs.Norm(v.RedirectTo)
		if err != nil {
			return err
		}
		rule = missing.CompareRedirect(c.host.probe, "https://"+c.host.name+u.PathQuery, to)
	}
	if rule != "" {
		c.rules[id] = rule
		c.counts[rule]++
	}
	return nil
}

// tells reports whether what was found tells pages that exist from those that do not.
func (c *comparison) tells() bool { return 2*len(c.rules) <= c.pages }

// answer sets what the server answered instead of a page.
func (ps *pages) answer(tx *kv.Tx, p *Page) error {
	if p.Visit == nil {
		return nil
	}
	p.Answer, p.AnswerRule = p.Visit.Answer, p.Visit.AnswerRule
	if p.Answer != schema.AnswerPage || !p.fromVisit || p.State != schema.Processed {
		return nil
	}
	if of, err := ps.missing.of(tx, p.Host); err != nil {
		return err
	} else if of != nil && of.rules[p.ID] != "" {
		p.Answer, p.AnswerRule = schema.AnswerSoft404, of.rules[p.ID]
		return nil
	}
	if p.Visit.RedirectTo == 0 && p.Visit.SimHash != 0 { // it has content
		return nil
	}
	if host, err := ps.parked.of(tx, p.Host); err != nil {
		return err
	} else if host.front == p.ID && host.rule != "" {
		p.Answer, p.AnswerRule = schema.AnswerParked, host.rule
	}
	return nil
}
