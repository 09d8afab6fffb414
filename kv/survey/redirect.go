package survey

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// redirects follows recorded redirects.
type redirects struct {
	core  *core
	hosts *hosts
	next  map[schema.ID]schema.ID // target of a redirect -> where that redirects; 0: nowhere
	until schema.Seq              // ignores visits from this one on; 0: ignores none
}

// followRedirects counts the recorded redirects from a page, up to the first page that occurs
// again.
func (rd *redirects) followRedirects(tx *kv.Tx, p *Page) error {
	if p.RedirectTo == 0 {
		return nil
	}
	passed := [schema.MaxRedirects + 2]schema.ID{p.ID}
	to := p.RedirectTo
	for n := 1; ; n++ {
		for _, id := range passed[:n] {
			if id == to {
				p.RedirectCount, p.loops = n, true
				return nil
			}
		}
		p.RedirectCount = n
		if n > schema.MaxRedirects {
			return nil
		}
		passed[n] = to
		var err error
		if to, err = rd.redirectOf(tx, to); err != nil || to == 0 {
			return err
		}
	}
}

// chain returns the pages that the recorded redirects from a page lead to, at most most of them. If
// they come back, the last one is the page that occurs again.
func (rd *redirects) chain(from schema.ID, to schema.ID, most int) (pages []schema.ID, err error) {
	err = rd.core.view(func(tx *kv.Tx) (err error) {
		for to != 0 && len(pages) < most && err == nil {
			again := to == from || slices.Contains(pages, to)
			if pages = append(pages, to); again {
				return nil
			}
			to, err = rd.redirectOf(tx, to)
		}
		return err
	})
	return pages, err
}

// redirectOf returns where a page redirects to; 0: nowhere.
func (rd *redirects) redirectOf(tx *kv.Tx, id schema.ID) (schema.ID, error) {
	if to, ok := rd.next[id]; ok {
		return to, nil
	}
	to, err := rd.readRedirect(tx, id)
	if err == nil {
		rd.next[id] = to
	}
	return to, err
}

func (rd *redirects) readRedirect(tx *kv.Tx, id schema.ID) (schema.ID, error) {
	seq := rd.core.latest(id)
	if seq == 0 || !rd.core.isPage(id) {
		return 0, nil
	}
	ok, err := rd.hosts.visitable(tx, id)
	if ok && err == nil && rd.until != 0 {
		seq, err = latestBefore(tx, id, seq, rd.until, rd.core.store.Imports())
	}
	if err != nil || !ok || seq == 0 {
		return 0, err
	}
	var v kv.Gist
	err = tx.Visits.GistAt(seq, &v)
	if err != nil || v.State != schema.Processed || !rd.core.isPage(v.RedirectTo) {
		return 0, err
	}
	return v.RedirectTo, nil
}

// visitable reports whether the class of a page lets it be visited.
func (hs *hosts) visitable(tx *kv.Tx, id schema.ID) (bool, error) {
	h, err := hs.host(tx, hs.core.store.HostOf(id))
	if err != nil || !hs.core.scope.HasURLRules() {
		return err == nil && h.verdict.Class.Visitable(), err
	}
	norm, err := tx.URLs.Norm(id)
	return err == nil && hs.core.scope.Classify(norm).Class.Visitable(), err
}
