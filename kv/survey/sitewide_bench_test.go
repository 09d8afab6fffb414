package survey_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// BenchmarkEachLink reads 20,000 pages on 50 hosts with 40 links each, or 100,000 with
// RIPPLE_BENCH_LARGE set. "of-first" is the share of the first pass that the second one, in which
// site-wide links are known, does not need.
func BenchmarkEachLink(b *testing.B) {
	const hosts, degree = 50, 40
	pages := 20_000
	if os.Getenv("RIPPLE_BENCH_LARGE") != "" {
		pages = 100_000
	}
	w := surveytest.New(b, surveytest.Minimal)
	w.Update(func(tx *kv.Tx) error {
		for i := range hosts {
			if _, err := tx.Hosts.Add(fmt.Sprintf("h%d.test", i)); err != nil {
				return err
			}
		}
		for i := range pages {
			path := fmt.Sprintf("/%d", i)
			u := schema.URL{Host: schema.HostID(i%hosts + 1), PathQuery: path, FirstSeen: w.At, FirstRun: 1}
			id, err := tx.URLs.Add(u, w.Store.Hash(schema.KindPage, fmt.Sprintf("https://h%d.test%s", i%hosts, path)))
			if err != nil {
				return err
			}
			tx.Depths.Lower(id, 0, 0)
		}
		return nil
	})
	w.Update(func(tx *kv.Tx) error {
		for i := range pages {
			v := &schema.Visit{
				URL: schema.ID(i + 1), Run: 1, At: w.At, State: schema.Processed, Status: 200, Requests: 1,
				Content: schema.Content{Charset: "utf-8", Title: "A title"}, ContentType: "text/html",
				Form: fmt.Sprintf("https://h%d.test/%d", i%hosts, i),
			}
			for j := range degree {
				to := j // the first half is on every page
				if j >= degree/2 {
					to = degree + (i*31+j*7919)%(pages-degree)/degree*degree + j
				}
				v.Links = append(v.Links, schema.Link{To: schema.ID(min(to, pages-degree+j) + 1),
					Kinds: surveytest.Kinds(schema.LinkAnchor), Anchor: "a link"})
			}
			if _, err := tx.Visits.Add(v); err != nil {
				return err
			}
		}
		return nil
	})
	count := func(schema.ID, schema.Link, schema.RunID, schema.RunID) error { return nil }
	var first, second time.Duration
	for b.Loop() {
		s := w.Survey()
		for _, took := range []*time.Duration{&first, &second} {
			begun := time.Now()
			if err := s.Links.Each(count); err != nil {
				b.Fatal(err)
			}
			*took += time.Since(begun)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(first.Seconds()/float64(b.N), "s/first")
	b.ReportMetric(1-second.Seconds()/first.Seconds(), "of-first")
}
