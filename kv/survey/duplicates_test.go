package survey_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

func TestDuplicates(t *testing.T) {
	w := surveytest.New(t, minimal)
	for _, p := range []struct {
		name  string
		depth uint8
		hash  schema.SimHash
	}{
		{"a.test/z", 0, 0xff00}, {"b.test/far", 1, 0xff3f}, {"b.test/copy", 1, 0xff07}, {"a.test/b", 0, 0xff01},
		{"a.test/apart", 0, 0x1234_5678_0000_0000}, {"a.test/short", 0, 0}, {"c.test/short", 1, 0},
		{"a.test/one", 0, 0xabcd << 40}, {"a.test/two", 1, 0xabcd << 40}, {"a.test/y", 1, 0xff05},
		{"a.test/last", 1, 0x5678}, {"a.test/first", 0, 0x5678},
	} {
		w.Depth(p.name, p.depth, 0)
		w.Visit(p.name, func(v *schema.Visit) { v.SimHash = p.hash })
	}
	s := w.Survey()
	d, err := s.Duplicates()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, c := range d.Clusters() {
		var pages []string
		for _, p := range c {
			norm, err := s.Norm(p.ID)
			if err != nil || d.First(p.ID) != c[0].ID || d.Of(p.ID) != c[0].ID && p.ID != c[0].ID {
				t.Errorf("page %d is with %d, %v; want %d", p.ID, d.First(p.ID), err, c[0].ID)
			}
			pages = append(pages, fmt.Sprint(norm, " ", p.Bits))
		}
		got = append(got, pages)
	}
	want := [][]string{
		{"https://a.test/b 0", "https://a.test/y 1", "https://a.test/z 1", "https://b.test/copy 2", "https://b.test/far 5"},
		{"https://a.test/first 0", "https://a.test/last 0"},
		{"https://a.test/one 0", "https://a.test/two 0"},
	}
	if diff := cmp.Diff(want, got); diff != "" || d.Len() != 6 {
		t.Errorf("%d duplicates; clusters (-want +got):\n%s", d.Len(), diff)
	}
	for name, want := range map[string]float64{"a.test": 4. / 8, "b.test": 1, "c.test": -1} {
		id, _, err := s.Hosts.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		share, ok := d.Share(id)
		if !ok {
			share = -1
		}
		if share != want {
			t.Errorf("share of %s: %v, want %v", name, share, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	ended := w.Survey()
	ended.Until(ctx)
	if _, err := ended.Duplicates(); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}
