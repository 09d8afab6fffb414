package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

const pairConfig = `
[crawler]
max-depth = 3
%s
[cluster]
hub = "nats://127.0.0.1:1"
shards = 2
folder = %q
`

// A pairOfDisks is the record of what a terrain of two shards did to its files.
type pairOfDisks struct {
	id     [16]byte // of the terrain
	events [2][]diskEvent
	order  [2][]int // order of the events over both files
	before [2][]byte
	end    int // from this event on, a file may say that the run is over
}

// TestPowerLossOfTwo watches a node write the files of two shards, which send each other URLs, and
// builds the files that power losses at a moment of each could have left behind. From every such
// pair, the crawl continues to the map of one crawl, although one shard may have acknowledged what
// it has lost. RIPPLE_PROOF_PAIRS is the number of pairs.
func TestPowerLossOfTwo(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("watches system calls, as Linux lets it")
	}
	pairs := 40
	if crawltest.Full() {
		pairs = 100
	}
	pairs = crawltest.Number("RIPPLE_PROOF_PAIRS", pairs)
	seed := crawltest.Seed(t)
	s := crawltest.Serve(t, webtest.WithoutLog())
	s.Generate(seed, webtest.GenConfig{Domain: "test", Hosts: 8, Pages: 3, Links: 8, Size: 500, Leave: 0.5,
		Redirects: 0.15, Dead: 0.05})
	cfg, both := watchPair(t, s)
	want := alone(t, cfg)
	var gone atomic.Int64 // pairs in which one file lacks what it had acknowledged to the other
	t.Run("pairs", func(t *testing.T) {
		for i := range pairs {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				tr := newTerrain(t, rand.New(rand.NewPCG(seed, uint64(i))), cfg, 2)
				if got := both.crawlOn(tr, &gone); got != want {
					t.Errorf("seed %d: digest %s, want %s", seed, got, want)
				}
			})
		}
	})
	t.Logf("seed %d: %d and %d events, %d pairs of images, %d of them with answers for what was lost", seed,
		len(both.events[0]), len(both.events[1]), pairs, gone.Load())
	if gone.Load() == 0 {
		t.Error("no file lacks what it has answered for")
	}
}

// watchPair watches a node that crawls a web with two shards.
func watchPair(t *testing.T, s *webtest.Server) (*config.Config, *pairOfDisks) {
	t.Helper()
	folder := t.TempDir()
	path, _ := crawltest.Files(t, s, fmt.Sprintf(pairConfig, crawltest.SeedsOfSites, folder))
	both, files := &pairOfDisks{}, []string{}
	for n := range both.before {
		files = append(files, filepath.Join(folder, fmt.Sprintf("shard-%03d.bolt", n)))
		crawltest.Open(t, files[n]).Close()
		var err error
		if both.before[n], err = os.ReadFile(files[n]); err != nil {
			t.Fatal(err)
		}
	}
	events, err := trace(child(path, envHub+"="+t.TempDir(), envFaster+"=10"), nil, files...)
	if errors.Is(err, os.ErrPermission) {
		t.Skipf("tracing is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		both.events[e.file], both.order[e.file] = append(both.events[e.file], e), append(both.order[e.file], i)
	}
	for _, events := range both.events {
		(&disk{t: t, events: events}).requireWrites(0)
	}
	last := crawltest.Open(t, files[0])
	both.id = last.Part().Terrain
	last.Close()
	both.findEnd(t, len(events))
	cfg, _, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, both
}

// findEnd finds the first event after which a file says that the run is over. By then both have
// committed everything, so no power loss makes the other one older.
func (b *pairOfDisks) findEnd(t *testing.T, events int) {
	t.Helper()
	b.end = events
	for n, list := range b.events {
		low, high := 0, len(list)
		for low < high {
			middle := (low + high) / 2
			path := filepath.Join(t.TempDir(), "image")
			whole := diskImage{data: append([]byte{}, b.before[n]...), size: int64(len(b.before[n]))}
			for _, e := range list[:middle] {
				whole.apply(e)
			}
			if err := whole.write(path); err != nil {
				t.Fatal(err)
			}
			if isOver(t, path) {
				high = middle
			} else {
				low = middle + 1
			}
		}
		if low > 0 && low <= len(list) {
			b.end = min(b.end, b.order[n][low-1])
		}
	}
	if b.end == events {
		t.Fatal("no file says that the run is over")
	}
}

// isOver reports whether a file says that the run is over.
func isOver(t *testing.T, path string) bool {
	t.Helper()
	store := crawltest.Open(t, path)
	defer store.Close()
	if store.Part().Shards == 0 {
		return false
	}
	r, err := termination.Of(store)
	if err != nil {
		t.Fatal(err)
	}
	return r.Over
}

// crawlOn builds a pair of images, and continues the crawl from it to the end.
func (b *pairOfDisks) crawlOn(tr *terrain, gone *atomic.Int64) (digest string) {
	late := tr.r.IntN(10) == 0 // both when the end was found
	for n, events := range b.events {
		cut := 0
		for cut < len(events) && b.order[n][cut] < b.end {
			cut++
		}
		if late {
			cut += tr.r.IntN(len(events) - cut + 1)
		} else {
			cut = tr.r.IntN(cut + 1)
		}
		d := &disk{t: tr.t, r: tr.r, before: b.before[n], events: events}
		d.build(tr.paths[n], cut)
	}
	if tr.lacks(0, 1) || tr.lacks(1, 0) {
		gone.Add(1)
	}
	tr.id, tr.calm = b.id, true
	for n := range tr.nodes {
		tr.start(n)
	}
	return tr.end(0, tr.lookForEnd(tr.t.Context()))
}

// lacks reports whether the file of a shard lacks something that it acknowledged to another.
func (tr *terrain) lacks(shard, other int) (lacks bool) {
	tr.t.Helper()
	own, asker := crawltest.Open(tr.t, tr.paths[shard]), crawltest.Open(tr.t, tr.paths[other])
	defer own.Close()
	defer asker.Close()
	err := asker.View(func(tx *kv.Tx) error {
		peer, err := tx.Peers.At(shard)
		if err != nil || peer.Commit == 0 {
			return err
		}
		return own.View(func(tx *kv.Tx) error {
			contains, err := tx.Openings.Contains(peer.Opening, peer.Commit)
			lacks = !contains
			return err
		})
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return lacks
}
