package survey

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// The blocks find every pair that comparing all pairs finds, in any order of the pages.
func TestClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []printed
	for len(all) < 600 {
		h := schema.SimHash(rng.Uint64() | 1)
		for range 1 + rng.IntN(3) {
			all = append(all, printed{hash: h, id: schema.ID(len(all) + 1)})
			for range 1 + rng.IntN(4) {
				h ^= 1 << rng.IntN(64)
			}
		}
	}
	want := map[schema.ID]schema.ID{} // the least page of the cluster
	for i := range all {
		want[all[i].id] = all[i].id
	}
	for changed := true; changed; {
		changed = false
		for _, a := range all {
			for _, b := range all {
				if a.hash.Near(b.hash) && want[a.id] < want[b.id] {
					want[b.id], changed = want[a.id], true
				}
			}
		}
	}
	for range 3 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		got := map[schema.ID]schema.ID{}
		for _, p := range all {
			got[p.id] = p.id
		}
		for _, cluster := range clusters(slices.Clone(all)) {
			least := cluster[0].id
			for _, p := range cluster {
				least = min(least, p.id)
			}
			for _, p := range cluster {
				got[p.id] = least
			}
		}
		for id := range want {
			if got[id] != want[id] {
				t.Fatalf("page %d is with %d, want %d", id, got[id], want[id])
			}
		}
	}
}
