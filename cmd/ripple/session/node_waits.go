package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema"
)

// mostWaits is the maximum number of notes that are reported at once.
const mostWaits = 5

// tellWaits reports what a node that makes no requests waits for, unless nothing has changed since
// the last report.
func (v *nodeView) tellWaits(s *answer.TerrainStats, now time.Time) {
	var same []string
	notes := slices.DeleteFunc(s.Notes(now), func(n answer.TerrainNote) bool { return !v.concerns(s, n) })
	if len(notes) == 0 {
		notes = v.others(s)
	}
	for _, n := range notes {
		same = append(same, n.Same)
	}
	if slices.Equal(same, v.waits) {
		return
	}
	v.waits = same
	for _, n := range notes[:min(len(notes), mostWaits)] {
		v.voice.Tell(term.Event("node waits", "  "+n.Text, "why", n.Text))
	}
	if more := len(notes) - mostWaits; more > 0 {
		v.voice.Say(fmt.Sprintf("  and %d more like these, which \"ripple stats\" shows", more))
	}
}

// concerns reports whether this node waits for what a note is about. It does not wait for itself,
// for example if it is about to take the shard, and another node reports what its own shards wait
// for.
func (v *nodeView) concerns(s *answer.TerrainStats, n answer.TerrainNote) bool {
	if n.Shard < 0 {
		return true
	}
	switch s.Shards[n.Shard].State {
	case answer.ShardSilent, answer.ShardIdle, answer.ShardUnmade:
		return !v.has(n.Shard)
	}
	return v.has(n.Shard)
}

// others reports which shards of other nodes are still being crawled when those of this node have
// nothing left. It reports nothing while this node is about to take or to crawl a shard, because
// the work left there is unknown.
func (v *nodeView) others(s *answer.TerrainStats) []answer.TerrainNote {
	var busy []int
	for n, one := range s.Shards {
		left := one.Status != nil && one.State != answer.ShardOver && one.Status.PagesToVisit > 0
		switch {
		case v.has(n) && (left || one.Status == nil && one.State != answer.ShardOver || one.State == "waiting"):
			return nil
		case left:
			busy = append(busy, n)
		}
	}
	if busy == nil {
		return nil
	}
	return []answer.TerrainNote{answer.NoteOf(-1, "nothing is left to visit here; the run goes on at %s",
		schema.ShardsOf(busy...).Named())}
}

// has reports whether this node holds a shard.
func (v *nodeView) has(shard int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch v.shard(shard).state {
	case "", "lost", "released", "given", "moved", "gone", "stale", "elsewhere":
		return false
	}
	return true
}
