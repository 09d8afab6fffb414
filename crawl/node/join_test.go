package node

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A forgetful bucket has one record, which it loses once when that has been read so often.
type forgetful struct {
	lease.Bucket
	record lease.Entry
	reads  int // until it is lost
}

func (*forgetful) Session(context.Context) (string, error) { return "", nil }

func (b *forgetful) Get(context.Context, string) (lease.Entry, error) {
	if b.reads--; b.reads < 0 {
		b.record, b.reads = lease.Entry{}, 1<<30
	}
	if b.record.Value == nil {
		return b.record, lease.ErrNone
	}
	return b.record, nil
}

func (b *forgetful) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	return b.Update(ctx, key, value, 0)
}

func (b *forgetful) Update(_ context.Context, _ string, value []byte, revision uint64) (uint64, error) {
	if revision != b.record.Revision {
		return 0, lease.ErrChanged
	}
	b.record = lease.Entry{Value: value, Revision: revision + 1}
	return revision + 1, nil
}

// A hub that loses the charter at any moment while a node joins has it afterwards.
func TestCharterIsLostWhileJoining(t *testing.T) {
	folder := t.TempDir()
	c, cfg := chartered(1, false, false), &config.Config{}
	c.Config = digests(cfg.Shared())
	store, err := kv.Open(filepath.Join(folder, "shard-000.bolt"), kv.Options{})
	if err == nil {
		err = store.Update(func(tx *kv.Tx) error { return tx.Part.Put(c.part(0)) })
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for reads := range 4 {
		hub := &forgetful{record: lease.Entry{Value: encode(c), Revision: 1}, reads: reads}
		n := &node{registry: registry{hub, lease.Standard()}, config: c.Config, began: time.Now()}
		n.Options = Options{
			Name: "one", Folder: folder, Config: cfg, Timing: lease.Standard(), Log: slog.New(slog.DiscardHandler),
			Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
		}
		files, err := n.join(t.Context())
		if err != nil {
			t.Fatalf("lost after read %d: %v", reads, err)
		}
		if err := closeAll(files); err != nil {
			t.Fatal(err)
		}
		if n.charter == nil || !n.charter.same(c) || reads < 2 && hub.record.Value == nil {
			t.Errorf("lost after read %d: the charter is %+v", reads, n.charter)
		}
	}
}
