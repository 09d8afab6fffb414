package crawl

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
)

// splitPaper splits the file of a crawl of paper. The result has its map, and verifies.
func splitPaper(p *paperCrawl, shards int) *paperTerrain {
	p.t.Helper()
	t := &paperTerrain{t: p.t.(*testing.T), r: p.r}
	dir := p.t.TempDir()
	path := func(n int) string { return filepath.Join(dir, fmt.Sprintf("shard-%03d.bolt", n)) }
	want := crawltest.Digest(p.t, p.path)
	store := crawltest.Open(p.t, p.path)
	if err := Split(p.t.Context(), store, split.Options{Terrain: [16]byte{1, 2}, Shards: shards}, path); err != nil {
		p.t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		p.t.Fatal(err)
	}
	for n := range shards {
		crawl := *p
		s := &paperShard{paperCrawl: &crawl}
		s.path, s.asked = path(n), map[string]int{}
		crawltest.View(p.t, s.path, func(store *kv.Store, _ *kv.Tx) error { s.part = store.Part(); return nil })
		t.shards = append(t.shards, s)
	}
	if got := t.mergedDigest(); got != want {
		p.t.Errorf("the map of %d shards has digest %s, want %s", shards, got, want)
	}
	return t
}

// TestSplit splits the files of crawls of random webs, at any moment of them, and lets the shards crawl on. The map is
// that of a crawl by one machine, before and after.
func TestSplit(t *testing.T) {
	t.Parallel()
	seed, webs := crawltest.Seed(t), 60
	if crawltest.Full() {
		webs = 300
	}
	webs = crawltest.Number("RIPPLE_PROOF_WEBS", webs)
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		web, text := randomVoices(r), twoOriginsWith(1+r.IntN(3), randomSitemaps(r))
		whole, p := newPaper(t, r, web, text), newPaper(t, r, web, text)
		moody := r.IntN(100)
		if r.IntN(3) == 0 { // the run to be split is the second one, of which a recreated file would know nothing
			moody = 0
			for _, one := range []*paperCrawl{whole, p} {
				one.run(0)
				one.complete()
			}
		}
		wantDepths, wantVisited := whole.run(0)
		p.start()
		for n := r.IntN(60); n > 0 && len(p.steps)+len(p.wakes) > 0; n-- {
			p.turnRound()
		}
		p.kill()
		parts := splitPaper(p, 1+r.IntN(5))
		for n := range parts.shards {
			parts.start(n)
		}
		depths, visited := parts.run(moody)
		if got, want := parts.mergedDigest(), crawltest.Digest(t, whole.path); got != want {
			t.Errorf("the map has digest %s after all, want %s", got, want)
		}
		if !maps.Equal(depths, wantDepths) {
			t.Error(difference(depths, wantDepths))
		}
		if !maps.Equal(visited, wantVisited) {
			t.Errorf("visited %v, want %v", visited, wantVisited)
		}
		if t.Failed() {
			t.Fatalf("web %d of seed %d, %d shards", i, seed, len(parts.shards))
		}
	}
}
