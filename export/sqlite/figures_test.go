package sqlite_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Every figure of a host is counted, and is in the file and in the tables that are read from the state file.
func TestHostFigures(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", func(v *schema.Visit) {
		v.Title, v.Shell, v.Distinct = "Home", schema.ShellMount, 5
		w.Links("a.test/waits")(v)
	})
	w.Visit("a.test/walled", func(v *schema.Visit) {
		v.State, v.Answer, v.AnswerRule = schema.Failed, schema.AnswerChallenge, "anubis-challenge"
	})
	w.Visit("a.test/endless", func(v *schema.Visit) { v.Rendering = schema.RenderTimedOut | schema.RenderOnce })
	w.Depth("a.test/waits", 1, 0)
	w.Push("a.test/waits")
	w.Host("a.test/", func(h *schema.Host) {
		h.Visits, h.Requests, h.Preferences = 7, 9, "robots.txt: License: l"
	})
	s := w.Survey()
	id, _, err := s.Hosts.Lookup("a.test")
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Hosts.Report(id)
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, s)
	read := openDB(t, s)
	empty := []string{"MissingPages", "SoftPages", "WalledPages", "Parked"} // of a host that shows only pages
	for _, figures := range []reflect.Value{reflect.ValueOf(h.HostFigures), reflect.ValueOf(h.HostDetails)} {
		for i := range figures.NumField() {
			f, value := figures.Type().Field(i), figures.Field(i)
			if value.IsZero() && !slices.Contains(empty, f.Name) {
				t.Errorf("%s is not counted", f.Name)
			}
			if f.Tag.Get("sql") == "-" {
				continue
			}
			want := fmt.Sprint(reflect.Indirect(value))
			query := "SELECT coalesce(" + f.Tag.Get("json") + ", '') FROM hosts"
			var got string
			if err := file.QueryRow(query).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, %v; want %q", f.Name, got, err, want)
			}
			sameAnswer(t, read, file, query)
		}
	}
}
