package answer

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// An inLink is a link to the inspected page.
type inLink struct {
	from schema.ID
	link schema.Link
}

// addLinksIn adds the links to a page in a place; empty: in any.
func (r Inspector) addLinksIn(out *KnownPage, id schema.ID, place string, limit int) error {
	tally := newPlaceTally(place)
	var first []inLink
	everyHost := func(schema.HostID) bool { return true }
	this := func(to schema.ID) bool { return to == id }
	err := r.Links.EachInto(everyHost, this, func(page schema.ID, l schema.Link) error {
		listed, err := tally.add(r, page, &l)
		if !listed || err != nil {
			return err
		}
		out.LinksIn.Total++
		if first = append(first, inLink{page, l}); len(first)-1000 > 2*min(limit, len(first)) {
			first = firstOf(first, limit)
		}
		return nil
	})
	if err != nil {
		return err
	}
	out.LinksIn.Places, out.LinksIn.Links = tally.list(), []LinkIn{}
	for _, in := range firstOf(first, limit) {
		link, err := r.pageLink(in.from, in.link)
		if err != nil {
			return err
		}
		out.LinksIn.Links = append(out.LinksIn.Links, LinkIn{link, in.link.Endorses(), in.link.SiteWide})
	}
	return nil
}

// firstOf returns the first n links: endorsements, then by the page that links.
func firstOf(links []inLink, n int) []inLink {
	slices.SortFunc(links, func(a, b inLink) int {
		if x, y := a.link.Endorses(), b.link.Endorses(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.from, b.from)
	})
	return links[:min(n, len(links))]
}
