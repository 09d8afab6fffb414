package survey

import (
	"errors"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// How a page answered in a run.
const (
	notAsked = iota
	alive
	dead
)

// answerOf returns how a page answered a visit.
func answerOf(v *schema.Visit) uint8 {
	switch {
	case LeadsNowhere(v.State, v.Reason):
		return dead
	case v.State == schema.Processed, v.State == schema.ContentMismatch:
		return alive
	}
	return notAsked
}

// findMisled finds the pages of a run whose redirects lead nowhere, after its visits were read.
func (sd *side) findMisled(tx *kv.Tx, s *Survey) error {
	rd := &redirects{core: s.core, hosts: s.hosts, next: make(map[schema.ID]schema.ID), until: sd.end}
	if sd.run.Kind == schema.RunImport {
		rd.until = 1 // archives hold no other redirects
	}
	for from, to := range sd.moved {
		ok, err := s.hosts.visitable(tx, from)
		if err != nil {
			return err
		}
		if rd.next[from] = to; !ok {
			rd.next[from] = 0
			delete(sd.moved, from)
		}
	}
	for _, to := range sd.moved {
		if _, ok := rd.next[to]; !ok && sd.seq[to] != 0 { // it was visited and does not redirect
			rd.next[to] = 0
		}
	}
	for from, to := range sd.moved {
		p := Page{ID: from, RedirectTo: to}
		if err := errors.Join(rd.followRedirects(tx, &p), s.core.live()); err != nil {
			return err
		}
		if why := p.misled(); why != schema.CauseNone {
			sd.misled[from], sd.answer[from] = why, dead
		}
	}
	sd.moved = nil
	return nil
}

// readAway finds the pages that To knows and did not visit because their hosts could not be reached. That is known for
// the newest run only.
func (d *Diff) readAway() error {
	after := &d.sides[1]
	if d.s.core.past != nil || d.To.ID != d.s.core.run.ID {
		return nil
	}
	if any, err := d.s.hosts.anyAway(); err != nil || !any {
		return err
	}
	return d.s.EachSketch(func(p *Page) error {
		if !p.fromVisit && p.Broken() {
			after.away.set(int(p.ID))
			after.known.set(int(p.ID))
			after.answer[p.ID] = dead
		}
		return nil
	})
}

// anyAway reports whether the newest run has given up a host in a way that counts its pages as
// errors.
func (hs *hosts) anyAway() (any bool, err error) {
	err = hs.core.view(func(tx *kv.Tx) error {
		for id := schema.HostID(1); int(id) < len(hs.byID) && !any; id++ {
			h, err := hs.host(tx, id)
			if err != nil {
				return err
			}
			any = LeadsNowhere(h.held, h.cause)
		}
		return nil
	})
	return any, err
}

// judgeMissing finds the pages that show what their hosts show for pages that do not exist. Only the newest run knows
// what hosts show for these. The same evidence is applied to the earlier run, so that no page differs only because the
// evidence is new. If more than half of a host's pages in the earlier run match it, it is ignored, as in that run's own
// survey.
func (d *Diff) judgeMissing(tx *kv.Tx) error {
	if d.s.core.past != nil || d.To.ID != d.s.core.run.ID {
		return nil
	}
	before, after := &d.sides[0], &d.sides[1]
	soft := make([]*missingOf, len(d.s.hosts.byID))
	for id := schema.HostID(1); int(id) < len(soft); id++ {
		of, err := d.s.pages.missing.of(tx, id)
		if err != nil {
			return err
		}
		if of != nil && of.manner == missing.Soft {
			soft[id] = of
		}
	}
	pages, ends := d.s.core.byHost(func(id schema.ID) bool {
		return soft[d.s.core.store.HostOf(id)] != nil && d.s.core.isPage(id) && before.seq[id] != 0
	})
	for host := 1; host < len(soft); host++ {
		if soft[host] == nil {
			continue
		}
		for id, rule := range soft[host].rules {
			if after.seq[id] != 0 {
				after.judge(id, rule)
			}
		}
		c := comparison{
			m: d.s.pages.missing, tx: tx, host: d.s.hosts.byID[host], rules: map[schema.ID]string{}, counts: map[string]int{},
		}
		err := c.compare(pages[ends[host-1]:ends[host]], func(id schema.ID) schema.Seq { return schema.Seq(before.seq[id]) })
		if err != nil {
			return err
		}
		if !c.tells() {
			continue
		}
		for id, rule := range c.rules {
			before.judge(id, rule)
		}
	}
	return nil
}

// judge records the rule by which a page does not exist.
func (sd *side) judge(id schema.ID, rule string) { sd.soft[id], sd.answer[id] = rule, dead }

// visit returns what a run recorded about a page, with the resulting state. A page whose redirects
// lead nowhere, or whose host could not be reached, has such a state even without a visit. nil:
// nothing is known.
func (d *Diff) visit(tx *kv.Tx, sd *side, id schema.ID) (*schema.Visit, error) {
	seq := schema.Seq(sd.seq[id])
	switch {
	case seq == 0 && sd.away.has(int(id)):
		h, err := d.s.hosts.host(tx, d.s.core.store.HostOf(id))
		if err != nil {
			return nil, err
		}
		return &schema.Visit{URL: id, Run: sd.run.ID, State: h.held, Reason: h.cause, Length: -1}, nil
	case seq == 0:
		return nil, nil
	}
	v, err := d.s.stands.visit(tx, seq)
	if why, ok := sd.misled[id]; ok && err == nil {
		v.State, v.Reason = schema.Failed, schema.Reason{Cause: why}
	}
	if rule := sd.soft[id]; rule != "" && err == nil {
		v.Answer, v.AnswerRule = schema.AnswerSoft404, rule
	}
	return v, err
}
