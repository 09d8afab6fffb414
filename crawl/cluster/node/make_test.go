package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
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

// The file of a shard is made soon where the terrain was founded. At a hub that has lost the charter, another node may
// have claimed the shard and have been away since, so it has some time to say so.
func TestClaimWaits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lost  bool
		least time.Duration
	}{
		{"founded there", false, 2 * time.Second},
		{"lost", true, 50 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCharter(1, nil)
				c.Founded = "there"
				c.introduce(peer{ID: "one"})
				j := joining(t.TempDir(), c, &forgetful{
					record: lease.Entry{Value: strictjson.Encode(c), Revision: 1}, reads: 1 << 30,
				})
				j.Machine = crawl.NewMachine(0)
				made := 0
				m := &maker{
					Options: j.Options, member: newMember(j.Options, j.registry, c), began: time.Now(), held: map[int]bool{},
					group: &errgroup.Group{}, own: func(context.Context, int, *file, bool) (bool, uint64, error) {
						made++
						return false, 0, nil
					},
				}
				m.nodes, m.founded, m.joined = 1, "there", m.began
				time.Sleep(time.Hour) // the others were there before
				if m.nodes = 0; tt.lost {
					m.nodes = 1
					m.member.set(c.forgotten())
				} // otherwise one has joined just now
				noticed := time.Now()
				for len(m.held) == 0 {
					m.claim(t.Context())
					time.Sleep(time.Second)
				}
				if took := time.Since(noticed); took < tt.least || took > tt.least+3*time.Second {
					t.Errorf("made after %s, want %s", took, tt.least)
				}
				if err := m.group.Wait(); err != nil || made != 1 {
					t.Errorf("%d files are made, %v", made, err)
				}
			})
		})
	}
}

// A file that was never claimed is not that of a shard if all shards have files, unless it is to recreate one.
func TestSurplus(t *testing.T) {
	for _, tt := range []struct {
		made, claimed bool
		epoch         uint64
		want          bool
	}{
		{false, false, 0, false}, {true, false, 0, true}, {true, true, 0, false}, {true, false, 1, false},
	} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			c := newCharter(2, nil)
			c.Made = tt.made
			o := joining(t.TempDir(), c, nil).Options
			o.Machine = crawl.NewMachine(0)
			f, err := openFile(o, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if tt.claimed {
				if _, err := f.Begin(); err != nil {
					t.Fatal(err)
				}
			}
			f.epoch = tt.epoch
			n := &node{Options: *o, member: newMember(o, nil, c)}
			n.member.shards[1].ID = "other"
			h := &holding{node: n, shard: 1, file: f}
			written := new(lease.WrittenError)
			if err := h.surplus(); (err != nil) != tt.want || tt.want && (!errors.As(err, &written) || written.ID != "other") {
				t.Errorf("%v", err)
			}
			if _, err := (candidate{f, h}).Begin(); (err != nil) != tt.want {
				t.Errorf("it begins with %v", err)
			}
		})
	}
}
