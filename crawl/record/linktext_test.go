package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// linking returns the answer of a page with links to n pages of 1,024 bytes each, numbered from
// first.
func linking(r *Recorder, first, n int) *ring.Outcome {
	o := &ring.Outcome{Page: &page.Page{Content: schema.Content{Distinct: n}}}
	for i := range n {
		norm := fmt.Sprintf("https://c.test/%08d", first+i)
		norm += strings.Repeat("x", 1024-len(norm))
		o.Page.Links = append(o.Page.Links, page.Link{URL: weburl.URL{Norm: norm, Form: norm}})
		o.Hashes = append(o.Hashes, r.in.store.Hash(schema.KindPage, norm))
	}
	return o
}

// The first 1 MiB of a page's targets is recorded, whether they are known or not, and the rest counted.
func TestLinkTextOfPage(t *testing.T) {
	inTurn(t, "", func(r *Recorder, turn turn) {
		for _, from := range []string{"https://a.test/1", "https://b.test/1", "https://b.test/2"} {
			visit := &schema.Visit{URL: r.met(t, from)}
			ok(t, turn.builder.links(linking(r, 0, 1100), visit))
			if len(visit.Links) != 1024 || visit.BeyondText != 76 {
				t.Errorf("%s: %d links are recorded and %d left out, want 1024 and 76", from, len(visit.Links), visit.BeyondText)
			}
		}
	})
}

// Links of a discovered site may add a limited number of bytes in a run; known pages can still be
// linked to. The links of an origin have no common limit.
func TestLinkTextOfSite(t *testing.T) {
	inTurn(t, "", func(r *Recorder, turn turn) {
		from := r.met(t, "https://x.b.test/")
		ok(t, turn.builder.links(linking(r, 0, 20), &schema.Visit{URL: from}))
		if n, err := r.in.tx.Runs.Count(scope.CountSiteText, "b.test"); err != nil || n != 20*1024 {
			t.Errorf("%d bytes are counted, %v", n, err)
		}
		ok(t, r.in.tx.Runs.CountMore(scope.CountSiteText, "b.test", r.in.run.ID, maxSiteText-20*1024))
		for _, tt := range []struct {
			page            string
			first, recorded int
		}{{"https://y.b.test/", 10, 10}, {"https://a.test/x", 10, 20}, {"https://y.b.test/", 1000, 0}} {
			visit := &schema.Visit{URL: r.met(t, tt.page)}
			ok(t, turn.builder.links(linking(r, tt.first, 20), visit))
			if len(visit.Links) != tt.recorded || visit.BeyondText != 20-tt.recorded {
				t.Errorf("%s: %d links are recorded and %d left out", tt.page, len(visit.Links), visit.BeyondText)
			}
		}
	})
}

// However many hosts a site may have, together they leave less uncounted than there is room for.
func TestTextStep(t *testing.T) {
	for _, tt := range []struct{ limit, uncounted, counted int }{
		{1000, 15, 16 * 1024}, {100_000, 0, 1024}, {0, 0, 1024},
	} {
		inTurn(t, fmt.Sprintf("[traps]\nmax-hosts-per-site = %d\n", tt.limit), func(r *Recorder, turn turn) {
			from := r.met(t, "https://x.b.test/")
			for n := range tt.uncounted + 1 {
				if got, err := r.in.tx.Runs.Count(scope.CountSiteText, "b.test"); err != nil || got != 0 {
					t.Errorf("max-hosts-per-site = %d: %d bytes are counted after %d KiB, %v", tt.limit, got, n, err)
				}
				ok(t, turn.builder.links(linking(r, n, 1), &schema.Visit{URL: from}))
			}
			if got, err := r.in.tx.Runs.Count(scope.CountSiteText, "b.test"); err != nil || got != tt.counted {
				t.Errorf("max-hosts-per-site = %d: %d bytes are counted, want %d, %v", tt.limit, got, tt.counted, err)
			}
		})
	}
}
