package proof

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A reclassified is the result of reclassifying a crawl.
type reclassified struct {
	digest string
	run    string // the last one: number, status, why it ended
}

func (w *killableWeb) outcome(t testing.TB) (o reclassified) {
	t.Helper()
	crawltest.View(t, w.state, func(_ *kv.Store, tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		run := runs[len(runs)-1]
		o.run = fmt.Sprintf("run %d %s walked %t: %s", run.ID, run.Status, run.Walked, run.End)
		return err
	})
	crawltest.Verify(t, w.state)
	o.digest = crawltest.Digest(t, w.state)
	return o
}

// reclassify reclassifies, and is killed at its nth sync; 0: not killed. It reports whether it was
// killed.
func (w *killableWeb) reclassify(t testing.TB, n int) bool {
	t.Helper()
	syncs := 0
	_, err := trace(child(w.config, envAnew+"=1"), func(events []diskEvent) bool {
		if events[len(events)-1].kind == diskSync {
			syncs++
		}
		return syncs == n && n > 0
	}, w.state)
	switch {
	case errors.Is(err, os.ErrPermission):
		t.Skipf("tracing is not allowed here: %v", err)
	case err != nil && !errors.Is(err, errKilled):
		t.Fatal(err)
	}
	return err != nil
}

// copied returns a web that continues with a copy of the state.
func (w *killableWeb) copied(t testing.TB, change func(config string) string) *killableWeb {
	t.Helper()
	text, err := os.ReadFile(w.config)
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(w.state)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &killableWeb{server: w.server, config: filepath.Join(dir, "config.toml"),
		state: filepath.Join(dir, "state.bolt")}
	changed := change(strings.ReplaceAll(string(text), w.state, c.state))
	if err := errors.Join(os.WriteFile(c.config, []byte(changed), 0o600),
		os.WriteFile(c.state, state, 0o600)); err != nil {
		t.Fatal(err)
	}
	return c
}

func same(text string) string { return text }

// TestReclassifyKilled kills a reclassification at each of its syncs. When repeated, it has the
// same result as without a kill, and so has a crawl that follows the kill.
func TestReclassifyKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("watches system calls, as Linux lets it")
	}
	w := generatedWeb(t, crawltest.Seed(t), 6, 6)
	w.crawl(t, 0)
	for _, tt := range []struct {
		name   string
		change func(string) string
		want   schema.RunStatus
	}{
		{"nothing is left to ask", func(s string) string { return s + "[[blacklist]]\nurl = '/p3$'\n" },
			schema.RunCompleted},
		{"pages come within reach", func(s string) string { return s[:strings.Index(s, "[[stub]]")] },
			schema.RunInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			once := w.copied(t, tt.change)
			once.reclassify(t, 0)
			want := once.outcome(t)
			if !strings.Contains(want.run, tt.want.String()) {
				t.Fatalf("reclassified at once: %s, want %s", want.run, tt.want)
			}
			once.crawl(t, 0)
			wantCrawled := once.outcome(t)
			kills := 0
			for killed := w.copied(t, tt.change); killed.reclassify(t, kills+1); killed = w.copied(t, tt.change) {
				kills++
				crawled := killed.copied(t, same)
				killed.reclassify(t, kills)
				killed.reclassify(t, 0)
				if got := killed.outcome(t); got != want {
					t.Errorf("killed at sync %d, then again: %v, want %v", kills, got, want)
				}
				if kills != 6 && !crawltest.Full() {
					continue
				}
				crawled.crawl(t, 0)
				if got := crawled.outcome(t); got != wantCrawled {
					t.Errorf("killed at sync %d, then crawled: %v, want %v", kills, got, wantCrawled)
				}
			}
			if kills < 4 {
				t.Errorf("%d kills", kills)
			}
			t.Logf("%d kills", kills)
		})
	}
}
