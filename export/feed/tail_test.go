package feed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// whole reads all batches with ReadBrief and returns them as one.
func whole(t *testing.T, w *surveytest.World, cursor, most uint64) *feed.Batch {
	t.Helper()
	all, err := feed.ReadBrief(w.Store, w.Config.Scope(), cursor, most, nil)
	for err == nil && all.More {
		var b *feed.Batch
		if b, err = feed.ReadBrief(w.Store, w.Config.Scope(), all.Next, most, nil); err == nil {
			all.Append(cursor, b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A tail returns what the store would, or ErrTail. The same holds for the part of a batch after a
// cursor.
func TestTail(t *testing.T) {
	const base, visits, held = 10, 9, 4
	w := surveytest.New(t, surveytest.Minimal)
	w.Update(func(tx *kv.Tx) error { return tx.Meta.Put(feed.MetaBase, []byte(fmt.Sprint(base))) })
	for i := range visits {
		w.Visit(fmt.Sprintf("a.test/%d", i), nil)
	}
	tail, err := feed.ReadTail(w.Store, w.Config.Scope(), held)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []uint64{0, 1, held, held + 1, visits} {
		for cursor := uint64(base); cursor <= base+visits; cursor++ {
			got, err := tail.After(cursor, most)
			lacks := cursor < base+visits-held && most == 0
			if errors.Is(err, feed.ErrTail) != lacks {
				t.Errorf("After(%d, %d) = %v", cursor, most, err)
			}
			if lacks {
				continue
			}
			if diff := cmp.Diff(whole(t, w, cursor, min(most, held)), got); diff != "" {
				t.Errorf("After(%d, %d): %s", cursor, most, diff)
			}
			for from := uint64(base); from <= cursor && most > 0; from++ {
				want := whole(t, w, max(cursor, base+visits-most), most)
				want.Omitted = base + visits - cursor - uint64(len(want.Lines))
				if diff := cmp.Diff(want, whole(t, w, from, most).After(from, cursor)); diff != "" {
					t.Errorf("of %d after %d, After(%d): %s", most, from, cursor, diff)
				}
			}
		}
	}
	if _, err := tail.After(base+visits+1, 1); !errors.Is(err, feed.ErrCursor) {
		t.Errorf("of another state: %v", err)
	}
	if b, err := tail.After(feed.Newest, 1); err != nil || b.Next != base+visits || len(b.Lines) != 0 {
		t.Errorf("of the newest: %v, %v", b, err)
	}
}

// Omitted visits precede all lines of a batch, even if it was read in two parts and only the second
// omits some.
func TestAppend(t *testing.T) {
	lines := func(cursors ...int) (list []json.RawMessage) {
		for _, cursor := range cursors {
			list = append(list, fmt.Appendf(nil, `{"cursor":%d}`, cursor))
		}
		return list
	}
	tests := []struct {
		name           string
		first, further feed.Batch
		want           feed.Batch
	}{
		{"nothing", feed.Batch{Lines: lines(11, 13), Next: 13, More: true}, feed.Batch{Lines: lines(14), Next: 15},
			feed.Batch{Lines: lines(11, 13, 14), Next: 15}},
		{"the first", feed.Batch{Lines: lines(13), Next: 13, More: true, Omitted: 2}, feed.Batch{Lines: lines(14), Next: 15},
			feed.Batch{Lines: lines(13, 14), Next: 15, Omitted: 2}},
		{"the second", feed.Batch{Lines: lines(11, 13), Next: 13, More: true},
			feed.Batch{Lines: lines(20), Next: 20, Omitted: 6},
			feed.Batch{Lines: lines(20), Next: 20, Omitted: 9}},
		{"both", feed.Batch{Lines: lines(13), Next: 13, More: true, Omitted: 2},
			feed.Batch{Lines: lines(20), Next: 20, Omitted: 6},
			feed.Batch{Lines: lines(20), Next: 20, Omitted: 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.first
			got.Append(10, &tt.further)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
