package kv_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestSkim compares the results of the fast readers of the log with complete visits.
func TestSkim(t *testing.T) {
	s := openStore(t, scaletest.Made(t, scaletest.Size{Pages: 2000, Links: 9000, Hosts: 20}))
	stands := &schema.Visit{URL: 1, Run: 1, At: time.UnixMilli(5), State: schema.Processed, Status: 304, Stand: 1,
		Content: schema.Content{NoFollow: true, Facts: []schema.Fact{{Name: "a", Value: "b"}}},
		Form:    "http://other.test/", StoredPath: "x"}
	if err := s.Update(func(tx *kv.Tx) error { _, err := tx.Visits.Add(stands); return err }); err != nil {
		t.Fatal(err)
	}
	var whole, skimmed, linked, wanted []schema.Visit
	read := func(f func(tx *kv.Tx) error) {
		t.Helper()
		if err := s.View(f); err != nil {
			t.Fatal(err)
		}
	}
	read(func(tx *kv.Tx) error {
		return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) { whole = append(whole, *v); return true, nil })
	})
	read(func(tx *kv.Tx) error { return skim(tx, s, func(v *schema.Visit) { skimmed = append(skimmed, *v) }) })
	odd := func(_ schema.Seq, id schema.ID) bool { return id%2 == 1 }
	second := func(to schema.ID) bool { return to == 2 }
	read(func(tx *kv.Tx) error {
		note := func(visits *[]schema.Visit) func(*kv.Linked) error {
			return func(l *kv.Linked) error {
				if l.Seq == 0 {
					return nil
				}
				*visits = append(*visits, schema.Visit{Seq: l.Seq, URL: l.URL, Run: l.Run, Stand: l.Stand,
					Links: append([]schema.Link(nil), l.Links...), Content: schema.Content{NoFollow: l.NoFollow}})
				return nil
			}
		}
		return errors.Join(tx.Visits.EachLinks(odd, nil, note(&linked)), tx.Visits.EachLinks(odd, second, note(&wanted)))
	})
	texts := cmp.Options{
		cmpopts.IgnoreFields(schema.Visit{}, "Form", "LastModified", "ETag", "ServerDate", "StoredPath", "Sitemap"),
		cmpopts.IgnoreFields(schema.Content{}, "Title", "Facts"),
	}
	if diff := cmp.Diff(whole, skimmed, texts); diff != "" {
		t.Errorf("skimmed (-want +got):\n%s", diff)
	}
	var want, wantTo []schema.Visit
	for _, v := range whole {
		if odd(v.Seq, v.URL) {
			want = append(want, schema.Visit{Seq: v.Seq, URL: v.URL, Run: v.Run, Stand: v.Stand,
				Links: v.Links, Content: schema.Content{NoFollow: v.NoFollow}})
			if slices.ContainsFunc(v.Links, func(l schema.Link) bool { return second(l.To) }) {
				wantTo = append(wantTo, want[len(want)-1])
			}
		}
	}
	if diff := cmp.Diff(want, linked); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantTo, wanted); diff != "" || len(wanted) == 0 || len(wanted) == len(linked) {
		t.Errorf("links of %d visits of %d (-want +got):\n%s", len(wanted), len(linked), diff)
	}
	last := skimmed[len(skimmed)-1]
	if last.Title+last.Form+last.StoredPath != "" || last.Facts != nil || last.Stand != 1 {
		t.Errorf("the last: %+v", last)
	}
}

// skim reads all visits in order into one visit's memory, and calls f with a copy of each.
func skim(tx *kv.Tx, s *kv.Store, f func(*schema.Visit)) error {
	var v schema.Visit
	for seq := schema.Seq(1); seq <= s.LastSeq(); seq++ {
		if err := tx.Visits.SkimAt(seq, &v); err != nil {
			return err
		}
		one := v
		one.Links = append([]schema.Link(nil), v.Links...)
		f(&one)
	}
	return nil
}

