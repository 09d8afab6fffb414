package meter

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// samples returns the lines of a scrape with the given prefix.
func samples(t *testing.T, m *Meter, prefix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(scrape(t, m)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, prefix) {
			found[name] = value
		}
	}
	return found
}

// Metrics of a shard have its number as a label; metrics of the process occur once.
func TestShards(t *testing.T) {
	m := New(Build{})
	zero, two := m.Shard(0, running), m.Shard(2, running)
	zero.Visited(crawl.Event{State: schema.Processed})
	two.Visited(crawl.Event{State: schema.Processed})
	two.Visited(crawl.Event{State: schema.Failed})
	m.Committed(crawl.Commit{Outcomes: []ring.Outcome{outcome(200, fetch.None)}})
	for prefix, want := range map[string]map[string]string{
		"ripple_pages": {
			`ripple_pages{shard="0",state="processed"}`: "1", `ripple_pages{shard="2",state="processed"}`: "1",
			`ripple_pages{shard="2",state="failed"}`: "1",
		},
		"ripple_outbox":   {`ripple_outbox_messages{shard="0"}`: "5", `ripple_outbox_messages{shard="2"}`: "5"},
		"ripple_requests": {`ripple_requests_total{code="200"}`: "1"},
		"ripple_run": {
			`ripple_run_info{run_id="7",shard="0",status="running"}`: "1",
			`ripple_run_info{run_id="7",shard="2",status="running"}`: "1",
		},
	} {
		if diff := cmp.Diff(want, samples(t, m, prefix)); diff != "" {
			t.Errorf("%s: %s", prefix, diff)
		}
	}
	if n := len(samples(t, m, "ripple_memory_bytes")); n != 1 {
		t.Errorf("the memory of the process is shown %d times", n)
	}
}

// A crawl that has ended keeps its last figures and is not read again. A shard that may have moved to another
// node is dropped, and can be added again.
func TestShardsEnd(t *testing.T) {
	m, asked := New(Build{}), 0
	count := func(ctx context.Context) Moment { asked++; return running(ctx) }
	p := m.Shard(3, count)
	scrape(t, m)
	p.Freeze(Moment{State: 1})
	if got := samples(t, m, "ripple_state")[`ripple_state_bytes{shard="3"}`]; got != "1" || asked != 1 {
		t.Errorf("state %q, asked %d times", got, asked)
	}
	p.Drop()
	p.Drop()
	if left := samples(t, m, "ripple_state"); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	m.Shard(3, count)
	if got := samples(t, m, "ripple_state")[`ripple_state_bytes{shard="3"}`]; got != "4096" {
		t.Errorf("state %q", got)
	}
}

// A terrain that was never seen has no figures, which could be mistaken for facts.
func TestTerrain(t *testing.T) {
	m, now := New(Build{}), Terrain{}
	m.Terrain(func(context.Context) Terrain { return now })
	want := map[string]string{"ripple_terrain_seen_timestamp_seconds": "0"}
	if diff := cmp.Diff(want, samples(t, m, "ripple_terrain")); diff != "" {
		t.Error(diff)
	}
	now = Terrain{Cause: census.CauseHub}
	causes := func(is string) map[string]string {
		all := map[string]string{}
		for _, cause := range []string{"disk", "memory", "hub", "network", "shard", "people"} {
			all[fmt.Sprintf("ripple_terrain_waiting{for=%q}", cause)] = map[bool]string{true: "1", false: "0"}[cause == is]
		}
		return all
	}
	maps.Copy(want, causes("hub"))
	if diff := cmp.Diff(want, samples(t, m, "ripple_terrain")); diff != "" {
		t.Error(diff)
	}
	maps.Copy(want, causes("shard"))
	now = Terrain{Seen: time.Unix(100, 0), Nodes: 2, Cause: census.CauseShard, Shards: map[string]int{"running": 3, "silent": 2},
		Silent: map[int]time.Time{1: time.Unix(90, 0), 4: time.Unix(80, 5e8)}}
	maps.Copy(want, map[string]string{
		"ripple_terrain_seen_timestamp_seconds": "100", "ripple_terrain_nodes": "2",
		`ripple_terrain_shards{state="running"}`: "3", `ripple_terrain_shards{state="silent"}`: "2",
		`ripple_terrain_silent_since_timestamp_seconds{shard="1"}`: "90",
		`ripple_terrain_silent_since_timestamp_seconds{shard="4"}`: "80.5",
		"ripple_terrain_oldest_wait_timestamp_seconds":             "80.5",
	})
	if diff := cmp.Diff(want, samples(t, m, "ripple_terrain")); diff != "" {
		t.Error(diff)
	}
	m.Shard(0, running)
	problems, err := promlint.New(strings.NewReader(scrape(t, m))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
