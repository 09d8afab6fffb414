package node

import (
	"context"
	"errors"
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

// A file that was made and never claimed is not that of a shard if all shards have files, unless it is to recreate one.
// Neither is one that lacks what the record of the shard said last, in the same epoch.
func TestRefusesFile(t *testing.T) {
	for _, tt := range []struct {
		name    string
		made    bool
		claimed bool // the file was
		epoch   uint64
		record  lease.Holder // apart from the ID; Commit: ahead of that of the file
		want    bool
	}{
		{"some have no file yet", false, false, 0, lease.Holder{}, false},
		{"all have files", true, false, 0, lease.Holder{}, true},
		{"claimed", true, true, 0, lease.Holder{}, false},
		{"to recreate", true, false, 1, lease.Holder{Epoch: 1}, false},
		{"the last one", true, true, 0, lease.Holder{Filed: true}, false},
		{"an older copy", true, true, 0, lease.Holder{Filed: true, Commit: 1}, true},
		{"one that was given up", true, true, 0, lease.Holder{Filed: true, Commit: 1, Epoch: 1}, false},
		{"another has claimed it", false, false, 0, lease.Holder{Filed: true}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCharter(2, nil)
			c.Made = tt.made
			o := joining(t.TempDir(), c, nil).Options
			o.Shared = crawl.NewShared(0)
			f, err := openFile(o, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if tt.record.ID = "other"; tt.claimed {
				if tt.record.Opening, err = f.Begin(); err != nil {
					t.Fatal(err)
				}
			}
			tt.record.Commit += f.LastCommit()
			f.epoch = tt.epoch
			n := &node{Options: *o, member: newMember(o, nil, c)}
			n.member.shards[1] = tt.record
			h := &holding{node: n, shard: 1, file: f}
			written := new(lease.WrittenError)
			if err := h.refused(); (err != nil) != tt.want || tt.want && (!errors.As(err, &written) || written.ID != "other") {
				t.Errorf("%v", err)
			}
			if _, err := (candidate{f, h}).Begin(); (err != nil) != tt.want {
				t.Errorf("it begins with %v", err)
			}
		})
	}
}
