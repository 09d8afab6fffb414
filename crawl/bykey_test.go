package crawl

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

// byKey records visits in the most obvious way, as the yardstick of [BenchmarkRecord]: a bucket for
// every question, a key for every item. An id by hash of the URL; page, links and depth by id; one
// key per waiting URL. It stores less than the recorder: no clocks, no classes, no rules, no forms.
type byKey struct {
	b     *testing.B
	db    *bbolt.DB
	hash  func(schema.URLKind, string) uint64
	last  uint64 // id
	wrote int64
	took  time.Duration
	cpu   time.Duration
}

var byKeyBuckets = [...]string{"ids", "pages", "links", "depths", "waiting"}

func openByKey(b *testing.B, path string, hash func(schema.URLKind, string) uint64) *byKey {
	b.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, InitialMmapSize: 4 << 30,
		NoStatistics: true})
	if err != nil {
		b.Fatal(err)
	}
	db.AllocSize = 64 << 20
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range byKeyBuckets {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return &byKey{b: b, db: db, hash: hash}
}

func (k *byKey) close() { k.db.Close() }

func (k *byKey) commit(batch *batch) {
	wrote, cpu, begun := process.Written(), process.CPUTime(), time.Now()
	err := k.db.Update(func(tx *bbolt.Tx) error {
		t := byKeyTx{byKey: k}
		for i, name := range byKeyBuckets {
			t.buckets[i] = tx.Bucket([]byte(name))
		}
		for i := range batch.outcomes {
			if o := &batch.outcomes[i]; o.Page != nil {
				if err := t.visit(o); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		k.b.Fatal(err)
	}
	k.took += time.Since(begun)
	k.cpu += process.CPUTime() - cpu
	k.wrote += process.Written() - wrote
}

type byKeyTx struct {
	*byKey
	buckets [len(byKeyBuckets)]*bbolt.Bucket
}

func (t *byKeyTx) ids() *bbolt.Bucket     { return t.buckets[0] }
func (t *byKeyTx) pages() *bbolt.Bucket   { return t.buckets[1] }
func (t *byKeyTx) links() *bbolt.Bucket   { return t.buckets[2] }
func (t *byKeyTx) depths() *bbolt.Bucket  { return t.buckets[3] }
func (t *byKeyTx) waiting() *bbolt.Bucket { return t.buckets[4] }

// visit records a fetched page and its links.
func (t *byKeyTx) visit(o *ring.Outcome) error {
	id, err := t.intern(o.Step.Norm, t.hash(o.Step.URLKind, o.Step.Norm), 0)
	if err != nil {
		return err
	}
	var links []byte
	for i := range o.Page.Links {
		link := &o.Page.Links[i]
		target, err := t.intern(link.URL.Norm, o.Hashes[i], 0)
		if err != nil {
			return err
		}
		links = appendLink(links, target, link)
	}
	key := key64(id)
	record := fmt.Appendf(nil, "%s\x00processed\x00%d\x00%s\x00%s\x00%s\x00%s\x00%s\x00%d\x00%d\x00", o.Step.Norm,
		o.Status, o.ContentType,
		o.Page.Title, o.ETag, o.LastModified, o.Date, o.Length, o.FirstByte.UnixMilli())
	if err := t.pages().Put(key, append(record, o.SHA256[:]...)); err != nil {
		return err
	}
	if err := t.links().Put(key, links); err != nil {
		return err
	}
	return t.waiting().Delete(waitingKey(o.Step.Norm, id))
}

func appendLink(b []byte, to uint64, link *page.Link) []byte {
	b = binary.AppendUvarint(b, to)
	b = append(b, byte(link.Kinds), byte(link.Rel), byte(link.Place), byte(len(link.Anchor)))
	return append(b, link.Anchor...)
}

// intern returns the id of a URL. A new URL is recorded and queued.
func (t *byKeyTx) intern(norm string, hash uint64, depth byte) (uint64, error) {
	key := key64(hash)
	if known := t.ids().Get(key); known != nil {
		id := binary.BigEndian.Uint64(known)
		if d := t.depths().Get(known); d == nil || d[0] > depth {
			return id, t.depths().Put(key64(id), []byte{depth})
		}
		return id, nil
	}
	t.last++
	id := key64(t.last)
	if err := t.ids().Put(key, id); err != nil {
		return 0, err
	}
	if err := t.pages().Put(id, []byte(norm+"\x00queued")); err != nil {
		return 0, err
	}
	if err := t.depths().Put(id, []byte{depth}); err != nil {
		return 0, err
	}
	return t.last, t.waiting().Put(waitingKey(norm, t.last), nil)
}

func waitingKey(norm string, id uint64) []byte {
	host, _, _ := strings.Cut(strings.TrimPrefix(norm, "https://"), "/")
	return append([]byte(host+"\x00"), key64(id)...)
}

func key64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
