package export

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A BusyPage is a page that others link to.
type BusyPage struct {
	URL, Title string
	In         int // links of any place on the pages of [survey.Survey.Speakers], or on all pages if all runs are shown
}

// Busiest returns up to most pages for each of the given nodes, those with the most incoming links
// first. Nodes are identified by rank. At page level it returns nothing.
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
	busiest := make(map[int][]busy, len(nodes))
	err = g.survey.EachPlace(func(p *survey.Page) error {
		if i, ok := wanted[g.nameOf(p)]; ok && in[p.ID] > 0 && !p.Gone {
			busiest[i] = insert(busiest[i], busy{p.ID, p.URL, in[p.ID]}, most)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g.describe(busiest)
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

// A busy is a page in a list of busy pages.
type busy struct {
	id  schema.ID
	url string
	in  uint32
}

// describe looks up the pages.
func (g *Graph) describe(lists map[int][]busy) (map[int][]BusyPage, error) {
	all := make(map[int][]BusyPage, len(lists))
	for node, list := range lists {
		for _, b := range list {
			p, err := g.survey.Page(b.id)
			if err != nil {
				return nil, err
			}
			page := BusyPage{URL: p.URL, In: int(b.in)}
			if p.Visit != nil {
				page.Title = p.Visit.Title
			}
			all[node] = append(all[node], page)
		}
	}
	return all, nil
}

// nameOf returns the name of the node that a page belongs to.
func (g *Graph) nameOf(p *survey.Page) string {
	switch g.opts.Level {
	case LevelEntity:
		return p.Entity
	case LevelSite:
		return p.Site
	}
	return p.HostName
}

// insert inserts a page into a sorted list of at most most pages. Equal ones are sorted by URL.
func insert(pages []busy, page busy, most int) []busy {
	at, _ := slices.BinarySearchFunc(pages, page, func(a, b busy) int {
		return cmp.Or(cmp.Compare(b.in, a.in), cmp.Compare(a.url, b.url))
	})
	if at >= most {
		return pages
	}
	pages = slices.Insert(pages, at, page)
	return pages[:min(len(pages), most)]
}
