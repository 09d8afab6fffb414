package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Way is a shortest path along links that carry depth, from a page of an origin to a page.
type Way struct {
	Origin int   // its number in the terrain
	Depth  uint8 // links; redirects do not count, except for those of the origin's own pages
	Hops   []Hop // nil: the path exists only in what earlier runs recorded
}

// A Hop is one page of a path and the link that leads to it.
type Hop struct {
	ID   schema.ID
	URL  string
	Link schema.Link // from the page before; zero for the first
}

// ways returns paths to a page from the nearest origins, at most limit of them.
func (ws *walks) ways(id schema.ID, limit int) ([]Way, error) {
	own, older := ws.core.inRun, !ws.core.inRun(id)
	if older {
		if !ws.core.hasOlder() {
			return nil, nil
		}
		own = everyPage
	}
	g, err := ws.newGraph(older)
	if err != nil {
		return nil, err
	}
	b := ws.newBackSearch(g, id, own)
	b.older = older
	starts, err := b.find(limit)
	ways := make([]Way, len(starts))
	for i, s := range starts {
		ways[i] = Way{Origin: s.origin, Depth: s.depth}
		if err != nil || older {
			continue
		}
		ways[i].Hops, err = ws.hops(b.trace(s))
	}
	return ways, err
}

func (ws *walks) hops(ids []schema.ID) ([]Hop, error) {
	hops := make([]Hop, len(ids))
	err := ws.core.view(func(tx *kv.Tx) error {
		for i, id := range ids {
			norm, err := tx.URLs.Norm(id)
			if err != nil {
				return err
			}
			hops[i] = Hop{ID: id, URL: norm}
			if i == 0 {
				continue
			}
			v, err := ws.stands.anchored(tx, ids[i-1])
			if err != nil {
				return err
			}
			hops[i].Link, _ = linkTo(v.Links, id)
		}
		return nil
	})
	return hops, err
}
