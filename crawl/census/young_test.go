package census

import (
	"fmt"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

func TestYoung(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	visit := func(page string, age time.Duration, state schema.State) {
		w.At = time.Now().Add(-age)
		w.Visit(page, func(v *schema.Visit) { v.State = state })
	}
	visit("a.test/again", 4*time.Hour, schema.Processed)
	visit("a.test/old", 3*time.Hour, schema.Processed)
	visit("a.test/future", -240*time.Hour, schema.Processed) // the clock was wrong
	visit("a.test/young", 50*time.Minute, schema.Processed)
	visit("a.test/failed", 40*time.Minute, schema.Failed)
	visit("a.test/again", 30*time.Minute, schema.Processed)
	visit("a.test/again", 20*time.Minute, schema.Processed)
	for age, want := range map[time.Duration]int{0: 0, time.Minute: 0, 25 * time.Minute: 1, time.Hour: 2,
		5 * time.Hour: 3} {
		got, fresh, err := Young(w.Store, config.Recrawl{MinAge: age, Given: true})
		if got != want || fresh != 0 || err != nil {
			t.Errorf("Young(%v) = %d, %d, %v; want %d", age, got, fresh, err, want)
		}
	}
}

// TestYoungAmongKept has old pages, kept by a run, recorded behind those that it requested.
func TestYoungAmongKept(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	visit := func(page string, age time.Duration, kept bool) {
		w.At = time.Now().Add(-age)
		w.Visit(page, func(v *schema.Visit) { v.Kept = kept })
	}
	keep := func() {
		for i := range 20 {
			visit(fmt.Sprint("a.test/old/", i), 400*time.Hour, w.Run.ID > 1)
		}
	}
	keep()
	w.Begin()
	keep()
	w.Begin()
	for i := range 5 {
		visit(fmt.Sprint("a.test/young/", i), time.Hour, false)
	}
	keep()
	got, fresh, err := Young(w.Store, config.Recrawl{MinAge: 24 * time.Hour, Given: true})
	if got != 5 || fresh != 0 || err != nil {
		t.Errorf("Young = %d, %d, %v; want 5", got, fresh, err)
	}
}

// Pages that are older than min-age, and were answered as fresh for longer, are counted apart: unless the configuration
// sets min-age.
func TestFreshAreNotYoung(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i, age := range []time.Duration{60 * time.Hour, 30 * time.Hour, 30 * time.Hour, time.Hour} {
		w.At = time.Now().Add(-age)
		w.Visit(fmt.Sprint("a.test/", i), func(v *schema.Visit) { v.Fresh = 48 * time.Hour })
	}
	for given, want := range map[bool][2]int{false: {1, 2}, true: {1, 0}} {
		young, fresh, err := Young(w.Store, config.Recrawl{MinAge: 24 * time.Hour, Given: given})
		if got := [2]int{young, fresh}; got != want || err != nil {
			t.Errorf("min-age is set: %v: %v, %v; want %v", given, got, err, want)
		}
	}
}
