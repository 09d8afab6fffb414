package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// ask measures a question about a terrain of three million pages, asked of a survey that has
// derived nothing yet.
func ask(b *testing.B, question func(*survey.Survey) error) {
	store := scaletest.Open(b, scaletest.File(b, scaletest.Large()))
	b.ReportAllocs()
	for b.Loop() {
		s, err := survey.New(store)
		if err == nil {
			err = question(s)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(store.URLs()), "ns/URL")
}

// somePage returns a page of a host that belongs to no origin.
func somePage(s *survey.Survey) schema.ID { return schema.ID(s.URLs() * 7 / 10) }

func BenchmarkCounts(b *testing.B) {
	ask(b, func(s *survey.Survey) error { _, err := s.Counts(); return err })
}

func BenchmarkOneHost(b *testing.B) {
	ask(b, func(s *survey.Survey) error { _, err := s.Hosts.Report(s.Hosts.Of(somePage(s))); return err })
}

func BenchmarkWays(b *testing.B) {
	ask(b, func(s *survey.Survey) error { _, err := s.Ways(somePage(s), 10); return err })
}

func BenchmarkEachInto(b *testing.B) {
	ask(b, func(s *survey.Survey) error {
		to := somePage(s)
		return s.Links.EachInto(func(schema.HostID) bool { return true }, func(id schema.ID) bool { return id == to },
			func(schema.ID, schema.Link) error { return nil })
	})
}

func BenchmarkEachTarget(b *testing.B) {
	ask(b, func(s *survey.Survey) error { return s.Links.EachTarget(func(schema.ID, schema.ID) {}) })
}

func BenchmarkEachTargetWritten(b *testing.B) {
	ask(b, func(s *survey.Survey) error { return s.Links.EachTargetWritten(func(schema.ID, schema.ID) {}) })
}

func BenchmarkEachPageLarge(b *testing.B) {
	ask(b, func(s *survey.Survey) error { return s.EachPage(func(*survey.Page) error { return nil }) })
}
