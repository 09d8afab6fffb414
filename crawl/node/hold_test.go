package node

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/exchange"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/crawl/ring"
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

// A teller asks another shard what its file contains.
type teller struct {
	*desk
	over ended
}

func (teller) Referral(*kv.Tx, schema.ID) (ring.Referral, error) {
	return ring.Referral{}, exchange.ErrNobody
}
func (teller) MarkAgain(*kv.Tx, int, schema.ID, int) (schema.ID, error) {
	return 0, exchange.ErrNobody
}
func (s teller) Ask(ctx context.Context, _ int, letter []byte) ([]byte, error) {
	return s.over.Answer(ctx, letter)
}

// A shard whose run is over says what its file contains, or those that are not over would wait
// for that as long as nobody answers at all.
func TestConfirmedWhileOver(t *testing.T) {
	t.Parallel()
	c := newCharter(2, nil)
	open := func(shard int, more func(*kv.Tx) error) *kv.Store {
		store, err := kv.Open(filepath.Join(t.TempDir(), "state.bolt"), kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		err = store.Update(func(tx *kv.Tx) error { return errors.Join(tx.Part.Put(c.part(shard)), more(tx)) })
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	var opening schema.Opening
	over := open(0, func(tx *kv.Tx) (err error) {
		opening, err = tx.Openings.Begin()
		return errors.Join(err, tx.Runs.Put(schema.Run{ID: 1, Status: schema.RunCompleted, Walked: true}))
	})
	e, err := newEnded(&file{Store: over}, [32]byte{}, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []uint64{0, 1} {
		store := open(1, func(tx *kv.Tx) error {
			return tx.Peers.Put(0, schema.Peer{Opening: opening, Commit: over.LastCommit() + ahead})
		})
		s := teller{&desk{file: &file{Store: store}, held: func() bool { return true }}, e}
		contained, err := exchange.NewSender(s, s, 0).Confirm(t.Context())
		if err != nil || contained != (ahead == 0) {
			t.Errorf("a commit that is %d ahead: %v, %v", ahead, contained, err)
		}
	}
	if answer, err := e.Answer(t.Context(), []byte("nonsense")); err != nil {
		t.Errorf("nonsense is answered with %q, %v", answer, err)
	}
}
