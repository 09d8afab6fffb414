package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
)

var errKilled = errors.New("killed")

// killedAt returns a function that is a kill when a step is reached for the n-th time.
func killedAt(step string, n int) func(string) error {
	return func(reached string) error {
		if reached == step {
			if n--; n == 0 {
				return errKilled
			}
		}
		return nil
	}
}

// splitState splits a file or a folder.
func splitState(t *testing.T, s Split) *SplitResult {
	t.Helper()
	done, err := s.Run(t.Context(), func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// marks returns the marks of files, some of which may be nil.
func marks(t *testing.T, files []string) (all []*split.Mark) {
	t.Helper()
	for _, path := range files {
		store := crawltest.Open(t, path)
		m, err := split.MarkOf(store)
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// A split that is killed between two steps is finished by the next one, or begun again if a file was crawled meanwhile.
// The new files are not there before all old ones are marked.
func TestSplitKilled(t *testing.T) {
	t.Parallel()
	state := filepath.Join(filepath.Dir(rippletest.CrawledWhole(t, 1)), "state.bolt")
	digest := crawltest.Digest(t, state)
	for _, tt := range []struct {
		name, step string
		shards     int // of the old files; 1: it is a whole terrain
		at         int
		marked     int  // old files then
		crawled    bool // meanwhile
		finished   bool
	}{
		{"one file, before the mark", "mark", 1, 1, 0, false, false},
		{"one file, before the rename", "publish", 1, 1, 1, false, true},
		{"three files, before the marks", "mark", 3, 1, 0, false, false},
		{"three files, between the marks", "mark", 3, 3, 2, false, true},
		{"three files, one of them crawled between the marks", "mark", 3, 2, 1, true, false},
		{"three files, before the rename", "publish", 3, 1, 3, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := Split{From: filepath.Join(dir, "state.bolt"), Folder: filepath.Join(dir, "new"), Shards: 2}
			rippletest.Copy(t, state, s.From)
			files := []string{s.From}
			if tt.shards > 1 {
				splitState(t, Split{From: s.From, Folder: filepath.Join(dir, "old"), Shards: tt.shards})
				s.From, files = filepath.Join(dir, "old"), nil
				for n := range tt.shards {
					files = append(files, node.FilePath(s.From, n))
				}
			}
			s.at = killedAt(tt.step, tt.at)
			if _, err := s.Run(t.Context(), func(string, int, int) {}); !errors.Is(err, errKilled) {
				t.Fatalf("%v, want %v", err, errKilled)
			}
			if _, err := os.Stat(s.Folder); err == nil {
				t.Error("the new files are there")
			}
			terrain := ""
			for i, m := range marks(t, files) {
				if (m != nil) != (i < tt.marked) {
					t.Errorf("the mark of file %d is %v after %d marks", i, m, tt.marked)
				}
				if m != nil {
					terrain = m.Terrain
				}
			}
			if tt.crawled {
				last := crawltest.Open(t, files[len(files)-1])
				err := last.Update(func(tx *kv.Tx) error { return tx.Meta.Put("crawled", []byte{1}) })
				if err := errors.Join(err, last.Close()); err != nil {
					t.Fatal(err)
				}
			}
			s.at = nil
			done := splitState(t, s)
			if done.Finished != tt.finished || (done.Terrain == terrain) != tt.finished {
				t.Errorf("finished: %t, want %t", done.Finished, tt.finished)
			}
			for i, m := range marks(t, files) {
				if m == nil || m.Terrain != done.Terrain || m.Folder != done.Folder {
					t.Errorf("the mark of file %d is %v at last", i, m)
				}
			}
			parts := []string{node.FilePath(s.Folder, 0), node.FilePath(s.Folder, 1)}
			if got := crawltest.Merge(t, filepath.Join(dir, "whole.bolt"), parts); got != digest {
				t.Errorf("digest %s, want %s", got, digest)
			}
			if rest, _ := filepath.Glob(s.Folder + "?*"); len(rest) > 0 {
				t.Errorf("%q are left", rest)
			}
		})
	}
}

// Undo of a split that was killed before its files appeared.
func TestSplitUndone(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(rippletest.CrawledWhole(t, 1))
	s := Split{From: filepath.Join(dir, "state.bolt"), Folder: filepath.Join(dir, "new"), Shards: 2,
		at: killedAt("publish", 1)}
	if _, err := s.Run(t.Context(), func(string, int, int) {}); !errors.Is(err, errKilled) {
		t.Fatalf("%v, want %v", err, errKilled)
	}
	if err := s.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := marks(t, []string{s.From}); all[0] != nil {
		t.Errorf("it is marked: %v", all[0])
	}
	if rest, _ := filepath.Glob(s.Folder + "*"); len(rest) > 0 {
		t.Errorf("%q are left", rest)
	}
}
