package record

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A group that is full only with visits that are out holds a page; once one of them
// comes to nothing, the host is planned again; once one counts, the page is refused.
func TestCapsHold(t *testing.T) {
	inTurn(t, "[traps]\nmax-per-prefix = 1\n", func(r *Recorder, _ turn) {
		first, second := r.met(t, "https://b.test/p/1"), r.met(t, "https://b.test/p/2")
		h := r.hostOf(t, first)
		want := func(what string, id schema.ID, want scope.Room) {
			t.Helper()
			if got, err := r.quotas.room(id, h); err != nil || got != want {
				t.Errorf("%s: room %d (%v), want %d", what, got, err, want)
			}
		}
		want("an empty group", first, scope.Free)
		step := &ring.Step{ID: first, URLKind: schema.KindPage}
		ok(t, r.quotas.reserve(step, h))
		want("a group that is reserved", second, scope.Held)
		r.hosts.begin()
		r.quotas.release(step)
		if len(r.hosts.touched) != 1 || r.hosts.touched[0] != h.ID {
			t.Errorf("hosts %v are planned, want that of the page", r.hosts.touched)
		}
		want("a group that is free again", second, scope.Free)
		ok(t, r.quotas.reserve(step, h))
		ok(t, r.quotas.countVisit(&ring.Outcome{Step: *step}, &schema.Visit{}))
		r.quotas.release(step)
		want("a group that is full", second, scope.Full)
	})
}

// Hosts that max-pages keeps waiting go on when a page of it was not used, one for
// each, and all when it is used up.
func TestMaxPagesLetsOn(t *testing.T) {
	inTurn(t, "[crawler]\nmax-pages = 1\n", func(r *Recorder, _ turn) {
		page := r.met(t, "https://a.test/")
		h, other := r.hostOf(t, page), r.hostOf(t, r.met(t, "https://b.test/"))
		if r.quotas.enough(h) {
			t.Error("enough before the first page")
		}
		step := &ring.Step{ID: page, URLKind: schema.KindPage}
		ok(t, r.quotas.reserve(step, h))
		if !r.quotas.enough(h) || !r.quotas.enough(other) {
			t.Error("not enough with all reserved")
		}
		r.hosts.begin()
		r.quotas.letOn()
		if len(r.hosts.touched) > 0 {
			t.Errorf("hosts %v go on with all reserved", r.hosts.touched)
		}
		r.quotas.release(step)
		r.quotas.letOn()
		if len(r.hosts.touched) != 1 {
			t.Errorf("%d hosts go on with one page, want 1", len(r.hosts.touched))
		}
		r.ledger.countPage(h, 0)
		r.quotas.letOn()
		if len(r.hosts.touched) != 2 {
			t.Errorf("%d hosts go on with max-pages used up, want both", len(r.hosts.touched))
		}
	})
}

// A shard visits its portion of max-pages: hosts wait for a larger one, and for none once
// nothing is left anywhere.
func TestPortionLetsOn(t *testing.T) {
	part := schema.Part{Terrain: [16]byte{1}, Rule: shard.Version, Shards: 2, Run: 1, Configuration: 1}
	inTurnOf(t, part, "[crawler]\nmax-pages = 100\n", func(r *Recorder, on turn) {
		page := r.met(t, "https://a.test/")
		h, other := r.hostOf(t, page), r.hostOf(t, r.met(t, "https://b.test/"))
		if !r.quotas.enough(h) || !r.quotas.enough(other) || r.quotas.spent(h) {
			t.Error("without a portion hosts are asked, or have nothing to wait for")
		}
		if a := r.Allotment(); !a.Starved || a.Settled() {
			t.Errorf("hosts wait, and it says %+v", a)
		}
		ok(t, on.quotas.allot(ring.Portion{Pages: 1}))
		r.hosts.begin()
		r.quotas.letOn()
		if len(r.hosts.touched) != 1 || r.quotas.enough(h) {
			t.Errorf("%d hosts go on with a portion of one page, want 1", len(r.hosts.touched))
		}
		ok(t, r.quotas.reserve(&ring.Step{ID: page, URLKind: schema.KindPage}, h))
		ok(t, on.quotas.allot(ring.Portion{}))
		if a := r.Allotment(); a.Portion != 1 || a.Open != 1 {
			t.Errorf("it has asked for a page, and has %+v left", a)
		}
		ok(t, on.quotas.allot(ring.Portion{Pages: 1, Final: true}))
		r.quotas.letOn()
		if a := r.Allotment(); len(r.hosts.touched) != 2 || !r.quotas.spent(other) || a.Starved || !a.Settled() {
			t.Errorf("nothing is left anywhere, %d hosts were planned, and it says %+v", len(r.hosts.touched), a)
		}
		ok(t, on.quotas.allot(ring.Portion{Pages: 1}))
		if a := r.Allotment(); !a.Starved || a.Settled() || r.quotas.spent(other) {
			t.Errorf("something is left again, and it says %+v", a)
		}
	})
}

// What is open counts for the budget of a host; sitemaps do not.
func TestBudgetCountsWhatIsOpen(t *testing.T) {
	inTurn(t, "[crawler]\nmax-domain-requests = 2\n", func(r *Recorder, _ turn) {
		page := r.met(t, "https://a.test/x")
		h, live := r.hostOf(t, page), &liveHost{open: []schema.ID{0, page}}
		if r.quotas.exhausted(h, live) {
			t.Error("exhausted by one page")
		}
		r.ledger.countAsked(h, true)
		if !r.quotas.exhausted(h, live) || r.quotas.spent(h) {
			t.Error("not exhausted by two pages, or spent though one may come to nothing")
		}
		r.ledger.countAsked(h, true)
		if !r.quotas.spent(h) {
			t.Error("two requests for pages do not spend a budget of two")
		}
	})
}
