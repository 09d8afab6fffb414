package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Of a run that is over the pages are told that the shards have left word of, when nobody answers.
func TestTerrainOver(t *testing.T) {
	over := func(n, pages int) node.Shard {
		return node.Shard{Number: n, Made: true, Maker: "attic", Over: true, Pages: pages}
	}
	for _, tt := range []struct {
		shards  []node.Shard
		visited string
		row     string
	}{
		{[]node.Shard{over(0, 1200), over(1, 91)}, "1,291 pages visited, 0 to visit; 2 shards on 0 nodes\n", "0      over   1,200"},
		{[]node.Shard{over(0, 1200), over(1, -1)}, "0 to visit; 2 shards on 0 nodes; not counted: 1 shard\n", "1      over         "},
		{[]node.Shard{over(0, 1200), {Number: 1, Over: true, Pages: -1, Report: &node.Report{Over: true,
			Status: census.Status{Pages: 7}}}}, "1,207 pages visited, 0 to visit; 2 shards on 0 nodes\n", "1      over   7"},
	} {
		var out strings.Builder
		s := answer.NewTerrainStats("nats://hub.test:4222", 0, &node.Terrain{Run: 1, Over: true, Shards: tt.shards})
		if err := show.Terrain(&out, s, time.Now()); err != nil || !strings.Contains(out.String(), tt.visited) ||
			!strings.Contains(out.String(), "\n"+tt.row) {
			t.Errorf("%v: %s; want %q and %q", err, out.String(), tt.visited, tt.row)
		}
	}
}

// What shards may visit each is no more than max-pages leaves to all of them.
func TestTerrainMaxPages(t *testing.T) {
	shard := func(n int) node.Shard {
		return node.Shard{Number: n, Made: true, Node: "attic", Report: &node.Report{Status: census.Status{
			Status: "running", Pages: 40, Left: census.Left{PagesToVisit: 60}}}}
	}
	for most, want := range map[int]int{0: 120, 1000: 120, 100: 20, 50: 0} {
		s := answer.NewTerrainStats("", most, &node.Terrain{Run: 1, Shards: []node.Shard{shard(0), shard(1)}})
		if s.ToVisit != want || s.Pages != 80 {
			t.Errorf("of %d pages at most %d are visited, and %d to visit; want %d", most, s.Pages, s.ToVisit, want)
		}
	}
}

// A machine whose clock is ahead has not waited for less than no time.
func TestTerrainOfAnotherClock(t *testing.T) {
	now := time.Now()
	s := answer.NewTerrainStats("", 0, &node.Terrain{Run: 1, Shards: []node.Shard{
		{Number: 0, Made: true, Node: "attic", Report: &node.Report{Status: census.Status{Status: "running"},
			Backlog: []crawl.Backlog{{Shard: 1, URLs: 2, Silent: now.Add(3 * time.Minute)}}}},
		{Number: 1, Made: true, Node: "barn"},
	}})
	for _, n := range s.Notes(now) {
		if strings.Contains(n.Text, "-3m") || !strings.HasSuffix(n.Text, " for 0s") {
			t.Errorf("it says %q", n.Text)
		}
	}
}

// A page that is kept is none that a node has visited.
func TestNodeVisits(t *testing.T) {
	v := session.NewNodeView(term.NewVoice(io.Discard), "", &config.Config{}, session.Options{})
	v.Visited(0, crawl.Event{Asked: true})
	v.Visited(0, crawl.Event{})
	if n := v.Pages.Load(); n != 1 {
		t.Errorf("%d pages are visited, want 1", n)
	}
}

// A node that waits says for what, once, and again when that changes.
func TestNodeWaits(t *testing.T) {
	var said strings.Builder
	v := session.NewNodeView(term.NewVoice(&said), "", &config.Config{}, session.Options{})
	v.States = map[int]string{0: "waiting", 1: "crawling"}
	now := time.Now()
	idle := &census.Status{Status: "running"}
	s := &answer.TerrainStats{Shards: []answer.ShardStats{
		{State: answer.ShardIdle, Node: "attic"}, {Shard: 1, State: "running", Status: idle},
	}}
	tell := func(want string) {
		t.Helper()
		now = now.Add(time.Minute)
		said.Reset()
		v.TellWaits(s, now)
		if got := said.String(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	tell("") // it is this node that the shard waits for
	v.States[0] = "released"
	attic := "  shard 0 waits for attic, which has its file, or a newer copy\n"
	tell(attic)
	tell("")
	s.Shards[1].Backlog = []crawl.Backlog{{Shard: 0, URLs: 2, Silent: now}}
	tell(attic + "  shard 1 has to tell shard 0 of 2 URLs, and waits for an answer for 1 min 00 s\n")
	tell("")
	s.Shards[0] = answer.ShardStats{State: "running", Status: &census.Status{Left: census.Left{PagesToVisit: 3}},
		Backlog: []crawl.Backlog{{Shard: 1, URLs: 5, Silent: now}}}
	s.Shards[1].Backlog = nil
	tell("  nothing is left to visit here; the run goes on at shard 0\n")
	tell("")
	idle.PagesToVisit = 1
	tell("")
	for _, about := range []answer.ShardStats{{Shard: 1, State: answer.ShardIdle}, // to be taken again, and then to be crawled
		{Shard: 1, State: "waiting", Status: &census.Status{Status: "waiting"}}} {
		s.Shards[1] = about
		tell("")
	}
}