// TestGistsAndTargets compares visits with counted links, or with link targets only, with complete visits.
func TestGistsAndTargets(t *testing.T) {
	s := openStore(t, scaletest.Made(t, scaletest.Size{Pages: 2000, Links: 9000, Hosts: 20, Runs: 2}))
	all := func(schema.Seq, schema.ID) bool { return true }
	odd := func(_ schema.Seq, id schema.ID) bool { return id%2 == 1 }
	var gists, wantGists []kv.Gist
	var targets, wantTargets []kv.Targeted
	view(t, s, func(tx *kv.Tx) error {
		return errors.Join(skim(tx, s, func(v *schema.Visit) {
			g, l := kv.Gist{Visit: *v, LinkCount: len(v.Links)}, kv.Targeted{Seq: v.Seq, URL: v.URL, Run: v.Run, Stand: v.Stand}
			for _, link := range v.Links {
				if l.To = append(l.To, link.To); link.Kinds == schema.OnlyFeed {
					g.Feeds++
				}
			}
			if g.Links = nil; len(v.Links) > 0 {
				g.First = v.Links[0].Kinds
			}
			if wantGists = append(wantGists, g); odd(v.Seq, v.URL) {
				wantTargets = append(wantTargets, l)
			}
		}), tx.Visits.Gists(all, func(g *kv.Gist) error {
			gists = append(gists, *g)
			var one kv.Gist
			if err := tx.Visits.GistAt(g.Seq, &one); err != nil || !cmp.Equal(*g, one) {
				t.Errorf("visit %d: %+v, %v", g.Seq, one, err)
			}
			return nil
		}), tx.Visits.EachTargets(1, odd, func(l *kv.Targeted) error {
			targets = append(targets, *l)
			targets[len(targets)-1].To = append([]schema.ID(nil), l.To...)
			return nil
		}))
	})
	if diff := cmp.Diff(wantGists, gists); diff != "" || len(gists) == 0 {
		t.Errorf("gists (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantTargets, targets); diff != "" || len(targets) == 0 {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

// TestTitles compares the titles of visits with those of complete visits.
func TestTitles(t *testing.T) {
	s := openStore(t, scaletest.Made(t, scaletest.Size{Pages: 2000, Links: 9000, Hosts: 20, Runs: 2}))
	odd := func(_ schema.Seq, id schema.ID) bool { return id%2 == 1 }
	type titled struct {
		URL   schema.ID
		Title string
	}
	var want, got []titled
	view(t, s, func(tx *kv.Tx) error {
		return errors.Join(tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			if odd(v.Seq, v.URL) && v.Title != "" {
				want = append(want, titled{v.URL, v.Title})
			}
			return true, nil
		}), tx.Visits.Titles(odd, func(id schema.ID, title string) error {
			got = append(got, titled{id, title})
			return nil
		}))
	})
	if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
}

// TestAtAnyOrder reads URLs one by one, upwards, downwards and back and forth: the results equal those of a
// walk over all.
func TestAtAnyOrder(t *testing.T) {
	s := openStore(t, scaletest.Made(t, scaletest.Size{Pages: 500, Links: 2000, Hosts: 20}))
	n := s.URLs()
	orders := map[string]func(i int) int{
		"upwards": func(i int) int { return i }, "downwards": func(i int) int { return n - 1 - i },
		"every third": func(i int) int { return i * 3 % n }, "to and fro": func(i int) int { return (i*i + 7*i) % n },
	}
	err := s.View(func(tx *kv.Tx) error {
		var want []schema.URL
		err := tx.URLs.Each(1, func(u schema.URL) (bool, error) { want = append(want, u); return true, nil })
		if err != nil || len(want) != n {
			t.Fatalf("%d of %d URLs, %v", len(want), n, err)
		}
		for name, at := range orders {
			for i := range n {
				u, err := tx.URLs.At(schema.ID(at(i) + 1))
				if err != nil || u != want[at(i)] {
					t.Fatalf("%s, URL %d: %+v, %v; want %+v", name, at(i)+1, u, err, want[at(i)])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestVisitsAtAnyOrder reads visits one by one in several interleaved orders: the results equal those of a
// walk over all, and there is none after the last.
func TestVisitsAtAnyOrder(t *testing.T) {
	s := openStore(t, scaletest.Made(t, scaletest.Size{Pages: 500, Links: 2000, Hosts: 20}))
	n := int(s.LastSeq())
	orders := []func(i int) int{
		func(i int) int { return i }, func(i int) int { return n - 1 - i }, func(i int) int { return i * 3 % n },
		func(i int) int { return (i*i + 7*i) % n }, func(i int) int { return i / 2 }, func(i int) int { return i * 17 % n },
	}
	view(t, s, func(tx *kv.Tx) error {
		var want []*schema.Visit
		err := tx.Visits.Each(1, func(v *schema.Visit) (bool, error) { want = append(want, v); return true, nil })
		if err != nil || len(want) != n {
			t.Fatalf("%d of %d visits, %v", len(want), n, err)
		}
		for i := range n {
			for k, at := range orders {
				v, err := tx.Visits.At(schema.Seq(at(i) + 1))
				if diff := cmp.Diff(want[at(i)], v); err != nil || diff != "" {
					t.Fatalf("order %d, visit %d: %v, (-want +got):\n%s", k, at(i)+1, err, diff)
				}
			}
		}
		if v, err := tx.Visits.At(schema.Seq(n + 1)); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("behind the last: %+v, %v", v, err)
		}
		return nil
	})
}

// TestVisitIsMissing removes a visit from the log: walks over it detect that, and reads of its neighbours are
// unaffected.
func TestVisitIsMissing(t *testing.T) {
	path := scaletest.Made(t, scaletest.Size{Pages: 200, Links: 900, Hosts: 5})
	if err := kv.DeleteRaw(path, "visits", binary.BigEndian.AppendUint64(nil, 7)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		seqs []schema.Seq
		err  error
	}{
		{"looked up", []schema.Seq{7}, kv.ErrDamaged},
		{"from the one before", []schema.Seq{6, 7}, kv.ErrDamaged},
		{"passed by", []schema.Seq{5, 8, 9}, nil},
		{"beside it", []schema.Seq{8, 9, 6, 5}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openUnchecked(t, path)
			err := s.View(func(tx *kv.Tx) error {
				for _, seq := range tt.seqs {
					if _, err := tx.Visits.At(seq); err != nil {
						return err
					}
				}
				return nil
			})
			if !errors.Is(err, tt.err) {
				t.Errorf("%v, want %v", err, tt.err)
			}
		})
	}
}

// TestFillAnchors reads the anchors of some links of many visits at once, and of a few visits far apart: they
// equal those read visit by visit.
func TestFillAnchors(t *testing.T) {
	web := scaletest.Made(t, scaletest.Size{Pages: 500, Links: 2000, Hosts: 20})
	alone := withAnchors(t, 300) // one commit per visit
	for _, tt := range []struct {
		name  string
		path  string
		every schema.Seq
	}{{"all", web, 1}, {"some", web, 97}, {"commits", alone, 1}, {"some commits", alone, 7}} {
		t.Run(tt.name, func(t *testing.T) { testFillAnchors(t, tt.path, tt.every) })
	}
}

func testFillAnchors(t *testing.T, path string, every schema.Seq) {
	s := openStore(t, path)
	all := func(schema.Seq, schema.ID) bool { return true }
	odd := func(id schema.ID) bool { return id%2 == 1 }
	var visits []kv.Linked
	texts := 0
	view(t, s, func(tx *kv.Tx) error {
		err := tx.Visits.EachLinks(all, nil, func(l *kv.Linked) error {
			if l.Seq%every != 0 {
				return nil
			}
			one, err := tx.Visits.LinkedAt(l.Seq)
			if diff := cmp.Diff(*l, one, cmpopts.EquateEmpty(), cmp.AllowUnexported(kv.Linked{})); err != nil || diff != "" {
				t.Errorf("visit %d alone: %v (-want +got):\n%s", l.Seq, err, diff)
			}
			visits = append(visits, one)
			return nil
		})
		if err := errors.Join(err, tx.Visits.FillAnchors(visits, odd)); err != nil {
			return err
		}
		for _, l := range visits {
			v, err := tx.Visits.At(l.Seq)
			if err := errors.Join(err, tx.Visits.Anchors(v)); err != nil {
				return err
			}
			for i := range v.Links {
				if !odd(v.Links[i].To) {
					v.Links[i].Anchor = ""
				}
				texts += len(v.Links[i].Anchor)
			}
			if diff := cmp.Diff(v.Links, l.Links, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("visit %d (-want +got):\n%s", l.Seq, diff)
			}
		}
		return nil
	})
	if texts == 0 {
		t.Error("there are no anchors")
	}
}
