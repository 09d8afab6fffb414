package record

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// What a foreign page names neither displaces nor precedes what the host says, in whatever order they are read.
func TestForeignFormsComeLast(t *testing.T) {
	naming := map[string][]string{ // by a page of: forms of https://b.test/x?a=1&b=2
		"https://c.test/": {"https://www.www.b.test/x?a=1&b=2", "https://b.test/x?a=1&&b=2", "https://b.test/x//?a=1&b=2",
			"https://b.test/x?a=1&b=2", "https://b.test/x///?a=1&b=2"},
		"https://d.test/": {"https://b.test/x?&a=1&b=2", "https://www.b.test/x/?a=1&b=2"},
		"https://b.test/": {"https://b.test/x/?a=1&b=2", "https://b.test/x?b=2&a=1"},
	}
	want := []string{"https://b.test/x/?a=1&b=2", "https://b.test/x?b=2&a=1", // its own
		"https://b.test/x?a=1&b=2", "https://www.b.test/x/?a=1&b=2", // those that follow from the identity
		"https://b.test/x///?a=1&b=2", "https://b.test/x//?a=1&b=2"}
	pages := []string{"https://b.test/", "https://c.test/", "https://d.test/"}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		inTurn(t, "", func(r *Recorder, _ turn) {
			var id schema.ID
			for _, page := range order {
				from := r.met(t, pages[page])
				for _, form := range naming[pages[page]] {
					var err error
					id, err = r.urls.record(targetOf(r, mustParse(t, r, form)), schema.KindPage, from)
					ok(t, err)
				}
			}
			forms, err := r.in.tx.URLs.Forms(id)
			if got := forms.All(); err != nil || !slices.Equal(got, want) {
				t.Errorf("read in the order %v, they are tried as %q, %v; want %q", order, got, err, want)
			}
			c := pageChooser{in: &r.in}
			tried, err := c.forms(id, r.hostOf(t, id))
			if err != nil || !slices.Equal(tried, want) {
				t.Errorf("tried are %q, %v", tried, err)
			}
		})
	}
}

// A foreign form at which nothing was found loses its place to the next that is met, and does not come back for it.
func TestForeignFormsAreReplaced(t *testing.T) {
	inTurn(t, "", func(r *Recorder, _ turn) {
		from := r.met(t, "https://c.test/")
		name := func(form string) schema.ID {
			id, err := r.urls.record(targetOf(r, mustParse(t, r, form)), schema.KindPage, from)
			ok(t, err)
			return id
		}
		form := func(n int) string { return fmt.Sprintf("https://b.test/x/%s", slices.Repeat([]byte("/"), n)) }
		id := name("https://b.test/x")
		replaced := 0
		for n := 1; n < 40; n++ {
			name(form(n))
			forms, err := r.in.tx.URLs.Forms(id)
			ok(t, err)
			if slices.Contains(forms.Foreign, form(n)) {
				replaced++
			}
			ok(t, r.in.tx.URLs.MissForms(id, []string{form(n)}))
			before := forms.Set()
			name(form(1))
			if forms, err = r.in.tx.URLs.Forms(id); err != nil || len(forms.Foreign) > schema.MaxForeignForms ||
				n > 2 && forms.Set() != before {
				t.Fatalf("after %d forms: %+v, %v", n, forms, err)
			}
		}
		if replaced != 2+20 {
			t.Errorf("%d foreign forms had a place, want 22", replaced)
		}
	})
}

// A page that was found at a foreign form waits again for an own one, and is asked there first; one that was found
// at an own form does not.
func TestOwnFormReopens(t *testing.T) {
	for own, want := range map[bool]bool{true: false, false: true} {
		inTurn(t, "", func(r *Recorder, turn turn) {
			by := map[bool]schema.ID{true: r.met(t, "https://b.test/"), false: r.met(t, "https://c.test/")}
			id, err := r.urls.record(targetOf(r, mustParse(t, r, "https://b.test/x")), schema.KindPage, by[own])
			ok(t, err)
			forms, err := r.in.tx.URLs.Forms(id)
			ok(t, err)
			ok(t, turn.settle(r.hostOf(t, id), &schema.Visit{URL: id, Run: r.in.run.ID, State: schema.Processed, Status: 200,
				Requests: 1, Form: "https://b.test/x", Knew: forms.Set(), Length: -1}))
			_, err = r.urls.record(targetOf(r, mustParse(t, r, "https://b.test/x/")), schema.KindPage, by[true])
			ok(t, err)
			if open, err := r.ledger.waitsAgain(id); err != nil || open != want {
				t.Errorf("found at an own form: %t; it waits again: %t, %v", own, open, err)
			}
			c := pageChooser{in: &r.in}
			tried, err := c.forms(id, r.hostOf(t, id))
			first := map[bool]string{true: "https://b.test/x", false: "https://b.test/x/"}[own]
			if err != nil || len(tried) != 2 || tried[0] != first {
				t.Errorf("found at an own form: %t; tried are %q, %v", own, tried, err)
			}
		})
	}
}

// Another shard is told which forms are own ones.
func TestReferralTellsOwnForms(t *testing.T) {
	inTurn(t, "", func(r *Recorder, _ turn) {
		id := r.met(t, "https://b.test/x")
		from := r.met(t, "https://b.test/")
		for _, form := range []string{"https://b.test/x/", "https://b.test/x?"} {
			_, err := r.urls.record(targetOf(r, mustParse(t, r, form)), schema.KindPage, from)
			ok(t, err)
		}
		ref, err := r.Referral(r.in.tx, id)
		ok(t, err)
		to, fits := r.in.targetOf(&ref)
		forms := append([]string{to.Form}, to.Forms...)
		if want := []string{"https://b.test/x/", "https://b.test/x?", "https://b.test/x"}; !fits || to.Own != 2 ||
			!slices.Equal(forms, want) {
			t.Errorf("told are %q, of which %d are own ones", forms, to.Own)
		}
	})
}
