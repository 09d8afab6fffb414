package kv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// thePart is shard 1 of 3.
func thePart() schema.Part {
	return schema.Part{Terrain: [16]byte{7}, Rule: shard.Version, Shard: 1, Shards: 3, Run: 1, Configuration: 1}
}

// divided returns a store of [thePart], with a page on each of a number of sites.
func divided(t testing.TB, path string, sites int) *kv.Store {
	t.Helper()
	s := openFast(t, path)
	t.Cleanup(func() { s.Close() })
	update(t, s, func(tx *kv.Tx) error {
		if err := tx.Part.Put(thePart()); err != nil {
			return err
		}
		for i := range sites {
			if _, err := addURL(s, tx, fmt.Sprintf("h%d.test", i), "/"); err != nil {
				return err
			}
		}
		if err := tx.Runs.PutConfig([32]byte{1}, []byte("c")); err != nil {
			return err
		}
		return tx.Runs.Put(schema.Run{ID: 1, Config: [32]byte{1}, FirstVisit: 1})
	})
	return s
}

// wholeFile returns a file of a whole terrain with one page.
func wholeFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	update(t, s, func(tx *kv.Tx) error { _, err := addURL(s, tx, "a.test", "/"); return err })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file of a whole terrain has no trace of a part, and its part methods return nothing.
func TestWholeTerrain(t *testing.T) {
	path := wholeFile(t)
	s := openStore(t, path)
	update(t, s, func(tx *kv.Tx) error {
		tx.Outbox.Mark(1)
		return tx.Outbox.Acknowledge([]schema.ID{1}, 9)
	})
	view(t, s, func(tx *kv.Tx) error {
		_, told, err := tx.Inbound.At(1)
		peer, err2 := tx.Peers.At(1)
		if n, more := s.Marked(1); told || n != 0 || more || s.Told() != 0 || s.Foreign(1) || s.ShardOf(1) != 0 ||
			s.Part() != (schema.Part{}) || peer != (schema.Peer{}) {
			t.Error("the whole terrain has parts")
		}
		none := func(schema.ID, uint64) (bool, error) { t.Error("something is marked"); return true, nil }
		untold := func(schema.ID, schema.Inbound) (bool, error) { t.Error("something is told"); return true, nil }
		return errors.Join(err, err2, tx.Outbox.Each(0, 0, none), tx.Inbound.Each(untold))
	})
	s.Close()
	kv.EachRaw(path, func(bucket string, key, _ []byte) {
		if slices.Contains([]string{"outbox", "inbound", "peers"}, bucket) || string(key) == "part" {
			t.Errorf("%s %q", bucket, key)
		}
	})
}

// Hosts belong to the shards given by the rule, also in a reopened file.
func TestPartPlacesHosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := divided(t, path, 40)
	rule, err := shard.New(3)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		foreign := 0
		for i := range 40 {
			id := schema.HostID(i + 1)
			want := rule.Of(fmt.Sprintf("h%d.test", i))
			if got := s.ShardOf(id); got != want || s.Foreign(id) != (want != 1) {
				t.Errorf("host %d is of shard %d, want %d", id, got, want)
			}
			if s.Foreign(id) {
				foreign++
			}
		}
		if foreign == 0 || foreign == 40 || s.Part() != thePart() {
			t.Errorf("%d of 40 hosts are foreign to %+v", foreign, s.Part())
		}
		s.Close()
		s = openStore(t, path)
	}
}

