package survey_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLinksOfAnother forges the links of one page as the current ones of many others: reading them
// all would take many times the size of the file.
func TestLinksOfAnother(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/1", "a.test/2", "b.test/"))
	for i := range 12 {
		w.Visit(fmt.Sprint("a.test/", i), func(v *schema.Visit) { v.Status, v.Stand = 304, 1 })
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", func(v *schema.Visit) { v.Status, v.Stand = 304, 2 })
	page := w.Page("a.test/1")
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	nothing := func(schema.ID, schema.Link, schema.RunID, schema.RunID) error { return nil }
	for name, ask := range map[string]func(s *survey.Survey) error{
		"table": func(s *survey.Survey) error {
			_, err := s.LinkTable(func(*survey.Page) error { return nil })
			return err
		},
		"counts":    func(s *survey.Survey) error { _, err := s.Counts(); return err },
		"pages":     func(s *survey.Survey) error { return s.EachPage(func(*survey.Page) error { return nil }) },
		"links":     func(s *survey.Survey) error { return s.Links.Each(nothing) },
		"targets":   func(s *survey.Survey) error { return s.Links.EachTarget(func(_, _ schema.ID) {}) },
		"ever":      func(s *survey.Survey) error { return s.Ever().Links.Each(nothing) },
		"site-wide": func(s *survey.Survey) error { _, err := s.Links.SiteWide(1, schema.Link{}); return err },
		"out":       func(s *survey.Survey) error { _, err := s.Links.Out(page); return err },
		"between": func(s *survey.Survey) error {
			return s.Links.EachBetween([][2]schema.ID{{page, page}}, func(int, schema.Link) error { return nil })
		},
		"changes": func(s *survey.Survey) error {
			d, err := survey.Compare(s, 1, 2)
			if err == nil {
				_, err = d.Sum()
			}
			return err
		},
	} {
		store, err := kv.Open(w.Store.Path(), kv.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := survey.New(store)
		if err == nil {
			err = ask(s)
		}
		if !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		store.Close()
	}
}
