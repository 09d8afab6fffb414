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
		if ok, err := s.Maps(id); err != nil {
			t.Fatal(err)
		} else if ok {
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

// TestEachInto compares the links into single pages, and into all pages of a host from others, with
// all links read one by one.
func TestEachInto(t *testing.T) {
	size := scaletest.Size{Pages: 3000, Visited: 1500, Links: 15_000, Hosts: 40, Runs: 2}
	store := scaletest.Open(t, scaletest.Made(t, size))
	open := func() *survey.Survey {
		s, err := survey.New(store)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	type end struct {
		from schema.ID
		link schema.Link
	}
	var all []end
	s := open()
	marked, busy := map[schema.ID]int{}, schema.ID(0)
	err := s.Links.Each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
		if all = append(all, end{from, l}); l.SiteWide {
			marked[l.To]++
			busy = max(busy, l.To)
		}
		return nil
	})
	if err != nil || busy == 0 {
		t.Fatalf("%d site-wide links, %v", len(marked), err)
	}
	host := s.Hosts.Of(busy)
	everyHost := func(schema.HostID) bool { return true }
	for name, of := range map[string]struct {
		from func(schema.HostID) bool
		to   func(schema.ID) bool
	}{
		"a target of site-wide links": {everyHost, func(id schema.ID) bool { return id == busy }},
		"a page that few link to":     {everyHost, func(id schema.ID) bool { return id == all[0].link.To }},
		"a host": {func(h schema.HostID) bool { return h != host },
			func(id schema.ID) bool { return s.Hosts.Of(id) == host }},
		"all pages": {everyHost, func(schema.ID) bool { return true }},
	} {
		want, got := map[end]int{}, map[end]int{}
		for _, e := range all {
			if of.from(s.Hosts.Of(e.from)) && of.to(e.link.To) {
				want[e]++
			}
		}
		err := open().Links.EachInto(of.from, of.to, func(from schema.ID, l schema.Link) error {
			got[end{from, l}]++
			return nil
		})
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(end{})); diff != "" || err != nil || len(want) == 0 {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