// A file's part cannot change, and the terrain's numbers never go back.
func TestPartStays(t *testing.T) {
	for name, change := range map[string]func(*schema.Part){
		"another terrain":         func(p *schema.Part) { p.Terrain[0]++ },
		"another shard":           func(p *schema.Part) { p.Shard = 2 },
		"more shards":             func(p *schema.Part) { p.Shards = 4 },
		"an earlier run":          func(p *schema.Part) { p.Run = 0 },
		"an earlier config":       func(p *schema.Part) { p.Configuration = 0 },
		"another rule":            func(p *schema.Part) { p.Rule = 2 },
		"another rule, at first":  func(p *schema.Part) { p.Rule, p.Terrain = 2, [16]byte{} },
		"shard 3 of 3, at first":  func(p *schema.Part) { p.Shard, p.Terrain = 3, [16]byte{} },
		"of 257 shards, at first": func(p *schema.Part) { p.Shards, p.Terrain = 257, [16]byte{} },
		"several shards":          func(p *schema.Part) { p.Shard, p.Without = 0, schema.ShardsOf(2) },
		"shard 1, and others":     func(p *schema.Part) { p.Without, p.Terrain = schema.ShardsOf(2), [16]byte{} },
		"no shard, at first": func(p *schema.Part) {
			p.Shard, p.Without, p.Terrain = 0, schema.ShardsOf(0, 1, 2), [16]byte{}
		},
		"without another, at first": func(p *schema.Part) {
			p.Shard, p.Without, p.Terrain = 0, schema.ShardsOf(3), [16]byte{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, filepath.Join(t.TempDir(), "state.db"))
			part := thePart()
			change(&part)
			if part.Terrain != [16]byte{} {
				update(t, s, func(tx *kv.Tx) error { return tx.Part.Put(thePart()) })
			}
			if err := s.Update(func(tx *kv.Tx) error { return tx.Part.Put(part) }); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}

// A file that already has hosts cannot become a part: they were recorded under other rules.
func TestPartComesFirst(t *testing.T) {
	s := openUnchecked(t, wholeFile(t))
	if err := s.Update(func(tx *kv.Tx) error { return tx.Part.Put(thePart()) }); err == nil {
		t.Error("it becomes a shard")
	}
}

// A file of several shards has the pages of all shards except the missing ones, even when pruned.
func TestPartMerged(t *testing.T) {
	part := thePart()
	part.Shard, part.Without = 0, schema.ShardsOf(1)
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	s := openStore(t, path)
	update(t, s, func(tx *kv.Tx) error {
		if err := errors.Join(tx.Part.Put(part), tx.Runs.PutConfig([32]byte{1}, []byte("c"))); err != nil {
			return err
		}
		return tx.Runs.Put(schema.Run{ID: 1, Config: [32]byte{1}, FirstVisit: 1})
	})
	present := 0
	for i := range 40 {
		id := schema.ID(i + 1)
		update(t, s, func(tx *kv.Tx) error { _, err := addURL(s, tx, fmt.Sprintf("h%d.test", i), "/"); return err })
		host := s.HostOf(id)
		foreign := s.ShardOf(host) == 1
		if s.Foreign(host) != foreign || s.ForeignName(fmt.Sprintf("h%d.test", i)) != foreign {
			t.Errorf("host %d of shard %d is foreign: %t", host, s.ShardOf(host), s.Foreign(host))
		}
		if !foreign {
			present++
			update(t, s, func(tx *kv.Tx) error { return tx.Inbound.Put(id, schema.Inbound{Run: 1, Configuration: 1}) })
		}
	}
	if present == 0 || present == 40 {
		t.Fatalf("%d of 40 hosts are there", present)
	}
	s.Close()
	s = openStore(t, path)
	pruned := filepath.Join(dir, "pruned.db")
	if _, err := s.Prune(t.Context(), pruned, 1); err != nil {
		t.Fatal(err)
	}
	next := openStore(t, pruned)
	for _, s := range []*kv.Store{s, next} {
		if s.Part() != part || s.Told() != present {
			t.Errorf("%s holds %+v, and is told of %d URLs, want %d", s.Path(), s.Part(), s.Told(), present)
		}
		s.Close()
	}
}

// A partModel is the expected content of a file's outbox, inbound and peers.
type partModel struct {
	marked map[schema.ID]uint64
	told   map[schema.ID]schema.Inbound
	peers  [3]schema.Peer
}

func (m *partModel) compare(t testing.TB, s *kv.Store) {
	t.Helper()
	marked, told, counts := map[schema.ID]uint64{}, map[schema.ID]schema.Inbound{}, [3]int{}
	view(t, s, func(tx *kv.Tx) error {
		for n := range 3 {
			err := tx.Outbox.Each(n, 0, func(id schema.ID, commit uint64) (bool, error) {
				if s.ShardOf(s.HostOf(id)) != n {
					t.Errorf("URL %d is marked for shard %d", id, n)
				}
				marked[id] = commit
				counts[n]++
				return true, nil
			})
			peer, err2 := tx.Peers.At(n)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			if peer != m.peers[n] {
				t.Errorf("peer %d is %v, want %v", n, peer, m.peers[n])
			}
		}
		return tx.Inbound.Each(func(id schema.ID, in schema.Inbound) (bool, error) { told[id] = in; return true, nil })
	})
	if diff := cmp.Diff(m.marked, marked); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m.told, told); diff != "" {
		t.Errorf("inbound (-want +got):\n%s", diff)
	}
	for n, peer := range m.peers {
		if got, more := s.Marked(n); got != counts[n] || more != (peer.Cursor != 0) {
			t.Errorf("shard %d: %d URLs are marked, more: %t; want %d, %t", n, got, more, counts[n], peer.Cursor != 0)
		}
	}
	if s.Told() != len(told) {
		t.Errorf("%d URLs are told of, want %d", s.Told(), len(told))
	}
}

// partSites is the number of sites in the model, each with a page: more than a block of the outbox holds.
const partSites = 80

// Whatever is marked, acknowledged and reported, in any order, across reopening and pruning, the file agrees
// with a model.
func TestPartModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		s := divided(t, path, partSites)
		m := &partModel{marked: map[schema.ID]uint64{}, told: map[schema.ID]schema.Inbound{}}
		url := rapid.IntRange(1, partSites)
		for range rapid.IntRange(1, 8).Draw(r, "commits") {
			switch rapid.IntRange(0, 5).Draw(r, "what") {
			case 0:
				s.Close()
				s = openFast(t, path)
			case 1:
				path, s = pruned(t, m, s)
			default:
				update(t, s, func(tx *kv.Tx) error { return m.commit(r, s, tx, url) })
			}
			m.compare(t, s)
		}
		s.Close()
		if err := kv.Check(path, func(problem string) { t.Error(problem) }); err != nil {
			t.Error(err)
		}
	})
}

