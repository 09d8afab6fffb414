package docs_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// The dashboard uses existing metrics, with labels that they have, and all of them.
func TestDashboard(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(docs.Dashboard), &dashboard); err != nil {
		t.Fatal(err)
	}
	shown := shownMetrics(t)
	asked := map[string]bool{}
	selector := regexp.MustCompile(`(ripple_\w+)(?:\{([^}]*)\})?`)
	for _, p := range dashboard.Panels {
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("a panel says or asks nothing: %+v", p)
		}
		for _, target := range p.Targets {
			for _, found := range selector.FindAllStringSubmatch(target.Expr, -1) {
				labels, ok := shown[found[1]]
				if !ok {
					t.Errorf("%s: there is no %s", p.Title, found[1])
				}
				for _, label := range regexp.MustCompile(`(\w+)!?=`).FindAllStringSubmatch(found[2], -1) {
					if label[1] != "job" && !slices.Contains(labels, label[1]) {
						t.Errorf("%s: %s has no label %s", p.Title, found[1], label[1])
					}
				}
				asked[strings.TrimSuffix(found[1], "_bucket")] = true
			}
		}
	}
	for name := range shown {
		family := name
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			family = strings.TrimSuffix(family, end)
		}
		if !asked[family] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// shownMetrics returns the names in a scrape, with their labels.
func shownMetrics(t *testing.T) map[string][]string {
	t.Helper()
	m := meter.New(meter.Build{Version: "v", Commit: "c", Go: "g"})
	p := m.Shard(0, func(context.Context) meter.Moment { return meter.Moment{} })
	m.Terrain(func(context.Context) meter.Terrain {
		long := time.Unix(1, 0)
		return meter.Terrain{Seen: long, Shards: map[string]int{"silent": 1}, Silent: map[int]time.Time{0: long}}
	})
	m.Committed(crawl.Commit{Outcomes: []ring.Outcome{{Step: ring.Step{Kind: ring.Get, Sent: time.Unix(1, 0)},
		Status: 200, Done: time.Unix(2, 0)}}})
	p.Visited(crawl.Event{})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	shown := map[string][]string{}
	label := regexp.MustCompile(`(\w+)="`)
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(strings.Fields(line)[0], "{")
		var labels []string
		for _, found := range label.FindAllStringSubmatch(rest, -1) {
			labels = append(labels, found[1])
		}
		shown[name] = labels
	}
	if len(shown) < 12 {
		t.Fatalf("only %d metrics are shown", len(shown))
	}
	return shown
}
