package crawl_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestVerifiedAfterKills kills a crawl again and again: whatever the moment, the
// file says the same of itself in all its records. Another run over the same web
// changes nothing of its map.
func TestVerifiedAfterKills(t *testing.T) {
	kills := 6
	if full() {
		kills = 60
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	w := newKillableWeb(t, seed, 24, 20)
	n := 0
	for n < kills && !w.crawl(t, time.Duration(100+r.IntN(500))*time.Millisecond) {
		n++
		if len(w.visited(t)) > 0 {
			verify(t, w.state)
		}
	}
	for !w.crawl(t, 0) {
	}
	verify(t, w.state)
	first := digestOf(t, w.state)
	w.crawl(t, 0)
	verify(t, w.state)
	if digestOf(t, w.state) != first {
		t.Error("another run over the same web has another digest")
	}
	t.Logf("seed %d: %d kills, every file verified", seed, n)
}
