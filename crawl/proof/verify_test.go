package proof

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// TestVerifiedAfterKills kills a crawl repeatedly: at any moment, all records of the file are
// consistent. Another run over the same web does not change its map.
func TestVerifiedAfterKills(t *testing.T) {
	t.Parallel()
	kills := 6
	if crawltest.Full() {
		kills = 60
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	w := generatedWeb(t, seed, 24, 20)
	n := 0
	for n < kills && !w.crawl(t, time.Duration(100+r.IntN(500))*time.Millisecond) {
		n++
		if len(w.visited(t)) > 0 {
			crawltest.Verify(t, w.state)
		}
	}
	for !w.crawl(t, 0) {
	}
	crawltest.Verify(t, w.state)
	first := crawltest.Digest(t, w.state)
	w.crawl(t, 0)
	crawltest.Verify(t, w.state)
	if crawltest.Digest(t, w.state) != first {
		t.Error("another run over the same web has another digest")
	}
	t.Logf("seed %d: %d kills, every file verified", seed, n)
}
