package main

import (
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestEachVisit finds the visits to each host by themselves, as the whole log has them.
func TestEachVisit(t *testing.T) {
	size := scaletest.Size{Pages: 3000, Visited: 2000, Links: 9000, Hosts: 20, Runs: 2}
	store := scaletest.Open(t, scaletest.Made(t, size))
	o := &opened{reading: &reading{Survey: crawltest.Survey(t, store), store: store}}
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
