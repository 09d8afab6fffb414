package survey

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// crowd is the largest number of hashes of which every one is compared with every other.
const crowd = 128

// clusters returns the clusters of several pages, each by hash and id, and all by their first hash. It sorts the pages
// in this order. It ends with the error of live.
func clusters(live func() error, all []printedPage) (found [][]printedPage, err error) {
	slices.SortFunc(all, func(a, b printedPage) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.id, b.id))
	})
	var firsts []uint32 // the first page of each hash
	for i := range all {
		if i == 0 || all[i].hash != all[i-1].hash {
			firsts = append(firsts, uint32(i))
		}
	}
	n := nearHashes{sets: newDisjoint(len(firsts)), live: live}
	hashes := make([]keyedHash, len(firsts))
	for i, first := range firsts {
		hashes[i] = keyedHash{uint64(all[first].hash), uint32(i)}
	}
	if err := n.find(hashes, 64, true); err != nil {
		return nil, err
	}
	firsts = append(firsts, uint32(len(all)))
	sizes := make([]uint32, len(n.sets)) // in pages, by root
	for i := range n.sets {
		sizes[n.sets.root(uint32(i))] += firsts[i+1] - firsts[i]
	}
	place := map[uint32]int{} // in found, by root
	for i := range n.sets {
		root := n.sets.root(uint32(i))
		if sizes[root] < 2 {
			continue
		}
		if root == uint32(i) { // the first of its set
			place[root] = len(found)
			found = append(found, make([]printedPage, 0, sizes[root]))
		}
		cluster := &found[place[root]]
		*cluster = append(*cluster, all[firsts[i]:firsts[i+1]]...)
	}
	return found, nil
}

// nearHashes joins near hashes into sets. Hashes that differ in three bits at most are equal in one of their four
// blocks of 16 bits, so only those are compared that share a block. A crowd that shares one is divided by blocks of the
// other bits in the same way. In a crowd that shares those too, each hash is compared with the crowd that follows it
// in order, so that no number of hashes takes more than 20 * crowd comparisons each; some near ones may then be missed.
type nearHashes struct {
	sets     disjoint
	live     func() error
	compared int
}

// A keyedHash is the bits of a hash that may differ within its group, as the lowest bits of key, and its number.
type keyedHash struct {
	key uint64
	at  uint32
}

// find joins the hashes of a group that share all but the given number of bits. If divide is true, it divides crowds.
func (n *nearHashes) find(group []keyedHash, width int, divide bool) error {
	block := width / (schema.NearBits + 1)
	rest := width - block
	for range schema.NearBits + 1 {
		if err := n.live(); err != nil {
			return err
		}
		for i, h := range group {
			group[i].key = (h.key<<block | h.key>>rest) & (1<<width - 1)
		}
		slices.SortFunc(group, func(a, b keyedHash) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
		for from := 0; from < len(group); {
			to := from + 1
			for to < len(group) && group[to].key>>rest == group[from].key>>rest {
				to++
			}
			sharing := group[from:to]
			from = to
			if !divide || len(sharing) <= crowd {
				if err := n.compare(sharing); err != nil {
					return err
				}
				continue
			}
			if n.sets.joined(sharing) {
				continue
			}
			sharing = slices.Clone(sharing)
			for i := range sharing {
				sharing[i].key &= 1<<rest - 1
			}
			if err := n.find(sharing, rest, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare joins those near hashes of a group that are less than a crowd apart.
func (n *nearHashes) compare(group []keyedHash) error {
	for i, a := range group {
		others := group[i+1 : min(i+1+crowd, len(group))]
		for _, b := range others {
			if schema.SimHash(a.key).Distance(schema.SimHash(b.key)) <= schema.NearBits {
				n.sets.join(a.at, b.at)
			}
		}
		if n.compared += len(others); n.compared%often < len(others) {
			if err := n.live(); err != nil {
				return err
			}
		}
	}
	return nil
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

// joined reports whether a group is in one set.
func (d disjoint) joined(group []keyedHash) bool {
	root := d.root(group[0].at)
	return !slices.ContainsFunc(group, func(h keyedHash) bool { return d.root(h.at) != root })
}
