package sqlite_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A host's share of near-duplicates is in the file and in the tables that are read from the state file.
func TestDuplicateShare(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for name, hash := range map[string]schema.SimHash{"a.test/": 0xff00, "b.test/1": 0xff01, "b.test/2": 0xfff0 << 40,
		"c.test/": 0} {
		w.Visit(name, func(v *schema.Visit) { v.SimHash = hash })
	}
	w.Depth("a.test/", 0, 0)
	s := w.Survey()
	file, read := write(t, s), openDB(t, s)
	for query, want := range map[string]int{
		"SELECT count(*) FROM hosts WHERE domain = 'a.test' AND duplicate_share = 0":   1,
		"SELECT count(*) FROM hosts WHERE domain = 'b.test' AND duplicate_share = 0.5": 1,
		"SELECT count(*) FROM hosts WHERE duplicate_share IS NULL":                     1,
		"SELECT count(*) FROM pages WHERE duplicate_of IS NOT NULL":                    1,
	} {
		var got int
		if err := file.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", query, got, err, want)
		}
		sameAnswer(t, read, file, query)
	}
}
