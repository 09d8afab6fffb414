package census

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema"
)

// A host whose request is over is not called silent, however long nobody may be blamed for its failure.
func TestHushes(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	flights := []crawl.Flight{{Host: 1, Since: at(9)}, {Host: 2, Since: at(8)}, {Host: 1, Since: at(7)},
		{Host: 3, Since: at(6)}, {Host: 4, Since: at(5)}}
	got := hushesOf(flights, []crawl.Held{{Host: 3, Why: "connection refused", Since: at(1)}}, now)
	want := map[schema.HostID]hush{1: {asked: at(9)}, 2: {asked: at(8)}, 3: {failed: at(1), why: "connection refused"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(hush{})); diff != "" {
		t.Error(diff)
	}
	if got := hushesOf([]crawl.Flight{{Host: 1, Since: at(1)}}, nil, now); len(got) != 0 {
		t.Errorf("a second after it was asked: %v", got)
	}
}
