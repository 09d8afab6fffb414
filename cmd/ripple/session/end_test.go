package session

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// The end of a crawl reports the hosts whose pages have no links, the same as in the summary.
func TestUnlinked(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	for _, page := range []string{"b.test/", "c.test/1", "c.test/2"} {
		w.Depth(page, 1, 0)
		w.Visit(page, nil)
	}
	s := w.Survey()
	lines, err := remarks(s)
	if err != nil {
		t.Fatal(err)
	}
	var told, summed strings.Builder
	for _, line := range lines {
		told.WriteString(line.Text + "\n")
	}
	if err := summary.Write(&summed, s, "v1", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(summed.String(), "### Domains Whose Pages Have No Links")
	for _, tt := range []struct {
		host, pages string
		want        bool
	}{{"a.test", "1 page", true}, {"b.test", "1 page", false}, {"c.test", "2 pages", true}} {
		line := tt.host + ": " + tt.pages + " without a link\n"
		if strings.Contains(told.String(), line) != tt.want {
			t.Errorf("%s: want %t of %q in\n%s", tt.host, tt.want, line, told.String())
		}
		if strings.Contains(list, "- "+tt.host+" ("+tt.pages+")\n") != tt.want {
			t.Errorf("%s: want %t in\n%s", tt.host, tt.want, list)
		}
	}
}
