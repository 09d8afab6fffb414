package serve

import (
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// The visits to each host are found directly, and agree with the whole log.
func TestEachVisit(t *testing.T) {
	size := scaletest.Size{Pages: 3000, Visited: 2000, Links: 9000, Hosts: 20, Runs: 2}
	store := scaletest.Open(t, scaletest.Made(t, size))
	o := &opened{Inspector: answer.Inspector{State: &statefile.State{Survey: crawltest.Survey(t, store), Store: store}}}
	err := store.View(func(tx *kv.Tx) error {
		log := map[schema.HostID][]schema.Seq{}
		for seq := store.LastSeq(); seq > 0; seq-- {
			v, err := tx.Visits.At(seq)
			if err != nil {
				return err
			}
			log[store.HostOf(v.URL)] = append(log[store.HostOf(v.URL)], seq)
		}
		for host, want := range log {
			var got []schema.Seq
			err := o.eachVisit(tx, host, func(v *schema.Visit) bool {
				got = append(got, v.Seq)
				return len(got) < 100
			})
			if want = want[:min(100, len(want))]; err != nil || !slices.Equal(got, want) {
				t.Errorf("host %d: %v, %v; want %v", host, got, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A month passes between two runs. It does not count as a gap between two requests.
func TestVisitsTo(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	w.Visit("a.test/x", nil)
	w.At = w.At.Add(30 * 24 * time.Hour)
	w.Begin()
	w.Visit("a.test/", nil)
	w.Visit("a.test/x", nil)
	state := &statefile.State{Survey: w.Survey(), Store: w.Store}
	found, err := (&opened{Inspector: answer.Inspector{State: state}}).visitsTo("a.test")
	var gaps []int64
	for _, r := range found.Requests {
		gaps = append(gaps, r.GapMS)
	}
	if want := []int64{1000, 0, 1000, 0}; err != nil || !slices.Equal(gaps, want) {
		t.Errorf("the gaps are %v, %v; want %v", gaps, err, want)
	}
}
