package record

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// A page that was visited is reported when another form of it is met, once, and opened
// again only if it was not found.
func TestReformed(t *testing.T) {
	for state, reopens := range map[schema.State]bool{schema.DeadLink: true, schema.Processed: false} {
		t.Run(state.String(), func(t *testing.T) {
			inTurn(t, "", func(r *Recorder, turn turn) {
				id := r.met(t, "https://a.test/x")
				h := r.hostOf(t, id)
				v := &schema.Visit{URL: id, Run: r.in.run.ID, State: state, Status: 404, Requests: 1,
					Knew:   schema.FormSet{Shapes: schema.ShapePlain},
					Length: -1}
				ok(t, turn.settle(h, v))
				r.met(t, "https://a.test/x")
				if met := r.urls.takeReformed(); len(met) > 0 {
					t.Errorf("%v are reported with the form they had", met)
				}
				r.met(t, "https://a.test/x/")
				if met := r.urls.takeReformed(); len(met) != 1 || met[0] != id {
					t.Errorf("%v are reported, want %d", met, id)
				}
				both := targetOf(r, mustParse(t, r, "https://www.a.test/x"))
				both.Forms = []string{"https://a.test/x"} // named in a new form and in one that is known
				if _, err := r.urls.record(both, schema.KindPage, 0); err != nil || len(r.urls.takeReformed()) != 1 {
					t.Errorf("named in a new form and in another, it is not reported (%v)", err)
				}
				if open, err := r.ledger.waitsAgain(id); err != nil || open != reopens {
					t.Errorf("reopened is %t, %v; want %t", open, err, reopens)
				}
			})
		})
	}
}

// A limit keeps a target from being recorded, and counts it.
func TestURLLimits(t *testing.T) {
	inTurn(t, "[traps]\nmax-urls-per-host = 2\nmax-hosts-per-site = 1\n", func(r *Recorder, turn turn) {
		for form, recorded := range map[string]bool{"https://x.b.test/": true} {
			if id := r.met(t, form); (id != 0) != recorded {
				t.Errorf("%s: id %d, want one: %t", form, id, recorded)
			}
		}
		if r.met(t, "https://y.b.test/") != 0 {
			t.Error("a second host of a site was recorded")
		}
		for n, by := range []string{"https://z.b.test/", "https://b.test/", "https://b.test/"} {
			id, err := r.urls.record(targetOf(r, mustParse(t, r, fmt.Sprintf("https://own%d.b.test/", n))), schema.KindPage, r.met(t, by))
			if ok(t, err); (id != 0) != (n == 1) { // the first is named by a page that has no place itself
				t.Errorf("host %d that its own site names: id %d", n, id)
			}
		}
		if r.met(t, "https://x.b.test/again") == 0 {
			t.Error("a URL of a host that is known was not recorded")
		}
		seed := r.met(t, "https://a.test/")
		own := func(n int) schema.ID {
			id, err := r.urls.record(targetOf(r, mustParse(t, r, fmt.Sprintf("https://a.test/own%d", n))), schema.KindPage, seed)
			ok(t, err)
			return id
		}
		first := r.met(t, "https://a.test/1")
		r.met(t, "https://a.test/2")
		for range 2 { // as other shards tell of one, with each start
			if r.met(t, "https://a.test/3") != 0 {
				t.Error("a third URL that only others name was recorded")
			}
		}
		if own(1) == 0 || own(2) != 0 { // the seed was the first
			t.Error("the host's own URLs have not as many places as others")
		}
		for i, want := range []bool{true, true, false} {
			to := targetOf(r, mustParse(t, r, fmt.Sprintf("https://a.test/%d.xml", i)))
			to.Hash = r.in.store.Hash(schema.KindSitemap, to.Norm)
			if id, err := r.urls.record(to, schema.KindSitemap, 0); err != nil || id != 0 != want {
				t.Errorf("sitemap %d: id %d, %v; want one: %t", i, id, err, want)
			}
		}
		if h := r.hostOf(t, first); h.Known-h.Files != 4 || h.Others != 2 || h.Overflow != 2 {
			t.Errorf("%d are known and %d were left out, want 4 and 2", h.Known-h.Files, h.Overflow)
		}
		ok(t, turn.sowOne("https://a.test/seed"))
		if h := r.hostOf(t, first); h.Known-h.Files != 5 || h.Overflow != 2 {
			t.Errorf("with a seed %d are known and %d were left out, want 5 and 2", h.Known-h.Files, h.Overflow)
		}
	})
}
