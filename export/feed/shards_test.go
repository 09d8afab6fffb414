package feed_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export/feed"
)

// Each line of a merged map, which has them by run and shard, gets the cursors of all shards, and those after any of
// them are the rest.
func TestShards(t *testing.T) {
	merged := []string{"1,0", "1,0", "1,2", "2,0", "2,2"} // run and shard
	lines := func(since string) (cursors []string) {
		var s feed.Shards
		for shard := range 3 {
			err := s.Add(func(uint64) (*feed.Batch, error) {
				b := &feed.Batch{}
				for _, one := range merged {
					if run, of, _ := strings.Cut(one, ","); of == fmt.Sprint(shard) {
						b.Lines = append(b.Lines, fmt.Appendf(nil, `{"cursor":%d,"run":%s}`, 2*len(b.Lines)+2, run))
					}
				}
				return b, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		after, err := feed.ParseCursors(since, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, one := range merged {
			run, _, _ := strings.Cut(one, ",")
			text, err := s.Line(fmt.Appendf(nil, `{"cursor":%d,"run":%s}`, i+1, run), after)
			if err != nil {
				t.Fatal(err)
			}
			var line struct{ Cursor string }
			if text == nil {
				continue
			}
			if err := json.Unmarshal(text, &line); err != nil {
				t.Fatal(err)
			}
			cursors = append(cursors, line.Cursor)
		}
		if _, err := s.Line([]byte(`{"cursor":6,"run":2}`), after); err == nil {
			t.Error("a visit that no shard has is accepted")
		}
		return cursors
	}
	want := []string{"2,0,0", "4,0,0", "4,0,2", "6,0,2", "6,0,4"}
	for i, since := range append([]string{"0"}, want...) {
		if got := lines(since); !slices.Equal(got, want[i:]) {
			t.Errorf("after %s: %q, want %q", since, got, want[i:])
		}
	}
}

// FuzzParseCursors reads cursors: what was accepted is accepted again.
func FuzzParseCursors(f *testing.F) {
	for _, text := range []string{"0", "1,2,3", "1,2", "1,-2,3", ",,", "1,2,18446744073709551615", "01,2,3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := feed.ParseCursors(text, 3)
		if err == nil && (len(c) != 3 || strings.Count(c.String(), ",") != 2) {
			t.Errorf("%q: %v", text, c)
		}
		if err != nil {
			return
		}
		if again, err := feed.ParseCursors(c.String(), 3); err != nil || !slices.Equal(again, c) {
			t.Errorf("%q: %v, then %v, %v", text, c, again, err)
		}
	})
}
