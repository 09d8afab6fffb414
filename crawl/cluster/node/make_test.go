package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
)

// However many shards there are, their files are made in a few turns. No node makes more than its share or its
// limit; shards that others have left unmade for long are made by any node.
func TestClaim(t *testing.T) {
	tests := []struct {
		name              string
		shards, maxShards int
		others            int // nodes
		left              bool
		want              []int // claimed in each turn
	}{
		{"one", 1, 0, 0, false, []int{1}},
		{"eight", 8, 0, 0, false, []int{8}},
		{"as many as may be", 256, 0, 0, false, []int{256}},
		{"a third of them", 100, 0, 2, false, []int{34}},
		{"not more than it may hold", 256, 40, 0, false, []int{40}},
		{"left by others", 6, 0, 2, true, []int{6}},
		{"left, and more than it may hold", 6, 4, 2, true, []int{4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCharter(tt.shards, nil)
			c.number("me")
			for _, other := range []string{"a", "b"}[:tt.others] {
				c.number(other)
			}
			var got []int
			for had := 0; c.claim("me", tt.maxShards, tt.left); had = len(c.of("me")) {
				got = append(got, len(c.of("me"))-had)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("claimed %v, want %v", got, tt.want)
			}
		})
	}
}

// A shard without a file is reserved soon where the terrain was founded. At a hub that has lost the charter, another
// node may have reserved it and have been away since, so it has some time to say so.
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
				c.number("one")
				had := c
				if tt.lost {
					had = c.forgotten()
				}
				j := joining(t.TempDir(), c, &forgetful{
					record: lease.Entry{Value: strictjson.Encode(had), Revision: 1}, reads: 1 << 30,
				})
				j.Machine = crawl.NewMachine(0)
				m := &maker{Options: j.Options, member: newMember(j.Options, j.registry, c), began: time.Now()}
				m.nodes, m.founded, m.joined = 1, "there", m.began
				time.Sleep(time.Hour) // the others were there before
				if tt.lost {
					if err := m.member.claim(t.Context(), 0, true); err != nil || m.member.get().made() {
						t.Fatalf("it reserves a shard when it notices that the hub has lost the charter: %v", err)
					}
				} else {
					m.nodes = 0 // one has joined just now
				}
				noticed := time.Now()
				for !m.member.get().made() {
					if err := m.claim(t.Context()); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				if took := time.Since(noticed); took < tt.least || took > tt.least+3*time.Second {
					t.Errorf("reserved after %s, want %s", took, tt.least)
				}
			})
		})
	}
}
