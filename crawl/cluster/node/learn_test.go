package node

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/schema"
)

// Whatever a hub loses or brings back, what the nodes know about the terrain never gets older: neither its run, nor the
// epochs of its shards, the pauses, the stop, nor that all shards have files. In the end all nodes know the same.
func TestLearnAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := newCharter(3, map[string]string{"a.b": "0"})
		hub, kept := first.clone(), first.clone()
		nodes := []*charter{first.clone(), first.clone(), first.clone()}
		look := func(n int) {
			known := nodes[n]
			if hub == nil {
				hub = known.forgotten()
			}
			was := hub.clone()
			if news := hub.learn(known); news == equal(hub, was) {
				t.Fatalf("news: %t, and %+v becomes %+v", news, was, hub)
			}
			if hub.learn(known) {
				t.Fatalf("%+v is news twice: %+v", known, hub)
			}
			for _, older := range []*charter{known, was} {
				if hub.Run < older.Run || hub.moment().before(older.moment()) || hub.Pauses < older.Pauses ||
					hub.Stop.Number < older.Stop.Number || older.Made && !hub.Made {
					t.Fatalf("%+v has become older: %+v", older, hub)
				}
				for shard, epoch := range older.Epochs {
					if again := hub.Run == older.Run && hub.Epochs[shard] == epoch && older.Over[shard]; again && !hub.Over[shard] ||
						hub.Epochs[shard] < epoch {
						t.Fatalf("shard %d: %+v has become older: %+v", shard, older, hub)
					}
				}
			}
			nodes[n] = hub.clone()
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n := rapid.IntRange(0, len(nodes)-1).Draw(t, "node")
			what := rapid.IntRange(0, 9).Draw(t, "what")
			switch {
			case what == 0:
				hub = nil
			case what == 1:
				hub = kept.clone()
			case hub == nil || what == 2:
				look(n)
			case what == 3:
				kept = hub.clone()
			default:
				look(n)
				happens(hub, rapid.IntRange(0, 6).Draw(t, "change"), rapid.IntRange(0, 2).Draw(t, "shard"))
				nodes[n] = hub.clone()
			}
		}
		for range 2 {
			for n := range nodes {
				look(n)
			}
		}
		for n := range nodes {
			if !equal(nodes[n], hub) {
				t.Fatalf("node %d knows %+v, the hub %+v", n, nodes[n], hub)
			}
		}
	})
}

// happens changes a charter as nodes and commands do.
func happens(c *charter, what, shard int) {
	switch what {
	case 0:
		c.pause(!c.paused())
	case 1:
		c.Config, c.Configuration = map[string]string{"a.b": strconv.Itoa(shard)}, c.Configuration+1
	case 2:
		c.raise(shard, c.Epochs[shard]+1)
	case 3:
		c.Stop = stop{Number: c.Stop.Number + 1, Run: c.Run, Without: schema.ShardsOf(shard)}
	case 4:
		c.Made = true
	case 5:
		c.Over[shard] = true
	case 6:
		c.Run++
		clear(c.Over)
	}
}

// equal reports whether two charters say the same.
func equal(a, b *charter) bool {
	return a.Run == b.Run && a.Configuration == b.Configuration && maps.Equal(a.Config, b.Config) && a.Stop == b.Stop &&
		a.Pauses == b.Pauses && a.Made == b.Made && a.Restored == b.Restored && slices.Equal(a.Over, b.Over) &&
		slices.Equal(a.Epochs, b.Epochs) && a.Portions.Changes == b.Portions.Changes
}
