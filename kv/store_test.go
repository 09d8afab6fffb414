package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// openStore opens a store that is closed and checked when the test ends.
func openStore(t testing.TB, path string) *kv.Store {
	t.Helper()
	s, err := kv.Open(path, kv.Options{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := kv.Check(path, func(problem string) { t.Error(problem) }); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openUnchecked opens a store that may have invalid content.
func openUnchecked(t testing.TB, path string) *kv.Store {
	t.Helper()
	s, err := kv.Open(path, kv.Options{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func update(t testing.TB, s *kv.Store, f func(tx *kv.Tx) error) {
	t.Helper()
	if err := s.Update(f); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, s *kv.Store, f func(tx *kv.Tx) error) {
	t.Helper()
	if err := s.View(f); err != nil {
		t.Fatal(err)
	}
}

// addURL adds a page by its host's name and its path.
func addURL(s *kv.Store, tx *kv.Tx, host, path string) (schema.ID, error) {
	id, found, err := tx.Hosts.Lookup(host)
	if err != nil {
		return 0, err
	}
	if !found {
		h, err := tx.Hosts.Add(host)
		if err != nil {
			return 0, err
		}
		id = h.ID
	}
	u := schema.URL{Host: id, PathQuery: path, FirstSeen: time.Unix(1e9, 0).UTC(), FirstRun: 1}
	return tx.URLs.Add(u, s.Hash(schema.KindPage, "https://"+host+path))
}

func TestVisitRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	want := fullVisit()
	update(t, s, func(tx *kv.Tx) error {
		for i := range 9 {
			if _, err := addURL(s, tx, "example.com", fmt.Sprintf("/%d?q", i)); err != nil {
				return err
			}
		}
		if err := tx.Runs.Put(schema.Run{ID: 1}); err != nil {
			return err
		}
		v := *want
		seq, err := tx.Visits.Add(&v)
		if err != nil || seq != 1 {
			t.Errorf("Visits.Add = %d, %v; want 1", seq, err)
		}
		return err
	})
	want.Seq, want.Commit = 1, s.LastCommit()
	s.Close()
	s = openStore(t, path)
	view(t, s, func(tx *kv.Tx) error {
		got, err := tx.Visits.At(1)
		if err != nil {
			return err
		}
		links, err := tx.Visits.AppendLinks(nil, 1, 0)
		if diff := cmp.Diff(got.Links, links); diff != "" || err != nil {
			t.Errorf("AppendLinks: %v\n%s", err, diff)
		}
		if err := tx.Visits.Anchors(got); err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("visit (-want +got):\n%s", diff)
		}
		return nil
	})
	if s.Latest(2) != 1 || s.Latest(1) != 0 {
		t.Errorf("latest visits of URLs 2 and 1 = %d, %d; want 1, 0", s.Latest(2), s.Latest(1))
	}
}

// fullVisit returns a visit of URL 2 of five with every field in use.
func fullVisit() *schema.Visit {
	return &schema.Visit{
		URL: 2, Run: 1, At: time.UnixMilli(1700000000123).UTC(), Kept: true,
		State: schema.Processed, Status: 203, Form: "https://www.example.com/1/?q",
		Knew: schema.FormSet{Shapes: 5, Own: 4, Others: 0xbeef, OwnOthers: 0xf00d}, RedirectTo: 3,
		Proxy: "http://proxy.example:3128", Fresh: time.Hour, AliasHops: 1, Retries: 2, Requests: 4,
		ContentType:  "text/html; charset=koi8-r",
		LastModified: "Tue, 15 Nov 1994 12:45:26 GMT", ETag: `"x"`, ServerDate: "yesterday", Length: 1234,
		SHA256: [32]byte{1, 2, 3}, ResponseTime: 321 * time.Millisecond, Unchanged: true, Left: true, Archived: true,
		Reason: schema.Reason{Cause: schema.CauseTimeout, Status: 1, Wait: time.Second, Host: "h", Detail: "d"},
		Rule:   "max-depth", StoredPath: "a/b",
		Content: schema.Content{
			Title: "A title", Charset: "koi8-r", NoIndex: true, NoFollow: true,
			Facts:    []schema.Fact{{Name: "price", Value: "3"}, {Name: "price", Value: "4"}},
			Distinct: 12000, BeyondHosts: 1000, BeyondText: 7, Refused: 3, LinkLimit: 10000,
			Shell: schema.ShellMount | schema.ShellAsks, Rendering: schema.Rendered | schema.RenderOnce, RenderAsked: 8,
			Refusals: schema.Refusals{1, 200, 3, 4, 5},
			SimHash:  0xfedcba9876543210, WordCount: 71,
		},
		Links: []schema.Link{
			{To: 1, Kinds: plain, Place: schema.PlaceNav, Anchor: "home"},
			{To: 3, Kinds: plain.Add(schema.LinkCanonical), Place: schema.PlaceMain, Nofollow: true},
			{To: 4, Kinds: plain.Add(schema.LinkRefresh), Rel: schema.RelUGC | schema.RelSponsored, Place: schema.PlaceMain},
			{To: 5, Kinds: schema.OnlyCanonical, Place: schema.PlaceBody, Anchor: "übrigens"},
			{To: 6, Kinds: schema.OnlyFeed, Place: schema.PlaceBody},
			{To: 7, Kinds: plain | schema.OnlyFeed, Place: schema.PlaceFooter, Nofollow: true},
			{To: 8, Kinds: plain.Add(schema.LinkMe).Add(schema.LinkBlogroll), Place: schema.PlaceFooter},
			{To: 9, Kinds: 1<<15 - 1, Place: schema.PlaceMain, Nofollow: true},
		},
		Sitemap:  []schema.SitemapEntry{{To: 4, LastMod: time.Unix(1.6e9, 0).UTC()}, {To: 3, ChangeFreq: "daily"}},
		Children: 7,
	}
}

// TestLaterNumbers reads records whose last fields are 0.
func TestLaterNumbers(t *testing.T) {
	s := openUnchecked(t, filepath.Join(t.TempDir(), "state.db"))
	for set := range 16 {
		want := fullVisit()
		want.BeyondHosts, want.LinkLimit, want.Shell = set&1*7, set>>1&1*8, schema.Shell(set>>2&1*9)
		want.Refused = set >> 3 * 7
		var got *schema.Visit
		update(t, s, func(tx *kv.Tx) error {
			for i := range 9 {
				if _, err := addURL(s, tx, "a.test", fmt.Sprintf("/%d/%d", set, i)); err != nil {
					return err
				}
			}
			seq, err := tx.Visits.Add(want)
			if err == nil {
				got, err = tx.Visits.At(seq)
			}
			return err
		})
		if got.BeyondHosts != want.BeyondHosts || got.LinkLimit != want.LinkLimit || got.Shell != want.Shell ||
			got.Refused != want.Refused {
			t.Errorf("%d, %d, %d, %d; want %d, %d, %d, %d", got.BeyondHosts, got.LinkLimit, got.Shell, got.Refused,
				want.BeyondHosts, want.LinkLimit, want.Shell, want.Refused)
		}
	}
}

const plain = schema.Kinds(1 << schema.LinkAnchor)

func TestHostRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openUnchecked(t, path)
	ms := func(v int64) time.Time { return time.UnixMilli(v).UTC() }
	var want schema.Host
	update(t, s, func(tx *kv.Tx) error {
		h, err := tx.Hosts.Add("example.com:8443")
		if err != nil {
			return err
		}
		*h = schema.Host{
			ID: 1, Name: h.Name, Address: "192.0.2.1", WWW: true, HTTPS: true, LastByte: ms(1), LastEnd: ms(2),
			Smoothed:   1234 * time.Microsecond,
			CrawlDelay: time.Second, Timeouts: 1, Failures: 2, SuspendedTo: ms(3), SuspendedFor: 5 * time.Second, Throttles: 3,
			Suspension: 4,
			RobotsAt:   ms(5), RobotsStatus: 503, RobotsTries: 6, RobotsDue: ms(7), RobotsReason: schema.StatusReason(503),
			RobotsFrom: "b.test", RobotsSince: ms(8), SitemapsRun: 9,
			SitemapFiles: 10, SitemapOthers: 37, SitemapsLeft: 30, SitemapsFor: 31, Files: 32,
			Run: 11, RunRequests: 12, RunThrottles: 13,
			RunVisited: 14, Admitted: true, Vouched: true, RunGivenUp: schema.GaveUpRobots,
			RunGivenUpAt: 15, RunGivenUpWhy: schema.Reason{Cause: schema.CauseRobots, Detail: "503 Service Unavailable"},
			Requests: 16, Visits: 17, Known: 18, Overflow: 19, OverflowBefore: 33, Others: 34,
			Place: schema.OtherPlace, Targets: []uint64{36, 1 << 63}, LinkText: 35, Heads: 1, Generation: 1, Walls: 38, RunShown: true,
			OthersWalls: 39, RunOthersEnded: true, RobotsHTML: true, RobotsWall: "cloudflare",
			Payments: 40, Preferences: "robots.txt: License: l",
			Mazes:    schema.Mazes{{Prefix: "/a", Run: 40, Pages: 41, Other: 42}, {Prefix: "/?", Run: 1}},
			ShownWWW: true,
			Missing: schema.MissingProbe{Run: 39, At: ms(40), Status: 200, Walled: true, Target: "https://a.test/?from=*",
				Title: "None", Shown: 41, Sim: 42, Shell: true},
			Queues: []schema.Queue{{Priority: 3, Head: 1, Pos: 5, Tail: 7, Open: []schema.ID{9, 2, 4}},
				{Priority: 9, Open: []schema.ID{1}}},
			Waiting: 20, Retries: []schema.Retry{{URL: 1, Attempts: 2, Due: ms(30), Reason: schema.StatusReason(503)}},
		}
		want = *h
		for i := range reflect.TypeOf(want).NumField() {
			if reflect.ValueOf(want).Field(i).IsZero() {
				t.Errorf("%s is not tested", reflect.TypeOf(want).Field(i).Name)
			}
		}
		tx.Hosts.Put(h)
		return nil
	})
	s.Close()
	s = openUnchecked(t, path)
	view(t, s, func(tx *kv.Tx) error {
		got, err := tx.Hosts.At(1)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("host (-want +got):\n%s", diff)
		}
		return nil
	})
}

func TestSmallRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	run := schema.Run{ID: 1, Started: time.UnixMilli(5).UTC(), Config: [32]byte{9}, Status: schema.RunInterrupted,
		End:     schema.End{Kind: schema.EndMaxRunTime, N: 1, After: time.Hour, Detail: "d", Without: schema.ShardsOf(0, 255)},
		Changed: time.UnixMilli(1_750_000_000_123).UTC(),
		Walked:  true, FirstVisit: 1, Pages: 2, Portion: 9, Rendered: 1, Unrendered: 300,
		Requests: 3, Generation: 1, Running: 5 * time.Second, Rules: "walls 1", Kind: schema.RunImport,
		Oldest: time.UnixMilli(1_425_168_000_000).UTC(), Newest: time.UnixMilli(1_425_168_000_001).UTC(),
		Joined: 2, Source: [32]byte{7: 1},
		Errors: map[string]int{"timeout": 2, "dns": 1}}
	robots := schema.RobotsCopy{At: time.UnixMilli(77).UTC(), Status: 200,
		Text: bytes.Repeat([]byte("Disallow: /\n"), 100)}
	update(t, s, func(tx *kv.Tx) error {
		if _, err := addURL(s, tx, "example.com", "/"); err != nil {
			return err
		}
		return errors.Join(tx.Runs.Put(run), tx.Hosts.PutRobots(1, robots), tx.Runs.PutConfig([32]byte{9}, []byte("text")),
			tx.Meta.Put("cursor", []byte("17")), tx.Depths.SetPending([]schema.ID{1}), tx.Meta.SetReapply(true),
			tx.Runs.CountUp("facets", "a", 1), tx.Runs.CountUp("facets", "a", 1))
	})
	s.Close()
	s = openStore(t, path)
	view(t, s, func(tx *kv.Tx) error {
		gotRun, err1 := tx.Runs.At(1)
		runs, err2 := tx.Runs.All()
		gotRobots, found, err3 := tx.Hosts.Robots(1)
		config, err4 := tx.Runs.Config([32]byte{9})
		meta, err5 := tx.Meta.Value("cursor")
		pending, err6 := tx.Depths.Pending()
		reapply := tx.Meta.Reapply()
		caps, err7 := tx.Runs.Count("facets", "a")
		if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
			return err
		}
		if diff := cmp.Diff([]schema.Run{run, run}, append(runs, gotRun)); diff != "" {
			t.Errorf("runs:\n%s", diff)
		}
		if diff := cmp.Diff(robots, gotRobots); diff != "" || !found {
			t.Errorf("robots found = %t:\n%s", found, diff)
		}
		if string(config) != "text" || string(meta) != "17" || len(pending) != 1 || pending[0] != 1 || !reapply || caps != 2 {
			t.Errorf("config %q, meta %q, pending %v, reapply %t, caps %d", config, meta, pending, reapply, caps)
		}
		if _, err := tx.Runs.Config([32]byte{8}); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("unknown configuration: %v", err)
		}
		return nil
	})
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	openStore(t, path)
	_, err := kv.Open(path, kv.Options{Timeout: time.Millisecond})
	if !errors.Is(err, kv.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("second open: %v; want ErrLocked with process %d", err, os.Getpid())
	}
}