func outboxKey(shard, id int) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(shard)}, uint32(id))
}

// commit performs some random changes to the file and to the model.
func (m *partModel) commit(r *rapid.T, s *kv.Store, tx *kv.Tx, url *rapid.Generator[int]) error {
	now := s.LastCommit() + 1
	if ids := rapid.SliceOf(url).Draw(r, "acknowledged"); len(ids) > 0 {
		upTo := rapid.Uint64Range(0, now).Draw(r, "up to")
		var all []schema.ID
		for _, id := range ids {
			all = append(all, schema.ID(id))
		}
		if err := tx.Outbox.Acknowledge(all, upTo); err != nil {
			return err
		}
		maps.DeleteFunc(m.marked, func(id schema.ID, at uint64) bool { return at <= upTo && slices.Contains(all, id) })
	}
	for _, id := range rapid.SliceOf(url).Draw(r, "marked") {
		tx.Outbox.Mark(schema.ID(id))
		if s.Foreign(s.HostOf(schema.ID(id))) {
			m.marked[schema.ID(id)] = now
		}
	}
	for _, id := range rapid.SliceOfN(url, 0, 3).Draw(r, "told") {
		if s.Foreign(s.HostOf(schema.ID(id))) {
			continue
		}
		in := schema.Inbound{
			Run: rapid.Uint64().Draw(r, "run"), Configuration: now, Depth: rapid.Uint8().Draw(r, "depth"), Hops: 3,
			Listed: rapid.Bool().Draw(r, "listed"), Changed: time.Unix(int64(now), 0).UTC(), Own: rapid.Bool().Draw(r, "own"),
		}
		m.told[schema.ID(id)] = in
		if err := tx.Inbound.Put(schema.ID(id), in); err != nil {
			return err
		}
	}
	if n := rapid.IntRange(0, 2).Draw(r, "peer"); n != 1 {
		m.peers[n] = schema.Peer{
			Opening: schema.Opening{byte(now)}, Commit: now, Cursor: schema.ID(rapid.IntRange(0, 2).Draw(r, "cursor")),
		}
		return tx.Peers.Put(n, m.peers[n])
	}
	return nil
}

