package node

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
)

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
				j.Shared = crawl.NewShared(0)
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
			o.Shared = crawl.NewShared(0)
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
