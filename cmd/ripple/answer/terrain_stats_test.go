package answer

import (
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
)

// The pages that shards may still visit do not exceed what max-pages leaves to all of them.
func TestTerrainMaxPages(t *testing.T) {
	shard := func(n int) node.Shard {
		return node.Shard{Number: n, Made: true, Node: "attic", Report: &node.Report{Status: census.Status{
			Status: "running", Pages: 40, Left: census.Left{PagesToVisit: 60}}}}
	}
	for most, want := range map[int]int{0: 120, 1000: 120, 100: 20, 50: 0} {
		s := NewTerrainStats("", most, &node.Terrain{Run: 1, Shards: []node.Shard{shard(0), shard(1)}})
		if s.ToVisit != want || s.Pages != 80 {
			t.Errorf("of %d pages at most %d are visited, and %d to visit; want %d", most, s.Pages, s.ToVisit, want)
		}
	}
}

// A clock that is ahead does not give a negative wait.
func TestTerrainOfAnotherClock(t *testing.T) {
	now := time.Now()
	s := NewTerrainStats("", 0, &node.Terrain{Run: 1, Shards: []node.Shard{
		{Number: 0, Made: true, Node: "attic", Report: &node.Report{Status: census.Status{Status: "running"},
			Backlog: []crawl.Backlog{{Shard: 1, URLs: 2, Silent: now.Add(3 * time.Minute)}}}},
		{Number: 1, Made: true, Node: "barn"},
	}})
	for _, n := range s.Notes(now) {
		if strings.Contains(n.Text, "-3m") || !strings.HasSuffix(n.Text, " for 0 s") {
			t.Errorf("it says %q", n.Text)
		}
	}
}
