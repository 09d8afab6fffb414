package session

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A kept page does not count as visited by a node.
func TestNodeVisits(t *testing.T) {
	v := newNodeView(term.NewVoice(io.Discard), "", &config.Config{}, Options{})
	v.visited(0, crawl.Event{Asked: true})
	v.visited(0, crawl.Event{})
	if n := v.pages.Load(); n != 1 {
		t.Errorf("%d pages are visited, want 1", n)
	}
}

// A node without a hub says so in the line about its progress, and nothing about other machines: what they do is
// unknown.
func TestNodeWithoutHub(t *testing.T) {
	server, err := hub.Start(hub.Options{Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	conn, err := hub.Connect(t.Context(), hub.Dial{URL: server.URL(), Node: "attic", Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var said strings.Builder
	v := newNodeView(term.NewVoice(&said), "", &config.Config{Cluster: config.Cluster{Lease: 10 * time.Minute}}, Options{})
	v.desk.Look.Conn, v.desk.away = conn, v.away
	v.shards = map[int]*held{0: {state: "crawling"}}
	server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	v.desk.Look.look(ctx)
	since := conn.Away()
	if since.IsZero() {
		t.Fatal("the hub is not away")
	}
	now := since.Add(12 * time.Second)
	if got, want := v.away(now), "no hub for 12 s; without it nothing is requested after 10 min 00 s"; got != want {
		t.Errorf("with a lease: %q, want %q", got, want)
	}
	v.shards[0].state = "lost"
	if got, want := v.away(now), "no hub for 12 s: nothing is requested until it answers"; got != want {
		t.Errorf("without a lease: %q, want %q", got, want)
	}
	v.report()
	if got := said.String(); !strings.HasPrefix(got, "no hub") {
		t.Errorf("it says %q", got)
	}
	seen := v.desk.Now(t.Context())
	if c := seen.Condition; c.Name != "hub" || !strings.HasPrefix(c.Headline, "No hub") || c.Fetches {
		t.Errorf("the desk shows %+v", c)
	}
}

// A waiting node reports once what it waits for, and again when that changes.
func TestNodeWaits(t *testing.T) {
	var said strings.Builder
	v := newNodeView(term.NewVoice(&said), "", &config.Config{}, Options{})
	v.shards = map[int]*held{0: {state: "waiting"}, 1: {state: "crawling"}}
	now := time.Now()
	idle := &census.Status{Status: "running"}
	s := &answer.TerrainStats{Shards: []answer.ShardStats{
		{State: answer.ShardIdle, Node: "attic"}, {Shard: 1, State: "running", Status: idle},
	}}
	tell := func(want string) {
		t.Helper()
		now = now.Add(time.Minute)
		said.Reset()
		v.tellWaits(s, now)
		if got := said.String(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	tell("") // the shard waits for this node
	v.shards[0].state = "released"
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
	for _, about := range []answer.ShardStats{ // waiting to be taken again, and then to be crawled
		{Shard: 1, State: answer.ShardIdle}, {Shard: 1, State: "waiting", Status: &census.Status{Status: "waiting"}}} {
		s.Shards[1] = about
		tell("")
	}
}
