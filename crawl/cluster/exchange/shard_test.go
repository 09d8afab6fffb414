package exchange

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A testShard is shard 0 of 2, with pages of the other shard. Its recorder only stores what it receives.
type testShard struct {
	t     testing.TB
	mu    sync.Mutex // of store
	store *kv.Store
	told  []ring.Referral
	asked []ring.Errand
	ready *ring.Report // for each errand
	pages []schema.ID  // of the other shard
}

func newShard(t testing.TB, pages ...string) *testShard {
	t.Helper()
	s := &testShard{t: t, store: crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))}
	s.update(func(tx *kv.Tx) error {
		_, err := tx.Openings.Begin()
		return errors.Join(err, tx.Part.Put(schema.Part{
			Terrain: [16]byte{1}, Rule: shard.Version, Shard: 0, Shards: 2, Run: 3, Configuration: 5,
		}))
	})
	for _, path := range pages {
		s.update(func(tx *kv.Tx) error { return s.meet(tx, path) })
	}
	return s
}

// otherHost returns a host of shard 1 of 2.
func otherHost(t testing.TB) string {
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if name := fmt.Sprintf("h%d.test", i); rule.Of(name) == 1 {
			return name
		}
	}
}

// meet records a page of the other shard, and marks it.
func (s *testShard) meet(tx *kv.Tx, path string) error {
	name := otherHost(s.t)
	host, found, err := tx.Hosts.Lookup(name)
	if err == nil && !found {
		var h *schema.Host
		if h, err = tx.Hosts.Add(name); err == nil {
			host = h.ID
		}
	}
	if err != nil {
		return err
	}
	u := schema.URL{Host: host, PathQuery: path}
	id, err := tx.URLs.Add(u, s.store.Hash(schema.KindPage, "https://"+name+path))
	if err == nil {
		s.pages = append(s.pages, id)
		tx.Outbox.Mark(id)
	}
	return err
}

func (s *testShard) View(f func(*kv.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.View(f)
}

func (s *testShard) Update(f func(*kv.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.Update(f)
}

func (s *testShard) update(f func(*kv.Tx) error) {
	s.t.Helper()
	if err := s.Update(f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testShard) Apply(told []ring.Referral) error {
	s.told = append(s.told, told...)
	return s.store.Update(func(*kv.Tx) error { return nil })
}

func (s *testShard) Errand(e ring.Errand, at, most int) (ring.Report, bool, error) {
	s.asked = append(s.asked, e)
	if s.ready == nil {
		return ring.Report{Behind: "b.test"}, false, nil
	}
	return s.ready.Piece(at, most), true, nil
}

func (s *testShard) Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error) {
	norm, err := tx.URLs.Norm(id)
	return ring.Referral{URL: norm, Forms: []string{norm}, Told: schema.Inbound{Depth: 1}}, err
}

func (s *testShard) MarkAgain(tx *kv.Tx, _ int, from schema.ID, _ int) (schema.ID, error) {
	tx.Outbox.Mark(from)
	if int(from) == s.store.URLs() {
		return 0, nil
	}
	return from + 1, nil
}

// marked returns the number of pages still to be sent to the other shard.
func (s *testShard) marked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := s.store.Marked(1)
	return n
}

// letterTo returns a letter from the other shard.
func (s *testShard) letterTo() letter {
	s.t.Helper()
	l := letter{Terrain: make([]byte, 16), From: 1, Run: 3, Configuration: 5, Referrals: []ring.Referral{{
		URL: "https://a.test/", Forms: []string{"https://a.test/", "https://www.a.test/"}, HTTPS: true,
		Told: schema.Inbound{
			Run: 3, Configuration: 5, Depth: 2, Hops: 1, Listed: true, Changed: time.Unix(1e9, 0).UTC(),
		},
	}}}
	l.Terrain[0] = 1
	if err := s.store.View(func(tx *kv.Tx) error {
		opening, commit, err := tx.Openings.Now()
		l.Opening, l.Commit = opening[:], commit
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return l
}

func written(l letter) []byte { return l.text() }
