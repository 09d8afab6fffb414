package answer

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A linker is a host that links to another.
type linker struct {
	hostLink
	from, to schema.ID // its first link, an endorsement if possible
	last     schema.ID // the page that was counted last
}

// addLinkedFrom adds the hosts that link to a host, by the links in a place; empty: in any.
func (r Inspector) addLinkedFrom(k *KnownHost, host schema.HostID, place string, limit int) error {
	speaks, err := r.Speakers()
	if err != nil {
		return err
	}
	tally, from := newPlaceTally(place), map[schema.HostID]*linker{}
	others := func(id schema.HostID) bool { return id != host }
	own := func(to schema.ID) bool { return r.Hosts.Of(to) == host }
	err = r.Links.EachInto(others, own, func(page schema.ID, l schema.Link) error {
		if !speaks(page) {
			return nil
		}
		listed, err := tally.add(r, page, &l)
		if !listed || err != nil {
			return err
		}
		id := r.Hosts.Of(page)
		if from[id] == nil {
			from[id] = &linker{}
		}
		from[id].add(page, &l)
		return nil
	})
	if err == nil {
		err = r.Hold(r.Context(), func() error { return r.nameLinkers(from) })
	}
	if err != nil {
		return err
	}
	k.LinkedFrom.list(slices.Collect(maps.Values(from)), limit)
	k.LinkedFrom.Places = tally.list()
	return r.Hold(r.Context(), func() error { return r.nameTargets(k.LinkedFrom.From) })
}

// list adds the first of the linking hosts: those that endorse, then those of origins.
func (h *hostLinks) list(all []*linker, limit int) {
	for _, l := range all {
		h.Pages += l.Pages
		h.Links += l.Links
	}
	slices.SortFunc(all, func(a, b *linker) int {
		return cmp.Or(cmp.Compare(min(b.Editorial, 1), min(a.Editorial, 1)),
			cmp.Compare(min(len(b.Origin), 1), min(len(a.Origin), 1)), cmp.Compare(b.Editorial, a.Editorial),
			cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Domain, b.Domain))
	})
	h.Hosts, h.From = len(all), []hostLink{}
	for _, l := range all[:min(len(all), limit)] {
		l.target = l.to
		h.From = append(h.From, l.hostLink)
	}
}

// add counts a link of a page. Pages come one after the other.
func (l *linker) add(page schema.ID, link *schema.Link) {
	first, endorses := l.Links == 0, link.Endorses()
	better := endorses && l.Editorial == 0
	equal := endorses == (l.Editorial > 0)
	if first || better || equal && (page < l.from || page == l.from && link.To < l.to) {
		l.from, l.to, l.Anchor, l.Place = page, link.To, link.Anchor, link.Where()
	}
	l.Links++
	if endorses {
		l.Editorial++
	}
	if page != l.last {
		l.Pages++
		l.last = page
	}
}

func (r Inspector) nameLinkers(from map[schema.HostID]*linker) error {
	for _, l := range from {
		if err := r.nameLinker(l); err != nil {
			return err
		}
	}
	return nil
}

// nameLinker adds the name and the class of the linking host.
func (r Inspector) nameLinker(l *linker) error {
	p, err := r.Page(l.from)
	if err != nil {
		return err
	}
	l.Domain, l.Shown, l.From = p.HostName, weburl.ShownIfOther(p.HostName), p.URL
	if i := r.Scope().Narrowest(p.HostName); i >= 0 {
		l.Origin = r.Scope().Origins()[i].Name
	}
	return nil
}

// nameTargets adds the targets of the first links.
func (r Inspector) nameTargets(links []hostLink) (err error) {
	for i := range links {
		if links[i].To, err = r.Norm(links[i].target); err != nil {
			return err
		}
	}
	return nil
}

// linksInto counts the links to each page of a host, by the links in a place; empty: in any.
func (r Inspector) linksInto(host schema.HostID, place string) (map[schema.ID]int, error) {
	speaks, err := r.Speakers()
	if err != nil {
		return nil, err
	}
	in := map[schema.ID]int{}
	if place == "" {
		return in, r.Links.EachTargetWritten(func(page, to schema.ID) {
			if r.Hosts.Of(to) == host && speaks(page) {
				in[to]++
			}
		})
	}
	chosen, all := placeBit(place), func(schema.HostID) bool { return true }
	own := func(to schema.ID) bool { return r.Hosts.Of(to) == host }
	return in, r.Links.EachInto(all, own, func(page schema.ID, l schema.Link) error {
		if speaks(page) && placesOf(&l)&chosen != 0 {
			in[l.To]++
		}
		return nil
	})
}

