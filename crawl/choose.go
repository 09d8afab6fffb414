package crawl

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// nextVisit takes the retries that are due, then the waiting URLs in order. What
// needs no request is settled on the way.
func (t *turn) nextVisit(h *schema.Host, live *liveHost, rules *robots.Rules) (*Step, time.Time, error) {
	for i, r := range h.Retries {
		if !r.Due.After(t.now) && !slices.Contains(live.open, r.URL) && (!t.exhausted(h, live) || t.store.Kind(r.URL) == schema.KindSitemap) {
			step, err := t.visitStep(h, r.URL, rules, r.Attempts)
			if errors.Is(err, errHeld) {
				continue
			}
			if err != nil || step != nil {
				return step, time.Time{}, err
			}
			h.Retries = slices.Delete(slices.Clone(h.Retries), i, i+1)
			t.tx.PutHost(h)
			return nil, t.now, nil
		}
	}
	skipped := map[schema.ID]bool{}
	var step *Step
	more := true
	for n := 4; n <= maxVerdicts && step == nil && more; n *= 8 { // mostly the first one needs a request
		var err error
		if step, more, err = t.fromQueue(h, live, rules, skipped, n); err != nil {
			return nil, time.Time{}, err
		}
	}
	waiting := h.Waiting
	if err := t.trim(h, live, skipped, step); err != nil || step != nil {
		return step, time.Time{}, err
	}
	if more && h.Waiting < waiting {
		return nil, t.now, nil
	}
	return nil, t.earliest(h.Retries), nil // what is open or held comes back by itself
}

// fromQueue looks at the next n waiting URLs that were not skipped yet. It
// reports whether there are more. What it looked at is noted in skipped: true is
// settled, false waits for a place in its group.
func (t *turn) fromQueue(h *schema.Host, live *liveHost, rules *robots.Rules, skipped map[schema.ID]bool, n int) (*Step, bool, error) {
	var ids []schema.ID
	seedsOnly, sitemapsOnly, seen := t.seedsOnly(h), t.exhausted(h, live), 0
	err := t.tx.Walk(h, func(_ uint8, id schema.ID) bool {
		if sitemapsOnly && t.store.Kind(id) != schema.KindSitemap {
			return false // they stand first
		}
		if seen++; seedsOnly && t.store.Kind(id) == schema.KindPage && !t.seeds[id] {
			return seen < maxVerdicts // seeds are queued first
		}
		if _, seen := skipped[id]; !seen && !slices.Contains(live.open, id) && !inRetry(h, id) {
			ids = append(ids, id)
		}
		return len(ids) < n
	})
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		step, err := t.visitStep(h, id, rules, 0)
		switch {
		case errors.Is(err, errHeld):
			skipped[id] = false
		case err != nil || step != nil:
			return step, true, err
		default:
			skipped[id] = true
		}
	}
	return nil, len(ids) == n, nil
}

// trim passes what needs no visit any more.
func (t *turn) trim(h *schema.Host, live *liveHost, skipped map[schema.ID]bool, step *Step) error {
	var failed error
	err := t.tx.Trim(h, func(id schema.ID) bool {
		if step != nil && id == step.ID || slices.Contains(live.open, id) {
			return false
		}
		if skipped[id] || inRetry(h, id) {
			return true
		}
		done, err := t.settledNow(id)
		if err != nil {
			failed = err
		}
		return done
	})
	t.tx.PutHost(h)
	if err == nil {
		err = failed
	}
	return err
}

// earliest returns when the next retry is due; those that are due already wait for
// something else.
func (t *turn) earliest(retries []schema.Retry) (first time.Time) {
	for _, r := range retries {
		if r.Due.After(t.now) && (first.IsZero() || r.Due.Before(first)) {
			first = r.Due
		}
	}
	return first
}

// visitStep returns the first request of a visit, or nil if the URL needs none:
// it is settled, a rule keeps it from being visited, or robots.txt forbids it.
func (t *turn) visitStep(h *schema.Host, id schema.ID, rules *robots.Rules, tries int) (*Step, error) {
	if done, err := t.settledNow(id); err != nil || done {
		return nil, err
	}
	kind := t.store.Kind(id)
	if tries > 0 { // perhaps begun under another configuration
		if ok, err := t.wanted(id, kind); err != nil || !ok {
			return nil, err
		}
	}
	if kind == schema.KindPage {
		if depth, hops := t.store.Depth(id); !t.within(depth, hops) && !t.left(id) {
			return nil, nil
		}
		if kept, err := t.keep(id, h, false); err != nil || kept {
			return nil, err
		}
		if refused, err := t.refused(id, h); err != nil {
			return nil, err
		} else if refused {
			_, err := t.keep(id, h, true)
			return nil, err
		}
	}
	forms, err := t.formsOf(id, h)
	if err != nil {
		return nil, err
	}
	if v := rules.Check(weburl.PathQuery(forms[0])); !v.Allowed {
		return nil, t.deny(h, id, forms, v)
	}
	norm, err := t.tx.Norm(id)
	if err != nil {
		return nil, err
	}
	known, err := t.tx.Forms(id)
	if err != nil {
		return nil, err
	}
	step := &Step{
		Host: h.ID, For: h.ID, ID: id, URLKind: kind, Norm: norm, Timeout: t.set.timeout(tries), Settings: t.set,
		Visit: Progress{Retries: tries, Forms: forms[1:], Known: known},
	}
	step.ask(forms[0])
	if err := t.conditional(step); err != nil {
		return nil, err
	}
	return step, t.reserve(step, h)
}

// wanted reports whether lists and rules let a URL be asked.
func (t *turn) wanted(id schema.ID, kind schema.URLKind) (bool, error) {
	norm, err := t.tx.Norm(id)
	if err != nil || !t.set.terrain.Classify(norm).Class.Visitable() {
		return false, err
	}
	if kind == schema.KindSitemap {
		return t.set.cfg.Crawler.Sitemaps != config.SitemapsOff, nil
	}
	_, refused := t.set.terrain.Refuse(weburl.Split(norm))
	return !refused, nil
}

// deny records that robots.txt forbids a page.
func (t *turn) deny(h *schema.Host, id schema.ID, forms []string, v robots.Verdict) error {
	denied := verdictDenied(v)
	return t.add(h, &schema.Visit{
		URL: id, Run: t.run.ID, At: t.now.Truncate(time.Millisecond), State: denied.state, Error: denied.err,
		Rule: schema.Clean(denied.rule, 256), Form: forms[0], FormsKnown: len(forms), Length: -1,
	})
}

// formsOf returns the forms under which a page may be asked: first the one that
// last answered, then the others in byte order; at www. where only that answers.
func (t *turn) formsOf(id schema.ID, h *schema.Host) ([]string, error) {
	forms, err := t.tx.Forms(id)
	if err != nil {
		return nil, err
	}
	if seq := t.store.Latest(id); seq != 0 {
		v, err := t.tx.Visit(seq)
		if err != nil {
			return nil, err
		}
		if i := slices.Index(forms, v.Form); i > 0 && v.State == schema.Processed {
			forms = slices.Insert(slices.Delete(slices.Clone(forms), i, i+1), 0, v.Form)
		}
	}
	if !h.WWW {
		return forms, nil
	}
	all := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		if www := "https://www." + strings.TrimPrefix(form, "https://"); !isWWW(form, h.Name) && !slices.Contains(forms, www) {
			all = append(all, www)
		} else if isWWW(form, h.Name) {
			all = append(all, form)
		}
	}
	for _, form := range forms {
		if !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	return all, nil
}
