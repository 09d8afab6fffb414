package proof

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// importAsChild imports a page store.
func importAsChild(store *kv.Store, cfg *config.Config, pages string) error {
	segments, err := filepath.Glob(filepath.Join(pages, "*.warc.gz"))
	if err == nil {
		_, err = crawl.Import(context.Background(), store, cfg, crawl.Archives{WARC: segments})
	}
	return err
}

// A killedImport is the import of a page store that is killed or watched in a process of its own.
type killedImport struct {
	*killableWeb
	t     testing.TB
	pages string
	want  string // the digest of one that was not killed
}

func newKilledImport(t testing.TB, seed uint64) *killedImport {
	if runtime.GOOS != "linux" {
		t.Skip("watches system calls, as Linux lets it")
	}
	k := &killedImport{killableWeb: generatedWeb(t, seed, 12, 100), t: t, pages: filepath.Join(t.TempDir(), "pages")}
	cfg, _, err := config.Load(k.config)
	if err != nil {
		t.Fatal(err)
	}
	keeping := *cfg
	keeping.Pages.Keep, keeping.Pages.Path = true, k.pages
	keeping.State.Path = filepath.Join(t.TempDir(), "crawl.bolt")
	store := crawltest.Open(t, keeping.State.Path)
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: &keeping})
	if err == nil {
		_, err = c.Run(t.Context())
	}
	whole := filepath.Join(t.TempDir(), "whole.bolt")
	alone := crawltest.Open(t, whole)
	if err = errors.Join(err, importAsChild(alone, cfg, k.pages), alone.Close()); err != nil {
		t.Fatal(err)
	}
	k.want = crawltest.Digest(t, whole)
	return k
}

// run imports, until kill is true after an event, and reports whether it was.
func (k *killedImport) run(kill func([]diskEvent) bool, env ...string) ([]diskEvent, bool) {
	k.t.Helper()
	events, err := trace(child(k.config, append(env, envImport+"="+k.pages)...), kill, k.state)
	if errors.Is(err, os.ErrPermission) {
		k.t.Skipf("tracing is not allowed here: %v", err)
	}
	if err != nil && !errors.Is(err, errKilled) {
		k.t.Fatal(err)
	}
	return events, err != nil
}

// TestImportKillPoints kills an import at every point of a commit, each time in another commit. It ends with the map of
// one that was not killed.
func TestImportKillPoints(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 5))
	k := newKilledImport(t, seed)
	kills := map[string]int{}
	for _, point := range killPoints() {
		left := 2 + r.IntN(2)
		_, killed := k.run(func(events []diskEvent) bool {
			if !events[len(events)-1].temporary && killPoint(events) == point {
				left--
			}
			return left == 0
		})
		if killed {
			kills[point]++
		}
		for _, problem := range crawltest.Problems(t, k.state) {
			if problem != survey.ErrNoRun.Error() {
				t.Errorf("killed %s: %s", point, problem)
			}
		}
	}
	k.run(nil)
	crawltest.Verify(t, k.state)
	if got := crawltest.Digest(t, k.state); got != k.want || len(kills) < len(killPoints()) {
		t.Errorf("after kills at %v the digest is %s, want %s", kills, got, k.want)
	}
	crawltest.Surveyed(t, k.state, func(s *survey.Survey) error {
		if run := s.Run(); run.Kind != schema.RunImport || run.Status != schema.RunCompleted {
			t.Errorf("the run is %+v", run)
		}
		return nil
	})
}

// TestImportPowerLoss builds the files that a power loss during an import could have left behind, see TestPowerLoss.
func TestImportPowerLoss(t *testing.T) {
	t.Parallel()
	images := 20
	if crawltest.Full() {
		images = 300
	}
	seed := crawltest.Seed(t)
	k := newKilledImport(t, seed)
	watched := func(env ...string) *disk {
		if err := os.RemoveAll(k.state); err != nil {
			t.Fatal(err)
		}
		crawltest.Open(t, k.state).Close()
		before, err := os.ReadFile(k.state)
		if err != nil {
			t.Fatal(err)
		}
		events, _ := k.run(nil, env...)
		return &disk{t: t, r: rand.New(rand.NewPCG(seed, 2)), before: before, events: events, dir: t.TempDir()}
	}
	d := watched()
	d.requireWrites(0)
	lost, torn := d.lose(images, images)
	t.Logf("seed %d: %d events, %d images, %d with lost or torn writes", seed, len(d.events), images, torn)
	for _, problem := range lost {
		t.Error(problem)
	}
	if careless, _ := watched(envNoSync+"=1").lose(200, 1); len(careless) == 0 {
		t.Error("an import that never syncs passes too: the proof proves nothing")
	}
}
