package crawl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const pruneConfig = `[recrawl]
min-age = "0s"
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/p0", "https://h0.test/p1"]
[[quality]]
domain = "h1.test"
seeds = ["https://h1.test/p1"]
`

// told returns everything that a survey says about the pages that one run reached, and the links
// between them.
func told(t testing.TB, path string, all bool) (pages map[string]string, digest string) {
	t.Helper()
	crawltest.Verify(t, path)
	pages, names := map[string]string{}, map[schema.ID]string{}
	crawltest.Surveyed(t, path, func(s *survey.Survey) error {
		err := s.EachPage(func(p *survey.Page) error {
			names[p.ID] = p.URL
			if p.InRun || all {
				pages[p.URL] = fmt.Sprint(p.State, p.Depth, p.Hops, p.FirstRun, p.LastRun, p.Seed, p.FetchURL, p.Visited)
			}
			return nil
		})
		if err == nil {
			err = s.Links.Each(func(from schema.ID, l schema.Link, _, last schema.RunID) error {
				if _, ok := pages[names[from]]; ok {
					pages[names[from]+" > "+names[l.To]] = fmt.Sprint(l.Kinds, l.Anchor, last)
				}
				return nil
			})
		}
		if err == nil {
			digest, err = survey.Digest(s)
		}
		return err
	})
	return pages, digest
}

func (p *paperCrawl) prune(dst string, from schema.RunID) kv.Pruned {
	p.t.Helper()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	done, err := store.Prune(p.t.Context(), dst, from)
	if err != nil {
		p.t.Fatal(err)
	}
	return done
}

// TestPruneKeepsTheNewestRun crawls random webs run after run and drops the old runs: nothing of
// the newest is lost, what only other runs knew is gone, and the next run continues as if nothing
// had been dropped.
func TestPruneKeepsTheNewestRun(t *testing.T) {
	t.Parallel()
	webs := 12
	if crawltest.Full() {
		webs = 200
	}
	dropped := 0
	for i := range webs {
		r := rand.New(rand.NewPCG(11, uint64(i)))
		p := newEmptyPaper(t, pruneConfig)
		p.r = r
		runs := 2 + r.IntN(2)
		for run := range runs {
			p.web = randomWeb(r)
			p.run(r.IntN(2))
			if run < runs-1 || r.IntN(3) > 0 {
				p.complete()
			}
		}
		same := filepath.Join(t.TempDir(), "same.bolt")
		if done := p.prune(same, 1); done.DroppedURLs+done.DroppedVisits > 0 {
			t.Errorf("web %d: keeping all drops %+v", i, done)
		}
		want, digest := told(t, p.path, true)
		if got, again := told(t, same, true); again != digest {
			t.Errorf("web %d: keeping all has another digest:\n%s", i, cmp.Diff(want, got))
		}

		less := filepath.Join(t.TempDir(), "less.bolt")
		done := p.prune(less, schema.RunID(runs))
		dropped += done.DroppedURLs
		want, _ = told(t, p.path, false)
		got, _ := told(t, less, false)
		for name := range want { // a dropped run is no longer the first that saw a link
			if _, ok := got[name]; !ok || got[name] != want[name] {
				t.Errorf("web %d: %s is %s, was %s", i, name, got[name], want[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("web %d: %d lines, were %d", i, len(got), len(want))
		}

		p.web = randomWeb(r)
		q := *p
		q.path, q.asked = less, map[string]int{}
		q.r, p.r = rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
		p.asked = map[string]int{}
		depths, _ := p.run(0)
		again, _ := q.run(0)
		if !maps.Equal(depths, again) {
			t.Errorf("web %d, the next run: %s", i, difference(again, depths))
		}
		told(t, less, true)
	}
	if dropped == 0 {
		t.Error("nothing was ever dropped")
	}
}

// A partly written pruned file is never next to the old one.
func TestPruneLeavesNothingBehind(t *testing.T) {
	p := newEmptyPaper(t, pruneConfig)
	p.run(0)
	dst := filepath.Join(t.TempDir(), "pruned.bolt")
	if err := os.WriteFile(dst, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	store := crawltest.Open(t, p.path)
	if _, err := store.Prune(t.Context(), dst, 1); err == nil {
		t.Error("a file of others is replaced")
	}
	if text, _ := os.ReadFile(dst); string(text) != "mine" {
		t.Errorf("it holds %q", text)
	}
	why := errors.New("somebody wants to stop")
	ended, end := context.WithCancelCause(t.Context())
	end(why)
	half := filepath.Join(t.TempDir(), "half.bolt")
	if _, err := store.Prune(ended, half, 1); !errors.Is(err, why) {
		t.Errorf("stopped: %v, want %v", err, why)
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was written until then: %v, want %v", err, os.ErrNotExist)
	}
}
