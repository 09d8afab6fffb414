package node

import (
	"log/slog"
	"slices"
	"testing"
	"time"
)

// Nodes that see the same records make files for different shards. No node makes more than its share or its limit;
// shards that others have left unmade for long are made by any node.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		shards, nodes, most int
		left                bool
		want                []int // by node: how many files it makes
	}{
		{1, 1, 0, false, []int{1}}, {8, 1, 0, false, []int{8}}, {256, 1, 0, false, []int{256}},
		{100, 3, 0, false, []int{34, 34, 34}}, {256, 1, 40, false, []int{40}}, {6, 3, 0, true, []int{6, 6, 6}},
		{6, 3, 4, true, []int{4, 4, 4}}, {3, 3, 0, false, []int{1, 1, 1}}, {2, 3, 0, false, []int{1, 1, 1}},
		{5, 2, 1, false, []int{1, 1}},
	} {
		records, made := make(shards, tt.shards), map[int]int{}
		none := func(int) bool { return false }
		for place, want := range tt.want {
			got := records.share(0, place, tt.nodes, tt.most, tt.left, none)
			if len(got) != want {
				t.Errorf("%+v: node %d makes %v", tt, place, got)
			}
			for _, shard := range got {
				made[shard]++
			}
			if more := records.share(len(got), place, tt.nodes, tt.most, tt.left, none); len(more) > 0 {
				t.Errorf("%+v: node %d, which has %d, makes %v too", tt, place, len(got), more)
			}
		}
		if n := tt.shards / tt.nodes * tt.nodes; tt.most == 0 && !tt.left && len(made) < n {
			t.Errorf("%+v: files are made for %v only", tt, made)
		}
	}
	records := make(shards, 4)
	records[1].Filed, records[2].Epoch = true, 1
	skip := func(shard int) bool { return shard == 0 }
	if got := records.share(0, 0, 1, 0, false, skip); !slices.Equal(got, []int{3}) {
		t.Errorf("of shards with files, and one to skip: %v", got)
	}
}

// Nodes with files are counted once, and files of unknown nodes one by one.
func TestCountsNodes(t *testing.T) {
	for want, ids := range map[int][]string{0: {}, 1: {"a", "a"}, 2: {"a", "b", "a"}, 4: {"", "a", "", "", "a"}} {
		records := make(shards, len(ids))
		for n, id := range ids {
			records[n].ID = id
		}
		if got := records.nodes(); got != want {
			t.Errorf("%q are %d nodes, want %d", ids, got, want)
		}
	}
}

// A shard that another node may have held is not crawled before the other nodes had time to read that this one has it
// now: until then they count too few nodes. A shard of this node is.
func TestMovedWaits(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		n, f := loses(t, slog.DiscardHandler)
		if own {
			n.member.shards[0].ID = n.ID
		}
		before := n.OnShard
		var held time.Time
		n.OnShard = func(shard int, state string) {
			switch took := time.Since(held); state {
			case "held":
				held = time.Now()
			case "over":
				if !own && took < n.Timing.Renew {
					t.Errorf("it is crawled after %s", took)
				}
			}
			before(shard, state)
		}
		h := &holding{node: n, file: f}
		if err := h.once(t.Context()); held.IsZero() || h.moved == own {
			t.Errorf("own: %t, it is moved: %t, %v", own, h.moved, err)
		}
	}
}