// addPages adds the pages of a host: the busiest by the links in a place (empty: in any), the errors,
// the depths, and what each run did.
func (r Inspector) addPages(k *KnownHost, host schema.HostID, place string, limit int) error {
	in, err := r.linksInto(host, place)
	if err != nil {
		return err
	}
	depths, errs, runs := map[uint8]*DepthCount{}, map[string]int{}, map[schema.RunID]*hostRun{}
	k.Busiest = []busyPage{}
	own, _, err := r.pagesOf(host)
	if err != nil {
		return err
	}
	err = r.Hold(r.Context(), func() error {
		for _, id := range own {
			p, err := r.Page(id)
			if err != nil {
				return err
			}
			if in[id] > 0 {
				k.Busiest = append(k.Busiest, newBusyPage(p, in[id]))
			}
			addDepth(depths, p)
			if kind := p.Failure(); kind != "" {
				errs[kind]++
			}
		}
		return nil
	})
	if err == nil {
		err = r.addVisits(runs, own)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(k.Busiest, func(a, b busyPage) int {
		return cmp.Or(cmp.Compare(b.In, a.In), cmp.Compare(a.URL, b.URL))
	})
	k.Busiest = k.Busiest[:min(len(k.Busiest), limit)]
	k.order(depths, errs, runs)
	return nil
}

// pagesOf returns the IDs of the pages of a host: those of the map, and those that only archives name.
func (r Inspector) pagesOf(host schema.HostID) (own, archived []schema.ID, err error) {
	for id := schema.ID(1); int(id) <= r.URLs(); id++ {
		if r.Hosts.Of(id) != host || r.Store.Kind(id) != schema.KindPage {
			continue
		}
		ok, err := r.Maps(id)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			own = append(own, id)
		} else {
			archived = append(archived, id)
		}
	}
	return own, archived, nil
}

// order sorts the counts: the most frequent error and the newest run come first.
func (k *KnownHost) order(depths map[uint8]*DepthCount, errs map[string]int, runs map[schema.RunID]*hostRun) {
	k.ByDepth, k.Errors, k.Runs = []DepthCount{}, []hostErrors{}, []hostRun{}
	for _, depth := range SortedKeys(depths) {
		k.ByDepth = append(k.ByDepth, *depths[depth])
	}
	for _, kind := range SortedKeys(errs) {
		k.Errors = append(k.Errors, hostErrors{kind, errs[kind]})
	}
	for _, run := range SortedKeys(runs) {
		k.Runs = append(k.Runs, *runs[run])
	}
	slices.SortStableFunc(k.Errors, func(a, b hostErrors) int { return cmp.Compare(b.Pages, a.Pages) })
	slices.Reverse(k.Runs)
}

func newBusyPage(p *survey.Page, in int) busyPage {
	b := busyPage{URL: p.URL, State: p.State.String(), In: in}
	if p.Visit != nil {
		b.Title = p.Visit.Title
	}
	return b
}

// SortedKeys returns the keys of m in order.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func addDepth(depths map[uint8]*DepthCount, p *survey.Page) {
	if depths[p.Depth] == nil {
		depths[p.Depth] = &DepthCount{}
		if p.Depth != kv.NoDepth {
			depth := int(p.Depth)
			depths[p.Depth].Depth = &depth
		}
	}
	depths[p.Depth].Pages++
	if p.State == schema.Processed {
		depths[p.Depth].Processed++
	}
}

// addVisits adds the visits of pages to the runs in which they were made.
func (r Inspector) addVisits(runs map[schema.RunID]*hostRun, pages []schema.ID) error {
	return r.Store.View(func(tx *kv.Tx) error {
		var g kv.Gist
		for _, id := range pages {
			for seq := r.Store.Latest(id); seq != 0; seq = g.Prev {
				if err := tx.Visits.GistAt(seq, &g); err != nil {
					return err
				}
				if runs[g.Run] == nil {
					runs[g.Run] = &hostRun{Run: int(g.Run)}
				}
				runs[g.Run].add(&g.Visit)
			}
		}
		return context.Cause(r.Context())
	})
}

func (h *hostRun) add(v *schema.Visit) {
	if h.First == nil || v.At.Before(*h.First) {
		h.First = timeOrNull(v.At)
	}
	h.Requests += v.Requests
	switch {
	case v.Kept:
		h.Kept++
	case v.Requests > 0 || v.Archived:
		h.Visited++
	}
	if v.State == schema.Processed {
		h.Processed++
	}
}
