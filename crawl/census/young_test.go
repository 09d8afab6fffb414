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
		if got, err := Young(w.Store, config.Recrawl{MinAge: age, Given: true}); got != want || err != nil {
			t.Errorf("Young(%v) = %d, %v; want %d", age, got, err, want)
		}
	}
}

// TestYoungAmongKept has pages that a run kept, which are old, recorded behind those that it asked for.
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
	if got, err := Young(w.Store, config.Recrawl{MinAge: 24 * time.Hour, Given: true}); got != 5 || err != nil {
		t.Errorf("Young = %d, %v; want 5", got, err)
	}
}
