package survey

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestDiffSame reads the visits of every page that is considered unchanged without reading: they do
// not differ, and neither do the links. Most pages are skipped that way.
func TestDiffSame(t *testing.T) {
	size := scaletest.Size{Pages: 4000, Visited: 2000, Links: 20_000, Hosts: 40, Runs: 2}
	store := scaletest.Open(t, scaletest.Made(t, size))
	s, err := New(store)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	same, other := 0, 0
	err = s.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= s.URLs(); id++ {
			if d.sides[0].seq[id] == 0 || d.sides[1].seq[id] == 0 {
				continue
			}
			c := &PageChange{ID: id}
			if err := d.readVisits(tx, c); err != nil {
				return err
			}
			what := differences(c.Before, c.After)
			if !d.isSame(id) {
				other++
				continue
			}
			if same++; len(what) > 0 || len(c.Before.Links) != len(c.After.Links) {
				t.Errorf("page %d differs in %q", id, what)
			}
		}
		return nil
	})
	if err != nil || same < 3*other || other == 0 {
		t.Errorf("%d pages are spared and %d are not, %v", same, other, err)
	}
}
