package node

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A shard whose run is over is taken anew when its lease is lost while another is not over
// yet: who looks for the end would wait for its answers for ever.
func TestLostWhileOver(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	server, err := hub.Start(hub.Options{Listen: "127.0.0.1:0", Store: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	conn, err := hub.Connect(t.Context(), hub.Dial{URL: server.URL(), Node: "me", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	bucket, err := conn.Bucket(t.Context(), [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	c := newCharter(2, nil)
	c.Made, c.Over = []int{c.number("me"), elsewhere}, []bool{true, false}
	n := &node{registry: registry{bucket, lease.Standard().Faster(30)}, bucket: bucket, wire: wire{bucket.Carrier()}, run: 1,
		charter: c, cfg: &config.Config{}, number: 1}
	n.Options = Options{
		Name: "me", Folder: t.TempDir(), Config: &config.Config{}, Log: log, Timing: n.registry.timing,
		Machine: crawl.NewMachine(0), Clock: lease.MachineClock(),
		Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
		OnShard: func(_ int, state string) {
			if state == "over" {
				server.Close()
			}
		},
	}
	f, err := openFile(&n.Options, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Update(func(tx *kv.Tx) error {
		run := schema.Run{ID: 1, Status: schema.RunCompleted, Walked: true}
		return errors.Join(tx.Part.Put(c.part(0)), tx.Runs.Put(run))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.holdOnce(t.Context(), 0, f); !errors.Is(err, lease.ErrLost) {
		t.Errorf("without the hub: %v", err)
	}
}
