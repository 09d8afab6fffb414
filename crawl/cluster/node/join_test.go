package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A forgetful bucket has one record, which it loses once, after a number of reads.
type forgetful struct {
	lease.Bucket
	record lease.Entry
	reads  int // until the record is lost
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

// If the hub loses the charter at any moment while a node joins, the charter is restored.
func TestCharterIsLostWhileJoining(t *testing.T) {
	folder := t.TempDir()
	c := chartered(1, false, false)
	c.Config = digests((&config.Config{}).Shared())
	if err := makeFile(folder, 0, func(tx *kv.Tx) error { return tx.Part.Put(c.part(0)) }); err != nil {
		t.Fatal(err)
	}
	for reads := range 4 {
		hub := &forgetful{record: lease.Entry{Value: strictjson.Encode(c), Revision: 1}, reads: reads}
		joined, files, err := joining(folder, c, hub).join(t.Context())
		if err != nil {
			t.Fatalf("lost after read %d: %v", reads, err)
		}
		if err := closeAll(files); err != nil {
			t.Fatal(err)
		}
		if joined == nil || !joined.same(c) || reads < 2 && hub.record.Value == nil {
			t.Errorf("lost after read %d: the charter is %+v", reads, joined)
		}
	}
}

// A node whose folder is marked with a terrain and has no crawled file does not join another terrain, which may
// have been begun because the hub has lost everything. The mark stays the same.
func TestMarkedWithAnother(t *testing.T) {
	c := chartered(1, false, false)
	c.Config = digests((&config.Config{}).Shared())
	another := bytes.Repeat([]byte{9}, 16)
	for _, tt := range []struct {
		name   string
		mark   []byte // nil: none
		empty  bool   // there is a file that was never crawled
		joined bool
	}{
		{"no mark", nil, false, true},
		{"no mark, an empty file", nil, true, true},
		{"the same", c.Terrain, false, true},
		{"the same, an empty file", c.Terrain, true, true},
		{"another", another, false, false},
		{"another, an empty file", another, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			record := lease.Entry{Value: strictjson.Encode(c), Revision: 1}
			j := joining(t.TempDir(), c, &forgetful{record: record, reads: 1 << 30})
			var err error
			if tt.mark != nil {
				err = mark(j.Folder, tt.mark)
			}
			if tt.empty {
				err = errors.Join(err, makeFile(j.Folder, 1, func(*kv.Tx) error { return nil }))
			}
			if err != nil {
				t.Fatal(err)
			}
			_, files, err := j.join(t.Context())
			if (err == nil) != tt.joined || err != nil && !errors.Is(err, ErrTerrain) {
				t.Errorf("it ends with %v", err)
			}
			if err := closeAll(files); err != nil {
				t.Fatal(err)
			}
			if is, err := marked(j.Folder); err != nil || !bytes.Equal(is, tt.mark) {
				t.Errorf("afterwards the mark is %x, %v", is, err)
			}
		})
	}
}

// A node whose folder is marked and has no crawled file waits at a hub that knows no terrain. It logs once that it
// waits, and how to begin another terrain.
func TestMarkedWaits(t *testing.T) {
	for _, empty := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, hub, said := chartered(1, false, false), &forgetful{reads: 1 << 30}, &bytes.Buffer{}
			j := joining(t.TempDir(), c, hub)
			j.Log = slog.New(slog.NewTextHandler(said, nil))
			err := mark(j.Folder, c.Terrain)
			if empty {
				err = errors.Join(err, makeFile(j.Folder, 1, func(*kv.Tx) error { return nil }))
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			_, files, err := j.join(ctx)
			if !errors.Is(err, context.DeadlineExceeded) || hub.record.Value != nil {
				t.Errorf("with an empty file, %t, it ends with %v, and the hub has %q", empty, err, hub.record.Value)
			}
			if err := closeAll(files); err != nil {
				t.Error(err)
			}
			path := filepath.Join(j.Folder, MarkName)
			if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `remove"=`+path) {
				t.Errorf("with an empty file, %t, it says %q", empty, text)
			}
		})
	}
}

// A late bucket has no charter until another node restores it.
type late struct {
	forgetful
	restored time.Time // zero: never
	text     []byte
}

func (b *late) Get(ctx context.Context, key string) (lease.Entry, error) {
	if b.record.Value == nil && !b.restored.IsZero() && !time.Now().Before(b.restored) {
		b.record = lease.Entry{Value: b.text, Revision: 1}
	}
	return b.forgetful.Get(ctx, key)
}

// A node without files begins a terrain only at a hub that nobody has used, or if it is told to, and then only if
// nobody restores another one. Otherwise it waits until the terrain is restored, and says so.
func TestBeginsTerrain(t *testing.T) {
	for _, tt := range []struct {
		name     string
		fresh    bool
		told     bool          // to begin one
		restored time.Duration // when another node restores the terrain; 0: never
		begins   time.Duration // when it begins one; 0: it does not
		says     bool
	}{
		{name: "fresh", fresh: true, begins: time.Millisecond},
		{name: "used", says: true},
		{name: "used, and restored", restored: time.Hour, says: true},
		{name: "told", told: true, begins: 10 * time.Second},
		{name: "told, and restored", told: true, restored: 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, began, said := chartered(1, false, false), time.Now(), &bytes.Buffer{}
				hub := &late{forgetful: forgetful{reads: 1 << 30}, text: strictjson.Encode(c)}
				if tt.restored > 0 {
					hub.restored = began.Add(tt.restored)
				}
				j := joining(t.TempDir(), c, hub)
				j.Shards, j.NewTerrain, j.Log = 2, tt.told, slog.New(slog.NewTextHandler(said, nil))
				j.fresh = func(context.Context) (bool, error) { return tt.fresh, nil }
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				joined, _, err := j.join(ctx)
				switch took := time.Since(began); {
				case tt.begins == 0 && tt.restored == 0:
					if !errors.Is(err, context.DeadlineExceeded) || hub.record.Value != nil {
						t.Errorf("it ends with %v, and the hub has %q", err, hub.record.Value)
					}
				case err != nil:
					t.Fatal(err)
				case joined.same(c) != (tt.restored > 0):
					t.Errorf("it joins the terrain of the others: %t", joined.same(c))
				case tt.begins > 0 && (took < tt.begins-time.Millisecond || took > tt.begins+3*time.Second):
					t.Errorf("it begins a terrain after %s, want %s", took, tt.begins)
				}
				if text := said.String(); strings.Contains(text, "--new-terrain") != tt.says || strings.Count(text, "waiting") > 1 {
					t.Errorf("it says %q", text)
				}
			})
		})
	}
}

// joining returns a node that is about to join the terrain of a charter at a hub.
func joining(folder string, c *charter, hub lease.Bucket) *joiner {
	timing := lease.Of(25 * time.Second)
	return &joiner{
		registry: &registry{bucket: hub, timing: timing}, config: c.Config, began: time.Now(),
		fresh: func(context.Context) (bool, error) { return true, nil }, Options: &Options{
			ID: "one", Name: "one", Folder: folder, Config: &config.Config{}, Timing: timing, Log: slog.New(slog.DiscardHandler),
			Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
		},
	}
}

// makeFile makes the file of a shard in a folder.
func makeFile(folder string, shard int, write func(*kv.Tx) error) error {
	store, err := kv.Open(FilePath(folder, shard), kv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(store.Update(write), store.Close())
}
