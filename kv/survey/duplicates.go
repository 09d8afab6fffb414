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
	of map[schema.ID]schema.ID // the representative, of every other page of a cluster
}

// Of returns the page of which a page is a near-duplicate; 0: of none, or the page represents its cluster.
func (d *Duplicates) Of(page schema.ID) schema.ID { return d.of[page] }

// Len returns the number of pages that are near-duplicates of another.
func (d *Duplicates) Len() int { return len(d.of) }

// A printed page is a page with its fingerprint.
type printed struct {
	hash  schema.SimHash
	id    schema.ID
	depth uint8
}

// Duplicates finds the near-duplicates among the pages that were processed and are not gone. It takes 16 bytes of
// memory a page, and as much again while it works.
func (s *Survey) Duplicates() (*Duplicates, error) {
	var all []printed
	err := s.pages.each(1, func(p *Page) error {
		if v := p.Visit; v != nil && v.SimHash != 0 && p.State == schema.Processed && !p.Gone && v.RedirectTo == 0 {
			all = append(all, printed{v.SimHash, p.ID, p.Depth})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := &Duplicates{of: map[schema.ID]schema.ID{}}
	return d, s.core.view(func(tx *kv.Tx) error {
		for _, cluster := range clusters(all) {
			if err := d.represent(tx, cluster); err != nil {
				return err
			}
		}
		return nil
	})
}

// represent chooses the page that represents a cluster.
func (d *Duplicates) represent(tx *kv.Tx, cluster []printed) error {
	least := slices.MinFunc(cluster, func(a, b printed) int { return cmp.Compare(a.depth, b.depth) }).depth
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

// clusters returns the clusters of several pages. Hashes that differ in three bits at most are equal in one of their
// four blocks of 16 bits, so only those are compared that share a block. It sorts the pages by hash.
func clusters(all []printed) (found [][]printed) {
	slices.SortFunc(all, func(a, b printed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.id, b.id)) })
	var firsts []uint32 // the first page of each hash
	for i := range all {
		if i == 0 || all[i].hash != all[i-1].hash {
			firsts = append(firsts, uint32(i))
		}
	}
	sets := newDisjoint(len(firsts))
	order := make([]uint32, len(firsts))
	for block := 0; block < 64; block += 16 {
		of := func(i uint32) uint16 { return uint16(all[firsts[i]].hash >> block) }
		for i := range order {
			order[i] = uint32(i)
		}
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(of(a), of(b)), cmp.Compare(a, b)) })
		for from := 0; from < len(order); {
			to := from + 1
			for to < len(order) && of(order[to]) == of(order[from]) {
				to++
			}
			for i, a := range order[from:to] {
				for _, b := range order[from+i+1 : to] {
					if all[firsts[a]].hash.Near(all[firsts[b]].hash) {
						sets.join(a, b)
					}
				}
			}
			from = to
		}
	}
	byRoot := map[uint32][]printed{}
	for i, from := range firsts {
		to := len(all)
		if i+1 < len(firsts) {
			to = int(firsts[i+1])
		}
		root := sets.root(uint32(i))
		byRoot[root] = append(byRoot[root], all[from:to]...)
	}
	for i := range firsts {
		if cluster := byRoot[uint32(i)]; len(cluster) > 1 {
			found = append(found, cluster)
		}
	}
	return found
}

// A disjoint is a partition of numbers into sets, each with its least member as root.
type disjoint []uint32

func newDisjoint(n int) disjoint {
	d := make(disjoint, n)
	for i := range d {
		d[i] = uint32(i)
	}
	return d
}

func (d disjoint) root(i uint32) uint32 {
	for d[i] != i {
		d[i] = d[d[i]]
		i = d[i]
	}
	return i
}

func (d disjoint) join(a, b uint32) {
	a, b = d.root(a), d.root(b)
	d[max(a, b)] = min(a, b)
}
