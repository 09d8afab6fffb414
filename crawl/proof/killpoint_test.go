package proof

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
)

// metaPages is the end of bbolt's two meta pages: a write below it completes a commit.
const metaPages = 2 * 4096

// killPoint returns the name of the last event's moment within its commit.
func killPoint(events []diskEvent) string {
	e := events[len(events)-1]
	var before diskEvent // the previous event of the same file
	for i := len(events) - 2; i >= 0; i-- {
		if events[i].kind != diskAck && events[i].temporary == e.temporary {
			before = events[i]
			break
		}
	}
	switch e.kind {
	case diskBefore:
		if e.at >= metaPages && before.kind == diskSync {
			return "before commit"
		}
	case diskWrite:
		if e.at < metaPages {
			return "after meta write"
		}
		return "among the data"
	case diskResize:
		return "as the file grows"
	case diskSync:
		if before.kind == diskWrite && before.at < metaPages {
			return "after meta sync"
		}
		return "after data sync"
	}
	return ""
}

func killPoints() []string {
	return []string{"before commit", "among the data", "after data sync", "after meta write", "after meta sync"}
}

// A killedCrawl is a crawl that a tracer kills at chosen points, so that the program itself needs
// no hooks.
type killedCrawl struct {
	*killableWeb
	t       testing.TB
	kills   map[string]int
	settled map[string]time.Time // committed visits, and when they were seen to be committed
}

// run starts the crawl and kills it right after the first event for which kill is true. It reports
// whether there was one.
func (k *killedCrawl) run(kill func([]diskEvent) bool) bool {
	k.t.Helper()
	events, err := trace(child(k.config), func(events []diskEvent) bool {
		now := kill(events)
		if now {
			k.killed = append(k.killed, death{at: time.Now()})
		}
		return now
	}, k.state)
	switch {
	case errors.Is(err, errKilled):
		k.killed[len(k.killed)-1].gone = time.Now()
		k.kills[killPoint(events)]++
		k.settle()
		return true
	case errors.Is(err, os.ErrPermission):
		k.t.Skipf("tracing is not allowed here: %v", err)
	case err != nil:
		k.t.Fatal(err)
	}
	return false
}

// settle records the visits that no later start may repeat.
func (k *killedCrawl) settle() {
	for u := range k.visited(k.t) {
		if k.settled[u].IsZero() {
			k.settled[u] = time.Now()
		}
	}
}

func newKilledCrawl(t testing.TB, seed uint64) (*killedCrawl, string) {
	if runtime.GOOS != "linux" {
		t.Skip("watches system calls, as Linux lets it")
	}
	whole := generatedWeb(t, seed, 12, 12)
	whole.crawl(t, 0)
	return &killedCrawl{killableWeb: generatedWeb(t, seed, 12, 12), t: t, kills: map[string]int{},
		settled: map[string]time.Time{}}, crawltest.Digest(t, whole.state)
}

func (k *killedCrawl) finish(want string) {
	k.t.Helper()
	if !k.completed(k.t) {
		k.run(func([]diskEvent) bool { return false })
	}
	if got := crawltest.Digest(k.t, k.state); got != want {
		k.t.Errorf("the map differs after kills")
	}
	crawltest.Verify(k.t, k.state)
	k.check(k.t, k.settled)
}

// TestKillPoints kills a crawl at every point of a commit, including the first one after a start,
// each time in another commit.
func TestKillPoints(t *testing.T) {
	t.Parallel()
	crawls := 1
	if crawltest.Full() {
		crawls = 6
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 3))
	total := map[string]int{}
	for i := range crawls {
		k, want := newKilledCrawl(t, seed+uint64(i))
		for round := 0; round < 2 && !k.completed(t); round++ {
			for _, point := range killPoints() {
				left := 1 // during the recovery of the start
				if round > 0 {
					left = 2 + r.IntN(5)
				}
				if !k.completed(t) {
					k.killAt(point, left)
				}
			}
		}
		k.finish(want)
		for point, n := range k.kills {
			total[point] += n
		}
	}
	if len(total) < len(killPoints()) {
		t.Errorf("not every point was met: %v", total)
	}
	t.Logf("seed %d: %d crawls, killed at %v, 0 lost, 0 duplicated", seed, crawls, total)
}

// killAt kills the crawl at a point of its nth commit.
func (k *killedCrawl) killAt(point string, n int) {
	k.run(func(events []diskEvent) bool {
		if !events[len(events)-1].temporary && killPoint(events) == point {
			n--
		}
		return n == 0
	})
	if _, err := os.Stat(k.state); err == nil {
		k.verifyStarted()
	}
}

// verifyStarted verifies a file in which a run was begun.
func (k *killedCrawl) verifyStarted() {
	store, err := kv.Open(k.state, kv.Options{ReadOnly: true})
	if err != nil {
		k.t.Fatal(err)
	}
	begun := store.LastCommit() > 0
	if err := store.Close(); err != nil {
		k.t.Fatal(err)
	}
	if begun {
		crawltest.Verify(k.t, k.state)
	}
}

func (k *killedCrawl) report(seed uint64) {
	total := 0
	for _, name := range slices.Sorted(maps.Keys(k.kills)) {
		total += k.kills[name]
	}
	k.t.Logf("seed %d: %d kills %v, 0 lost, 0 duplicated", seed, total, k.kills)
}

// TestKilledAtFirstInit kills the first start after each of its operations on the file, until it
// succeeds.
func TestKilledAtFirstInit(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	k, want := newKilledCrawl(t, seed)
	for n := 1; ; n++ {
		left := n
		killed := k.run(func(events []diskEvent) bool {
			if events[len(events)-1].temporary {
				left--
			}
			return left == 0
		})
		if _, err := os.Stat(k.state); killed && !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("after event %d there is a file that is not initialised (%v)", n, err)
		}
		if !killed {
			break
		}
	}
	if len(k.kills) == 0 {
		t.Error("the first initialisation was not met")
	}
	k.finish(want)
	k.report(seed)
}

// TestKilledAfterFetch kills a crawl while answers are on their way that no commit contains yet.
func TestKilledAfterFetch(t *testing.T) {
	t.Parallel()
	kills := 3
	if crawltest.Full() {
		kills = 25
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	k, want := newKilledCrawl(t, seed)
	killed := 0
	for killed < kills && k.killAfter(t, 1+r.IntN(8)) {
		k.settle()
		killed++
	}
	if killed == 0 {
		t.Error("the crawl was never killed")
	}
	k.finish(want)
	t.Logf("seed %d: %d kills after fetches, 0 lost, 0 duplicated", seed, killed)
}