// pruned prunes the store, which renumbers its URLs, and updates the model.
func pruned(t testing.TB, m *partModel, s *kv.Store) (string, *kv.Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pruned.db")
	if _, err := s.Prune(t.Context(), path, 1); err != nil {
		t.Fatal(err)
	}
	names := map[schema.ID]string{}
	view(t, s, func(tx *kv.Tx) error {
		return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			var err error
			names[u.ID], err = tx.Hosts.Name(u.Host)
			return true, err
		})
	})
	s.Close()
	next := openFast(t, path)
	was := *m
	m.marked, m.told = map[schema.ID]uint64{}, map[schema.ID]schema.Inbound{}
	update(t, next, func(tx *kv.Tx) error {
		for id := schema.ID(1); id <= partSites; id++ { // dropped URLs are added again
			host, found, err := tx.Hosts.Lookup(names[id])
			if err != nil {
				return err
			}
			at := schema.ID(0)
			for other := schema.ID(1); int(other) <= next.URLs() && found; other++ {
				if next.HostOf(other) == host {
					at = other
				}
			}
			if at == 0 {
				if at, err = addURL(next, tx, names[id], "/"); err != nil {
					return err
				}
			}
			if commit, ok := was.marked[id]; ok {
				m.marked[at] = commit
			}
			if told, ok := was.told[id]; ok {
				m.told[at] = told
			}
		}
		return nil
	})
	for n := range m.peers {
		m.peers[n].Cursor = min(m.peers[n].Cursor, 1)
	}
	return path, next
}

// Impossible values are detected when the file is opened, and by Check.
func TestDamagedPart(t *testing.T) {
	rule, err := shard.New(3)
	if err != nil {
		t.Fatal(err)
	}
	own, foreign := byte(0), byte(0) // URLs, less the first of a block
	for i := 1; i < 40; i++ {
		if n := rule.Of(fmt.Sprintf("h%d.test", i)); n == 1 {
			own = byte(i)
		} else if n == 2 {
			foreign = byte(i)
		}
	}
	block := string(outboxKey(2, 1))
	for name, v := range map[string]struct {
		bucket, key string
		fields      []byte
	}{
		"no part":               {"meta", "part", []byte{1}},
		"a shard beyond":        {"meta", "part", append(make([]byte, 16), 1, 3, 3, 1, 1)},
		"own URL in the outbox": {"outbox", string(outboxKey(1, 1)), []byte{1, own, 1}},
		"of another shard":      {"outbox", string(outboxKey(0, 1)), []byte{1, foreign, 1}},
		"of no URL":             {"outbox", block, []byte{1, 63, 1}},
		"of a later block":      {"outbox", block, []byte{1, 64, 1}},
		"amid a block":          {"outbox", string(outboxKey(2, int(foreign)+1)), []byte{1, 0, 1}},
		"twice in a block":      {"outbox", block, []byte{2, foreign, 1, foreign, 1}},
		"an empty block":        {"outbox", block, []byte{0}},
		"half a block":          {"outbox", block, []byte{2, foreign, 1}},
		"too short a key":       {"outbox", "\x02", []byte{1, foreign, 1}},
		"too long a key":        {"outbox", block + "\x00", []byte{1, foreign, 1}},
		"marked later":          {"outbox", block, []byte{1, foreign, 99}},
		"marked never":          {"outbox", block, []byte{1, foreign, 0}},
		"told of a foreign URL": {"inbound", string([]byte{0, 0, 0, foreign + 1}), []byte{1, 1, 1, 1, 1, 0, 1}},
		"told too little":       {"inbound", string([]byte{0, 0, 0, own + 1}), []byte{1, 1}},
		"itself as a peer":      {"peers", "\x01", make([]byte, 18)},
		"half a peer":           {"peers", "\x02", make([]byte, 15)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			s := divided(t, path, 40)
			s.Close()
			good := filepath.Join(t.TempDir(), "damaged.db")
			if err := duplicate(path, good); err != nil {
				t.Fatal(err)
			}
			if err := kv.WriteRaw(good, v.bucket, []byte(v.key), kv.Seal(v.bucket, []byte(v.key), v.fields)); err != nil {
				t.Fatal(err)
			}
			problems := 0
			if err := kv.Check(good, func(string) { problems++ }); err != nil || problems == 0 {
				t.Errorf("Check finds %d problems, %v", problems, err)
			}
			if s, err := kv.Open(good, kv.Options{}); !errors.Is(err, kv.ErrDamaged) {
				t.Errorf("Open = %v, want ErrDamaged", err)
				s.Close()
			}
		})
	}
}
