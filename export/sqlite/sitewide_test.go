package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestSiteWide queries the links of a theme.
func TestSiteWide(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("cited.test/"))
	for i := range 12 {
		w.Visit(fmt.Sprintf("a.test/%d", i), w.Links("theme.test/"))
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	db := write(t, w.Survey())
	for query, want := range map[string]string{
		"SELECT url, count(*), sum(sitewide) FROM links JOIN pages p ON p.id = to_page_id GROUP BY 1 ORDER BY 1": "" +
			"https://cited.test/|1|0\nhttps://theme.test/|12|12\n",
		"SELECT domain, links, editorial, sitewide FROM host_links JOIN hosts h ON h.id = to_id ORDER BY 1": "" +
			"cited.test|1|1|0\ntheme.test|12|0|12\n",
		"SELECT sum(editorial), sum(sitewide) FROM site_links":   "1|12\n",
		"SELECT sum(editorial), sum(sitewide) FROM entity_links": "1|12\n",
	} {
		if got := rows(t, db, query); got != want {
			t.Errorf("%s:\n%s", query, got)
		}
	}
}
