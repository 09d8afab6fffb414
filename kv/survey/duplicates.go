package survey

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Duplicates are the clusters of pages whose texts are near-duplicates ([schema.SimHash.Near]): two pages are in one
// cluster if near-duplicates lead from one to the other. Each cluster is represented by its page of the lowest depth,
// and of several such pages by the one whose URL is first in order. Clusters span hosts.
type Duplicates struct {
	clusters []Cluster
	of       []schema.ID         // by page: the representative of its cluster; 0: it is in none
	pages    []duplicatesOfAHost // by host
	len      int
}

// A Cluster is two or more pages that are near-duplicates. The first one represents it; the others follow by the number
// of bits in which they differ from it, and then by id.
type Cluster []ClusterPage

// A ClusterPage is a page of a cluster.
type ClusterPage struct {
	ID   schema.ID
	Bits int // of the SimHash that differ from that of the page that represents the cluster
}

// A duplicatesOfAHost counts the pages of a host.
type duplicatesOfAHost struct{ printed, duplicate uint32 }

// Of returns the page of which a page is a near-duplicate; 0: of none, or the page represents its cluster.
func (d *Duplicates) Of(page schema.ID) schema.ID {
	if first := d.First(page); first != page {
		return first
	}
	return 0
}

// First returns the page that represents the cluster of a page; 0: it is in none.
func (d *Duplicates) First(page schema.ID) schema.ID {
	if int(page) >= len(d.of) {
		return 0
	}
	return d.of[page]
}

// Len returns the number of pages that are near-duplicates of another.
func (d *Duplicates) Len() int { return d.len }

// LenOf returns the number of those on a host.
func (d *Duplicates) LenOf(host schema.HostID) int {
	if int(host) >= len(d.pages) {
		return 0
	}
	return int(d.pages[host].duplicate)
}

// Clusters returns all clusters, the largest first, and of several of one size by the id of their first page. They must
// not be changed.
func (d *Duplicates) Clusters() []Cluster { return d.clusters }

// Share returns how many of the pages of a host that have a SimHash are near-duplicates of another page, from 0 to 1;
// false: none has one.
func (d *Duplicates) Share(host schema.HostID) (float64, bool) {
	if int(host) >= len(d.pages) || d.pages[host].printed == 0 {
		return 0, false
	}
	return float64(d.pages[host].duplicate) / float64(d.pages[host].printed), true
}

// A printedPage is a page with its fingerprint.
type printedPage struct {
	hash  schema.SimHash
	id    schema.ID
	depth uint8
}

// Duplicates finds the near-duplicates among the pages that were processed and are not gone, once. It takes 16 bytes of
// memory for each page of a cluster and four for any other, and 48 for each page with a SimHash while it works.
func (s *Survey) Duplicates() (*Duplicates, error) {
	if s.duplicates != nil {
		return s.duplicates, nil
	}
	d := &Duplicates{pages: make([]duplicatesOfAHost, s.core.store.Hosts()+1)}
	var all []printedPage
	err := s.tallies.along(func(p *Page) error {
		if v := p.Visit; v != nil && v.SimHash != 0 && p.State == schema.Processed && !p.Gone && v.RedirectTo == 0 {
			all = append(all, printedPage{v.SimHash, p.ID, p.Depth})
			d.pages[p.Host].printed++
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
	if len(found) > 0 {
		d.of = make([]schema.ID, s.core.urls()+1)
	}
	err = s.core.view(func(tx *kv.Tx) error {
		for _, cluster := range found {
			first, err := s.core.representative(tx, cluster)
			if err != nil {
				return err
			}
			d.add(first, cluster)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range d.clusters {
		for _, p := range c[1:] {
			d.pages[s.core.store.HostOf(p.ID)].duplicate++
			d.len++
		}
	}
	slices.SortFunc(d.clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].ID, b[0].ID))
	})
	s.duplicates = d
	return d, nil
}

// representative chooses the page that represents a cluster.
func (c *core) representative(tx *kv.Tx, cluster []printedPage) (first printedPage, err error) {
	least := slices.MinFunc(cluster, func(a, b printedPage) int { return cmp.Compare(a.depth, b.depth) }).depth
	var url string
	for _, p := range cluster {
		if p.depth > least {
			continue
		}
		if err := c.live(); err != nil {
			return first, err
		}
		norm, err := tx.URLs.Norm(p.id)
		if err != nil {
			return first, err
		}
		if first.id == 0 || norm < url {
			first, url = p, norm
		}
	}
	return first, nil
}

// add adds a cluster.
func (d *Duplicates) add(first printedPage, cluster []printedPage) {
	pages := append(make(Cluster, 0, len(cluster)), ClusterPage{ID: first.id})
	for _, p := range cluster {
		d.of[p.id] = first.id
		if p.id != first.id {
			pages = append(pages, ClusterPage{p.id, p.hash.Distance(first.hash)})
		}
	}
	slices.SortFunc(pages[1:], func(a, b ClusterPage) int {
		return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.ID, b.ID))
	})
	d.clusters = append(d.clusters, pages)
}
