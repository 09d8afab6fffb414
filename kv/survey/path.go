package survey

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Hop is one page of a path and the link that leads to it.
type Hop struct {
	ID   schema.ID
	URL  string
	Link schema.Link // from the page before; zero for the first
}

// path returns a shortest way along links that carry depth, from a page of an
// origin to a page; nil where there is none within max-depth + 1. Of several ways
// it is the one over the pages that were met first.
func (ws *walks) path(id schema.ID, origin int) ([]Hop, error) {
	g, err := ws.readGraph(false)
	if err != nil {
		return nil, err
	}
	own, err := ws.ownPages(ws.core.inRun)
	if err != nil {
		return nil, err
	}
	s := newOriginSearch(g, own, ws.core.cfg.Crawler.MaxDepth+1)
	s.origins = func(h schema.HostID) []int {
		if slices.Contains(own.origins[h], origin) {
			return []int{0}
		}
		return nil
	}
	s.parent = make([]schema.ID, ws.core.urls()+1)
	s.run(0)
	if s.seen[id] == 0 {
		return nil, nil
	}
	var ids []schema.ID
	for at := id; at != 0; at = s.parent[at] {
		ids = append(ids, at)
	}
	slices.Reverse(ids)
	return ws.hops(ids)
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
			v, err := ws.core.anchored(tx, ids[i-1])
			if err != nil {
				return err
			}
			hops[i].Link, _ = linkTo(v.Links, id)
		}
		return nil
	})
	return hops, err
}
