package answer

import (
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/census"
)

// In every condition, the words, the commands and whether there is a rate agree.
func TestConditions(t *testing.T) {
	night := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	crawling := func(status string, wait census.Wait) census.Status {
		s := census.Status{Status: status, Wait: wait, Fetching: 2, Hosts: census.Hosts{Waiting: 3}, Left: census.Left{PagesToVisit: 9}}
		if wait.Reason != 0 {
			s.Fetching = 0
		}
		return s
	}
	terrain := &TerrainStats{Run: 3}
	tests := []struct {
		status   census.Status
		ended    *StatsRun
		name     string
		label    string
		headline string
		commands string
		fetches  bool
	}{
		{crawling("running", census.Wait{}), nil, "running", "running",
			"2 requests are open; 3 hosts are waiting between two requests.", "pause reload stop", true},
		{crawling("running", census.Wait{Reason: census.ForHosts, Host: "a.test", Rest: 5 * time.Second}), nil, "running", "running",
			"3 hosts wait, next in 5 s: a.test.", "pause reload stop", true},
		{crawling("running", census.Wait{Reason: census.ForNothing}), nil, "running", "running",
			"Nothing is left to request.", "pause reload stop", true},
		{crawling("paused", census.Wait{}), nil, "paused", "paused",
			"The crawl is paused; 2 open requests finish.", "unpause reload stop", false},
		{crawling("paused", census.Wait{Reason: census.Paused, Since: night}), nil, "paused", "paused",
			"The crawl is paused. No host has answered since 03:04:05.", "unpause reload stop", false},
		{crawling("running", census.Wait{Reason: census.ForNetwork, Why: "connect timeout", Since: night}), nil, "network",
			"waiting for the network", "No host has answered since 03:04:05 (connect timeout); the network of this machine " +
				"seems to be down, and the crawl resumes when a host answers.", "pause reload stop", false},
		{crawling("running", census.Wait{Reason: census.ForDisk}), nil, "disk", "waiting for the disk",
			"Waiting for the disk.", "pause reload stop", false},
		{crawling("running", census.Wait{Reason: census.ForMeans, Few: 8}), nil, "memory", "short of memory or time",
			"This machine lacks resources or processor time: at most 8 requests are open for a while.", "pause reload stop", true},
		{crawling("stopping", census.Wait{}), nil, "stopping", "stopping",
			"The crawl is stopping; 2 open requests finish.", "", false},
		{crawling("writing", census.Wait{}), nil, "writing", "writing outputs",
			"The crawl is over; its outputs are being written.", "", false},
		{census.Status{Left: census.Left{PagesToVisit: 12}}, &StatsRun{ID: 2, Status: "interrupted", Reason: "ripple stop"},
			"stopped", "stopped", `Run #2 was stopped with "ripple stop". 12 pages are waiting; "ripple crawl" resumes it.`, "", false},
		{census.Status{Left: census.Left{PagesToVisit: 1}}, &StatsRun{ID: 2, Status: "interrupted"}, "interrupted", "interrupted",
			`Run #2 was interrupted. 1 page is waiting; "ripple crawl" resumes it.`, "", false},
		{census.Status{Left: census.Left{PagesToVisit: 3}}, &StatsRun{ID: 2, Status: "interrupted", Reason: "reclassified"},
			"interrupted", "open again",
			`Run #2 is open again: pages were reclassified. 3 pages are waiting; "ripple crawl" resumes it.`, "", false},
		{census.Status{}, &StatsRun{ID: 2, Status: "interrupted", Reason: "stopped before its outputs were written"}, "interrupted",
			"interrupted", `Run #2 was interrupted: stopped before its outputs were written. "ripple crawl" resumes it.`, "", false},
		{census.Status{}, &StatsRun{ID: 2, Status: "completed", Reason: "the frontier is empty"}, "completed", "completed",
			"Run #2 is completed: the frontier is empty.", "", false},
		{census.Status{}, &StatsRun{ID: 2, Status: "running"}, "running", "running",
			"Run #2 is running on shards; this is a copy of them.", "", false},
		{census.Status{}, &StatsRun{}, "none", "no run yet", `No run has begun yet. "ripple crawl" begins one.`, "", false},
	}
	check := func(c census.Condition, name, label, headline, commands string, fetches bool) {
		t.Helper()
		if c.Name != name || c.Label != label || c.Headline != headline || c.Commands == nil ||
			strings.Join(c.Commands, " ") != commands || c.Fetches != fetches {
			t.Errorf("%+v", c)
		}
	}
	for _, tt := range tests {
		if tt.ended == nil {
			Tell(&tt.status)
			check(tt.status.Condition, tt.name, tt.label, tt.headline, tt.commands, tt.fetches)
		} else {
			check(ConditionOf(&tt.status, tt.ended), tt.name, tt.label, tt.headline, tt.commands, tt.fetches)
		}
	}
	check(ConditionOfTerrain(terrain, "", night), "running", "running", "Run #3 is running.", "pause reload stop", true)
	waiting := func(n int, wait census.Wait) ShardStats {
		s := crawling("running", wait)
		Tell(&s)
		return ShardStats{Shard: n, State: "running", Status: &s}
	}
	full, away := census.Wait{Reason: census.ForDisk}, census.Wait{Reason: census.ForNetwork}
	some := &TerrainStats{Run: 3, Shards: []ShardStats{waiting(0, census.Wait{}), waiting(1, full), waiting(2, away)}}
	check(ConditionOfTerrain(some, "", night), "running", "running",
		"Shard 1: waiting for the disk. Shard 2: waiting for the network. Run #3 is running.", "pause reload stop", true)
	all := &TerrainStats{Run: 3, Shards: []ShardStats{waiting(0, full), waiting(1, full), {Shard: 2, State: ShardOver}}}
	check(ConditionOfTerrain(all, "", night), "disk", "waiting for the disk",
		"Shards 0, 1: waiting for the disk. Run #3 is running.", "pause reload stop", false)
	for cause, c := range map[census.Cause]census.Condition{
		census.NoCause: ConditionOfTerrain(some, "", night), census.CauseDisk: ConditionOfTerrain(all, "", night),
		census.CauseHub:     ConditionOfTerrain(all, "the hub does not answer", night),
		census.CauseShard:   ConditionOfTerrain(&TerrainStats{Run: 3, Silent: 2}, "", night),
		census.CausePeople:  ConditionOfTerrain(&TerrainStats{Run: 3, Paused: true}, "", night),
		census.CauseMemory:  waiting(0, census.Wait{Reason: census.ForMeans}).Status.Condition,
		census.CauseNetwork: waiting(0, away).Status.Condition,
	} {
		if c.Cause != cause {
			t.Errorf("%+v: it waits for %q, want %q", c, c.Cause, cause)
		}
	}
	check(ConditionOfTerrain(nil, "", night), "none", "no run yet", "Nothing is known about the terrain yet.", "", false)
	check(ConditionOfTerrain(terrain, "the hub does not answer", night), "hub", "waiting for the hub",
		"The hub does not answer. This was the state of the terrain at 03:04:05.", "", false)
	check(ConditionOfTerrain(&TerrainStats{Run: 3, Silent: 2}, "", night), "silent", "2 silent",
		"Run #3 is open until 2 silent shards answer.", "pause reload stop", true)
	check(ConditionOfTerrain(&TerrainStats{Run: 3, Paused: true}, "", night), "paused", "paused", "Run #3 is paused.",
		"unpause reload stop", false)
	check(ConditionOfTerrain(&TerrainStats{Run: 3, Without: []int{1, 2}}, "", night), "interrupted", "interrupted",
		`Run #3 was interrupted without shards 1, 2. "ripple crawl" on each machine resumes it.`, "", false)
	check(ConditionOfTerrain(&TerrainStats{Run: 3, Over: true}, "", night), "completed", "completed",
		"Run #3 has ended on all shards.", "", false)
}
