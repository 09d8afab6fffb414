package merge_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// What the shards have counted of groups of pages and of sites counts in the new file too, so that a crawl goes on where
// they have stopped. A host that both have recorded is one host of its site.
func TestStoresCounts(t *testing.T) {
	names := hosts(t)
	site, rule := names[1], `page-type "x": max-per-group`
	const config = `[crawler]
max-subdomains = 9
[[page-type]]
name = "x"
path = "^/x"
max-per-group = 5
`
	a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
	for n, f := range []*file{a, b} {
		f.runUnder(config, 1, schema.RunCompleted, 1)
		f.see(1, names[0], "/", "", 1, "https://"+names[0]+"/")
		f.update(func(tx *kv.Tx) error {
			return tx.Runs.CountMore(scope.CountSiteOverflow, site, 1, 4+n)
		})
		f.runUnder(config, 2, schema.RunInterrupted, 1)
		f.see(2, "both."+site, "/", "", 2, "https://both."+site+"/")
		f.see(2, fmt.Sprintf("other%d.%s", n, site), "/", "", 3, "https://other/")
		f.host("both."+site, func(h *schema.Host) { h.Place = schema.OwnPlace })
		f.host(fmt.Sprintf("other%d.%s", n, site), func(h *schema.Host) { h.Place = schema.OtherPlace })
	}
	b.see(2, site, "/x", "", 4, "https://"+site+"/x")
	b.visit(2, "https://"+site+"/x", "https://"+names[0]+"/")
	b.update(func(tx *kv.Tx) error {
		return errors.Join(tx.Runs.CountMore(rule, site, 2, 3), tx.Runs.CountMore(rule+", of others", site, 2, 2),
			tx.Runs.CountMore(rule+", of others, not found", site, 2, 7),
			tx.Runs.CountMore("max-subdomains", site, 2, 6), tx.Runs.CountMore("max-subdomains, of others", site, 2, 1),
			tx.Runs.CountMore(scope.CountSiteText, site, 2, 12345), tx.Runs.CountMore(scope.CountSiteOverflow, site, 2, 20))
	})
	a.update(func(tx *kv.Tx) error { return tx.Runs.CountMore(scope.CountSiteOverflow, site, 2, 10) })
	if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string][2]int{
		rule: {3, 0}, rule + ", of others": {2, 0}, rule + ", of others, not found": {7, 0},
		"max-subdomains": {6, 0}, "max-subdomains, of others": {1, 0},
		scope.CountSiteText: {12345, 0}, scope.CountSiteOverflow: {30, 9},
		scope.CountSiteHosts: {1, 0}, scope.CountSiteOthers: {2, 0},
	}
	got := map[string][2]int{}
	view(t, dst, func(tx *kv.Tx) error {
		for name := range want {
			n, err := tx.Runs.Count(name, site)
			before, err2 := tx.Runs.CountBefore(name, site)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			got[name] = [2]int{n, before}
		}
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the last run and before it (-want +got):\n%s", diff)
	}
}
