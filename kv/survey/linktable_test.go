package survey_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLinkTable compares the table of a terrain that was walked twice with the links read one by
// one. Pages with links come first, and in both groups those of a host are consecutive.
func TestLinkTable(t *testing.T) {
	size := scaletest.Size{Pages: 3000, Visited: 1500, Links: 15_000, Hosts: 40, Runs: 2}
	store := scaletest.Open(t, scaletest.Made(t, size))
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	table, err := s.LinkTable(func(*survey.Page) error { told++; return nil })
	if err == nil {
		err = table.FindSiteWide()
	}
	if err != nil {
		t.Fatal(err)
	}
	type link struct {
		from, to           schema.ID
		siteWide, endorses bool
	}
	want, got, pages := map[link]int{}, map[link]int{}, 0
	err = s.Links.Each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
		want[link{from, l.To, l.SiteWide, l.Endorses()}]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	siteWide, linking := 0, int(table.Ends[len(table.Ends)-1])
	for n, id := range table.Page {
		if table.Number(id) != uint32(n) {
			t.Errorf("number %d is that of URL %d, which has number %d", n, id, table.Number(id))
		}
		host := s.Hosts.Of(id)
		if links := table.Off[n+1] - table.Off[n]; (links > 0) != (n < linking) ||
			(links > 0) != (uint32(n) >= table.Ends[host-1] && uint32(n) < table.Ends[host]) {
			t.Errorf("number %d of host %d, which ends at %d, of %d pages with links has %d", n, host, table.Ends[host],
				linking, links)
		}
		if n > 0 && n != linking && s.Hosts.Of(table.Page[n-1]) > host {
			t.Errorf("number %d is of host %d, and the one before of host %d", n, host, s.Hosts.Of(table.Page[n-1]))
		}
		for at := table.Off[n]; at < table.Off[n+1]; at++ {
			l := link{id, table.Page[table.To[at]], table.SiteWide(uint32(n), at), table.Endorses(uint32(n), at)}
			if got[l]++; l.siteWide {
				siteWide++
			}
		}
		if s.IsPage(id) {
			pages++
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(link{})); diff != "" || siteWide == 0 {
		t.Errorf("%d links of %d, %d of them site-wide (-want +got):\n%s", len(got), len(want), siteWide, diff)
	}
	if told != pages || len(table.Page) != s.URLs() {
		t.Errorf("told of %d pages of %d, %d URLs of %d", told, pages, len(table.Page), s.URLs())
	}
}
