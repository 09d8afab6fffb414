package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

func benchSurvey(b *testing.B) *survey.Survey {
	store, err := kv.Open(scaletest.File(b, scaletest.Large()), kv.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	s, err := survey.New(store)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkCounts(b *testing.B) {
	s := benchSurvey(b)
	for b.Loop() {
		if _, err := s.Counts(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchVisits(b *testing.B, f func(tx *kv.Tx) error) {
	store, err := kv.Open(scaletest.File(b, scaletest.Large()), kv.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	for b.Loop() {
		if err := store.View(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEachLinks(b *testing.B) {
	n := 0
	benchVisits(b, func(tx *kv.Tx) error {
		want := func(schema.Seq, schema.ID) bool { return true }
		return tx.Visits.EachLinks(want, func(_ schema.Seq, _ schema.ID, l []schema.Link, _ schema.Seq) error {
			n += len(l)
			return nil
		})
	})
}

func BenchmarkSkim(b *testing.B) {
	n := 0
	benchVisits(b, func(tx *kv.Tx) error {
		all := func(schema.Seq, schema.ID) bool { return true }
		return tx.Visits.Skim(all, func(v *schema.Visit) error {
			n += len(v.Links)
			return nil
		})
	})
}

func BenchmarkWays(b *testing.B) {
	s := benchSurvey(b)
	id := schema.ID(s.URLs() * 7 / 10)
	for b.Loop() {
		if _, err := s.Ways(id, 10); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIn(b *testing.B) {
	s := benchSurvey(b)
	id := schema.ID(s.URLs() * 7 / 10)
	for b.Loop() {
		if _, _, err := s.In(id, 20); err != nil {
			b.Fatal(err)
		}
	}
}
