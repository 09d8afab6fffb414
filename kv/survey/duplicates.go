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
	clusters []Cluster
	of       []schema.ID         // by page: the representative of its cluster; 0: it is in none
	pages    []duplicatesOfAHost // by host
	len      int
}

// A Cluster is two or more pages that are near-duplicates. The first one represents it; the others follow by the number
// of bits in which they differ from it, and then by URL.
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

// Clusters returns all clusters, the largest first, and those of one size by the URL of their first page. They must not
// be changed.
func (d *Duplicates) Clusters() []Cluster { return d.clusters }

// Share returns how many of the pages of a host that have a SimHash are near-duplicates of another page, from 0 to 1,
// without those that represent their clusters; false: none has one.
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
// memory for each page of a cluster and four for any other. While it works, it also takes 48 for each page with a
// SimHash, and the URLs of all representatives and of the pages of one cluster.
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
	named := make([]namedCluster, len(found))
	err = s.core.view(func(tx *kv.Tx) (err error) {
		for i, cluster := range found {
			if named[i], err = s.core.ordered(tx, cluster); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(named, func(a, b namedCluster) int {
		return cmp.Or(cmp.Compare(len(b.pages), len(a.pages)), cmp.Compare(a.url, b.url))
	})
	for _, c := range named {
		d.add(c.pages, s.core.store.HostOf)
	}
	s.duplicates = d
	return d, nil
}

// A namedCluster is a cluster with the URL of its first page.
type namedCluster struct {
	pages Cluster
	url   string
}

// ordered puts the pages of a cluster in order.
func (c *core) ordered(tx *kv.Tx, cluster []printedPage) (namedCluster, error) {
	urls := make(map[schema.ID]string, len(cluster))
	for _, p := range cluster {
		norm, err := tx.URLs.Norm(p.id)
		if err = errors.Join(err, c.live()); err != nil {
			return namedCluster{}, err
		}
		urls[p.id] = norm
	}
	first := slices.MinFunc(cluster, func(a, b printedPage) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(urls[a.id], urls[b.id]))
	})
	pages := append(make(Cluster, 0, len(cluster)), ClusterPage{ID: first.id})
	for _, p := range cluster {
		if p.id != first.id {
			pages = append(pages, ClusterPage{p.id, p.hash.Distance(first.hash)})
		}
	}
	slices.SortFunc(pages[1:], func(a, b ClusterPage) int {
		return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(urls[a.ID], urls[b.ID]))
	})
	return namedCluster{pages, urls[first.id]}, nil
}

// add adds a cluster.
func (d *Duplicates) add(c Cluster, hostOf func(schema.ID) schema.HostID) {
	for _, p := range c {
		d.of[p.ID] = c[0].ID
	}
	for _, p := range c[1:] {
		d.pages[hostOf(p.ID)].duplicate++
	}
	d.len += len(c) - 1
	d.clusters = append(d.clusters, c)
}
