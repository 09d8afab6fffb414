package survey

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func unending() error { return nil }

// The blocks find every pair that comparing all pairs finds, in any order of the pages.
func TestClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []printedPage
	for len(all) < 600 {
		h := schema.SimHash(rng.Uint64() | 1)
		for range 1 + rng.IntN(3) {
			all = append(all, printedPage{hash: h, id: schema.ID(len(all) + 1)})
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
		found, err := clusters(unending, slices.Clone(all))
		if err != nil {
			t.Fatal(err)
		}
		for _, cluster := range found {
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

// Equal pages are never compared, and hashes that crowd into a block only with as many others as the bound allows. A
// clustering ends when it should, amid a crowd too.
func TestCrowds(t *testing.T) {
	const pages = 200_000
	rng := rand.New(rand.NewPCG(3, 4))
	equal, apart := make([]printedPage, pages), make([]printedPage, pages)
	for i := range pages {
		equal[i] = printedPage{hash: 0xfeed, id: schema.ID(i + 1)}
		apart[i] = printedPage{hash: schema.SimHash(0xfeed<<48 | rng.Uint64()&(1<<32-1)), id: schema.ID(i + 1)}
	}
	found, err := clusters(unending, equal)
	if err != nil || len(found) != 1 || len(found[0]) != pages {
		t.Errorf("%d equal pages: %d clusters, %v", pages, len(found), err)
	}
	hashes := make([]keyedHash, pages)
	for i, p := range apart {
		hashes[i] = keyedHash{uint64(p.hash), uint32(i)}
	}
	n := nearHashes{sets: newDisjoint(pages), live: unending}
	if err := n.find(hashes, 64, true); err != nil || n.compared > 20*crowd*pages {
		t.Errorf("%d comparisons of %d hashes, %v", n.compared, pages, err)
	}
	ended, asked := errors.New("ended"), 0
	_, err = clusters(func() error {
		if asked++; asked > 10 {
			return ended
		}
		return nil
	}, apart)
	if !errors.Is(err, ended) || asked != 11 {
		t.Errorf("asked %d times whether to end: %v", asked, err)
	}
}

// A crowd that shares a block is divided, and no pair in it is missed.
func TestCrowdIsDivided(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var all []printedPage
	for len(all) < 20*crowd {
		h := schema.SimHash(0xfeed<<48 | rng.Uint64()>>16)
		near := h ^ 1<<rng.IntN(16) ^ 1<<(16+rng.IntN(16)) ^ 1<<(32+rng.IntN(16))
		all = append(all, printedPage{hash: h, id: schema.ID(len(all) + 1)}, printedPage{hash: near, id: schema.ID(len(all) + 2)})
	}
	found, err := clusters(unending, slices.Clone(all))
	if err != nil || len(found) != len(all)/2 {
		t.Errorf("%d clusters of %d pairs, %v", len(found), len(all)/2, err)
	}
}
