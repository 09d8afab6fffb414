package split_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/shard"
)

func open(t *testing.T, name string) *kv.Store {
	t.Helper()
	store, err := kv.Open(filepath.Join(t.TempDir(), name), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// What belongs to a host is in its shard only: clocks, robots.txt, counts and messages. The figures of a run add up, and
// every shard contains what the others know of it.
func TestBelongings(t *testing.T) {
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	var hosts [2]string
	for n := 0; hosts[0] == "" || hosts[1] == ""; n++ {
		name := fmt.Sprintf("h%d.test", n)
		hosts[rule.Of(name)] = name
	}
	cfg, _, err := config.Parse([]byte("[user-agent]\ncrawler-name = \"T\"\n[[quality]]\ndomain = \"a.test\"\n"+
		"seeds = [\"https://a.test/\"]\n"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	until := time.Unix(1e9, 0)
	src := open(t, "whole.bolt")
	err = src.Update(func(tx *kv.Tx) error {
		run := schema.Run{ID: 1, Config: cfg.Hash(), FirstVisit: 1, Pages: 3, Requests: 9, Errors: map[string]int{"x": 2}}
		err := errors.Join(tx.Runs.PutConfig(cfg.Hash(), cfg.Effective()), tx.Runs.Put(run))
		for n, name := range hosts {
			h, failed := tx.Hosts.Add(name)
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			h.SuspendedTo, h.Known = until, n+1
			tx.Hosts.Put(h)
			err = errors.Join(tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{Status: 200, Text: []byte(name)}),
				tx.Runs.CountMore(scope.CountSiteText, name, 1, 7+n),
				tx.Messages.Put(&schema.Message{ID: name, Kind: name}))
			for i := 0; i <= n && err == nil; i++ {
				u := schema.URL{Host: h.ID, PathQuery: fmt.Sprintf("/%d", i), FirstRun: 1}
				id, failed := tx.URLs.Add(u, src.Hash(u.Kind, "https://"+name+u.PathQuery))
				_, visited := tx.Visits.Add(&schema.Visit{URL: id, Run: 1, State: schema.Processed, Requests: 2, At: until})
				err = errors.Join(failed, visited)
			}
		}
		return errors.Join(err, tx.Messages.Put(&schema.Message{ID: "run", Kind: "run"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := split.New(t.Context(), src, split.Options{
		Terrain: [16]byte{1}, Shards: 2,
		Ways: func(*shard.Rule, int, func(split.Way) error) error { return nil },
		HostOf: func(m *schema.Message) string {
			if m.Kind == "run" {
				return ""
			}
			return m.Kind
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	parts := []*kv.Store{open(t, "0.bolt"), open(t, "1.bolt")}
	for n, dst := range parts {
		if err := s.Begin(n, dst); err != nil {
			t.Fatal(err)
		}
	}
	for n, dst := range parts {
		if err := s.Fill(n, dst); err != nil {
			t.Fatal(err)
		}
	}
	for n, dst := range parts {
		err := dst.View(func(tx *kv.Tx) error {
			h, err := tx.Hosts.At(1)
			if err != nil || dst.Hosts() != 1 || h.Name != hosts[n] || !h.SuspendedTo.Equal(until) || h.Known != n+1 {
				t.Errorf("shard %d has %d hosts, and %+v, %v", n, dst.Hosts(), h, err)
			}
			robots, _, err := tx.Hosts.Robots(1)
			if string(robots.Text) != hosts[n] || err != nil {
				t.Errorf("shard %d has the robots.txt %q, %v", n, robots.Text, err)
			}
			for m, name := range hosts {
				want := 0
				if m == n {
					want = 7 + n
				}
				if got, err := tx.Runs.Count(scope.CountSiteText, name); got != want || err != nil {
					t.Errorf("shard %d counts %d for %s, want %d, %v", n, got, name, want, err)
				}
			}
			var ids []string
			err = tx.Messages.Each(func(m *schema.Message) (bool, error) { ids = append(ids, m.ID); return true, nil })
			want := [][]string{{hosts[0], "run"}, {hosts[1]}}[n]
			if fmt.Sprint(ids) != fmt.Sprint(want) || err != nil {
				t.Errorf("shard %d has the messages %q, want %q, %v", n, ids, want, err)
			}
			run, err := tx.Runs.At(1)
			figures := fmt.Sprint(run.Pages, run.Requests, run.Errors)
			if want := []string{"1 5 map[x:2]", "2 4 map[]"}[n]; figures != want || err != nil {
				t.Errorf("the run of shard %d has %s, want %s, %v", n, figures, want, err)
			}
			peer, err := tx.Peers.At(1 - n)
			if err != nil {
				return err
			}
			return parts[1-n].View(func(other *kv.Tx) error {
				if ok, err := other.Openings.Contains(peer.Opening, peer.Commit); !ok || err != nil {
					t.Errorf("shard %d knows what shard %d does not contain: %v, %v", n, 1-n, peer, err)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
}
