package statefile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv/scaletest"
)

// TestFeedOfPrunedFile prunes a file twice. The lines that remain keep their cursors, so a reader that resumes from any
// cursor gets every later line once.
func TestFeedOfPrunedFile(t *testing.T) {
	t.Parallel()
	path := scaletest.Made(t, scaletest.Size{Pages: 3000, Visited: 2000, Links: 9000, Hosts: 20, Runs: 3})
	before := fedAfter(t, path, 0)
	for _, keep := range []int{2, 1} {
		p, err := Prune(t.Context(), path, keep)
		if err != nil || p.Visited == 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		after := fedAfter(t, path, 0)
		known := make(map[fedLine]bool, len(before))
		for _, l := range before {
			known[l] = true
		}
		for _, l := range after {
			if !known[l] {
				t.Fatalf("keep %d: %+v was not in the feed before", keep, l)
			}
		}
		for i := 0; i < len(before); i += len(before)/9 + 1 {
			since := before[i].Cursor
			want := slices.DeleteFunc(slices.Clone(after), func(l fedLine) bool { return l.Cursor <= since })
			if got := fedAfter(t, path, since); !slices.Equal(got, want) {
				t.Errorf("keep %d: %d lines after %d, want %d", keep, len(got), since, len(want))
			}
		}
		before = after
	}
}

type fedLine struct {
	Cursor uint64
	Run    int
	URL    string
}

// fedAfter reads a feed after a cursor.
func fedAfter(t *testing.T, path string, cursor uint64) (all []fedLine) {
	t.Helper()
	store := scaletest.Open(t, path)
	defer store.Close()
	cfg, err := LastConfig(store)
	if err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		b, err := feed.Read(store, cfg.Scope(), cursor, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range b.Lines {
			var l fedLine
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
		cursor, more = b.Next, b.More
	}
	return all
}
