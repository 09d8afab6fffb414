package export

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A BusyPage is a page that others link to.
type BusyPage struct {
	URL, Title string
	In         int // links of [survey.Survey.Speakers], of all pages where all runs are shown; of any place
}

// Busiest returns, by place among the nodes, up to most pages of each of the given
// nodes, those with the most links in first. There are none at page level.
func (g *Graph) Busiest(nodes []int, most int) (map[int][]BusyPage, error) {
	if g.opts.Level == LevelPage {
		return nil, nil
	}
	in, err := g.linksIn()
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]int, len(nodes))
	for _, i := range nodes {
		wanted[g.nodes[i].Name] = i
	}
	busiest := make(map[int][]schema.ID, len(nodes))
	err = g.survey.EachPlace(func(p *survey.Page) error {
		if i, ok := wanted[g.nameOf(p)]; ok && in[p.ID] > 0 && !p.Gone {
			busiest[i] = insert(busiest[i], p.ID, in, most)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g.busy(busiest, in)
}

// linksIn counts the links to each page.
func (g *Graph) linksIn() ([]uint32, error) {
	in := make([]uint32, g.survey.URLs()+1)
	speaks, err := g.survey.Speakers()
	if err != nil {
		return nil, err
	}
	return in, g.survey.Links.EachTargetWritten(func(from, to schema.ID) {
		if g.opts.All || speaks(from) {
			in[to]++
		}
	})
}

// busy looks up pages.
func (g *Graph) busy(ids map[int][]schema.ID, in []uint32) (map[int][]BusyPage, error) {
	all := make(map[int][]BusyPage, len(ids))
	for node, list := range ids {
		for _, id := range list {
			p, err := g.survey.Page(id)
			if err != nil {
				return nil, err
			}
			page := BusyPage{URL: p.URL, In: int(in[id])}
			if p.Visit != nil {
				page.Title = p.Visit.Title
			}
			all[node] = append(all[node], page)
		}
	}
	return all, nil
}

// nameOf names the node that a page belongs to.
func (g *Graph) nameOf(p *survey.Page) string {
	switch g.opts.Level {
	case LevelEntity:
		return p.Entity
	case LevelSite:
		return p.Site
	}
	return p.HostName
}

// insert puts a page into its place in a list of at most so many; of equal ones the
// first stays ahead.
func insert(pages []schema.ID, page schema.ID, in []uint32, most int) []schema.ID {
	at := len(pages)
	for at > 0 && in[pages[at-1]] < in[page] {
		at--
	}
	if at >= most {
		return pages
	}
	pages = slices.Insert(pages, at, page)
	return pages[:min(len(pages), most)]
}
