package survey

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Duplicates are the clusters of pages whose texts are near-duplicates ([schema.SimHash.Near]): two pages are in one
// cluster if near-duplicates lead from one to the other. Each cluster is represented by its page of the lowest depth,
// and of several such pages by the one whose URL is first in order. Clusters span hosts.
type Duplicates struct {
	of map[schema.ID]schema.ID // the representative, of every other page of a cluster
}

// Of returns the page of which a page is a near-duplicate; 0: of none, or the page represents its cluster.
func (d *Duplicates) Of(page schema.ID) schema.ID { return d.of[page] }

// Len returns the number of pages that are near-duplicates of another.
func (d *Duplicates) Len() int { return len(d.of) }

// A printedPage is a page with its fingerprint.
type printedPage struct {
	hash  schema.SimHash
	id    schema.ID
	depth uint8
}

// Duplicates finds the near-duplicates among the pages that were processed and are not gone. It takes 16 bytes of
// memory a page, and as much again while it works.
func (s *Survey) Duplicates() (*Duplicates, error) {
	var all []printedPage
	err := s.pages.each(1, func(p *Page) error {
		if v := p.Visit; v != nil && v.SimHash != 0 && p.State == schema.Processed && !p.Gone && v.RedirectTo == 0 {
			all = append(all, printedPage{v.SimHash, p.ID, p.Depth})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, err := clusters(s.core.live, all)
	if err != nil {
		return nil, err
	}
	d := &Duplicates{of: map[schema.ID]schema.ID{}}
	return d, s.core.view(func(tx *kv.Tx) error {
		for _, cluster := range found {
			if err := errors.Join(s.core.live(), d.represent(tx, cluster)); err != nil {
				return err
			}
		}
		return nil
	})
}

// represent chooses the page that represents a cluster.
func (d *Duplicates) represent(tx *kv.Tx, cluster []printedPage) error {
	least := slices.MinFunc(cluster, func(a, b printedPage) int { return cmp.Compare(a.depth, b.depth) }).depth
	var first schema.ID
	var url string
	for _, p := range cluster {
		if p.depth > least {
			continue
		}
		norm, err := tx.URLs.Norm(p.id)
		if err != nil {
			return err
		}
		if first == 0 || norm < url {
			first, url = p.id, norm
		}
	}
	for _, p := range cluster {
		if p.id != first {
			d.of[p.id] = first
		}
	}
	return nil
}
