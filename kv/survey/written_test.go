package survey_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLinksAsWritten reads links in the order of the log of a terrain that was walked twice: they
// equal those read page by page.
func TestLinksAsWritten(t *testing.T) {
	type row struct {
		From schema.ID
		Link schema.Link
	}
	size := scaletest.Size{Pages: 3000, Visited: 1500, Links: 15_000, Hosts: 40, Runs: 2}
	store := scaletest.Open(t, scaletest.Made(t, size))
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	third := func(to schema.ID) bool { return to%3 == 0 }
	var want, got, between []row
	var pairs [][2]schema.ID
	for id := schema.ID(s.URLs()); id > 0; id-- {
		links, err := s.Links.Out(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if third(l.To) {
				want, pairs = append(want, row{id, l}), append(pairs, [2]schema.ID{id, l.To}, [2]schema.ID{l.To, id})
			}
		}
	}
	err = s.Links.EachTo(third, func(from schema.ID, l schema.Link) error { got = append(got, row{from, l}); return nil })
	err = errors.Join(err, s.Links.EachBetween(pairs, func(i int, l schema.Link) error {
		if l.To != pairs[i][1] {
			t.Errorf("asked for %v, told of a link to %d", pairs[i], l.To)
		}
		if i%2 == 0 {
			between = append(between, row{pairs[i][0], l})
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]row{want, got, between} {
		slices.SortFunc(rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Link.To, b.Link.To))
		})
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(want) < 1000 {
		t.Errorf("EachLinkTo, of %d links (-want +got):\n%s", len(want), diff)
	}
	if diff := gocmp.Diff(want, between); diff != "" {
		t.Errorf("EachLinkBetween (-want +got):\n%s", diff)
	}
}
