package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
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

// An interrupted bucket does not answer at certain times, and has a new session after each of them.
type interrupted struct {
	forgetful
	away [][2]time.Duration // from and to, since the beginning
	from time.Time
	told time.Duration // when another node restores its charter; 0: never
	text []byte        // of that charter
}

func (b *interrupted) Session(context.Context) (string, error) {
	at, session := time.Since(b.from), 0
	if b.told > 0 && at >= b.told && b.record.Value == nil {
		b.record = lease.Entry{Value: b.text, Revision: 1}
	}
	for _, away := range b.away {
		if at >= away[0] && at < away[1] {
			return "", errors.New("away")
		}
		if at >= away[1] {
			session++
		}
	}
	return strconv.Itoa(session), nil
}

// A node without files gives the others Renew to restore the charter, beginning when the hub answers, and again
// when it answers after it was away.
func TestAwait(t *testing.T) {
	for _, tt := range []struct {
		name   string
		away   [][2]time.Duration
		begins time.Duration // when a terrain is begun, if none is restored
	}{
		{"it is there", nil, 10 * time.Second},
		{"it comes late", [][2]time.Duration{{0, 12 * time.Second}}, 22 * time.Second},
		{"it is away in between", [][2]time.Duration{{5 * time.Second, 7500 * time.Millisecond}}, 17500 * time.Millisecond},
		{"it is another one", [][2]time.Duration{{5500 * time.Millisecond, 5500 * time.Millisecond}}, 16 * time.Second},
		{"it is away at the end", [][2]time.Duration{{10 * time.Second, 12 * time.Second}}, 22 * time.Second},
	} {
		for _, told := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", told ", told), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, began := chartered(1, false, false), time.Now()
					hub := &interrupted{forgetful: forgetful{reads: 1 << 30}, away: tt.away, from: began}
					j := joining(t.TempDir(), c, hub)
					j.Shards = 2
					if told {
						hub.told, hub.text = tt.begins-time.Second, strictjson.Encode(c)
					}
					joined, _, err := j.join(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if joined.same(c) != told {
						t.Errorf("it joins the terrain of the others: %t", !told)
					}
					if took := time.Since(began); !told && (took < tt.begins || took > tt.begins+3*time.Second) {
						t.Errorf("it begins a terrain after %s, want %s", took, tt.begins)
					}
				})
			})
		}
	}
}

// joining returns a node that is about to join the terrain of a charter at a hub.
func joining(folder string, c *charter, hub lease.Bucket) *joiner {
	timing := lease.Standard()
	return &joiner{
		registry: &registry{bucket: hub, timing: timing}, config: c.Config, began: time.Now(), Options: &Options{
			Name: "one", Folder: folder, Config: &config.Config{}, Timing: timing, Log: slog.New(slog.DiscardHandler),
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
