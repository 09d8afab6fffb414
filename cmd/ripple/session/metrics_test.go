package session

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

func TestMetricsFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, want string // want: "" if it is refused
	}{
		{"missing", "-", metricsHeader},
		{"empty", "", metricsHeader},
		{"a torn header", "timestamp,me", metricsHeader},
		{"whole lines", metricsHeader + "1,requests,2\n", metricsHeader + "1,requests,2\n"},
		{"a torn line", metricsHeader + "1,requests,2\n1,pages_cr", metricsHeader + "1,requests,2\n"},
		{"a torn first line", metricsHeader + "1", metricsHeader},
		{"somebody's", "my notes\n", ""},
		{"somebody's table", "timestamp,metric,values\n1,2,3\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "metrics.csv")
			if tt.before != "-" {
				if err := os.WriteFile(path, []byte(tt.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			m, err := openMetrics(path)
			if tt.want == "" {
				if !term.IsUserError(err) {
					t.Errorf("openMetrics = %v, want what can be mended", err)
				}
				tt.want = tt.before
			} else if err != nil {
				t.Fatal(err)
			} else {
				m.file.Close()
			}
			if text, _ := os.ReadFile(path); string(text) != tt.want {
				t.Errorf("the file holds %q, want %q", text, tt.want)
			}
		})
	}
}

func TestMetricsEveryTenSeconds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.csv")
	synctest.Test(t, func(t *testing.T) {
		m, err := openMetrics(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
		defer cancel()
		pages := 0
		status := func() census.Status {
			pages += 5
			errs := map[string]int{"timeout": 1}
			return census.Status{RunID: 3, Pages: pages, Errors: errs, PagesPerSecond: 0.5}
		}
		if err := m.follow(ctx, status, func(err error) { t.Error(err) }); err != nil {
			t.Fatal(err)
		}
	})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"946684810,pages_requested,5\n", "946684820,pages_requested,10\n",
		"946684830,pages_requested,15\n",
		"946684835,pages_requested,20\n", "946684835,errors_timeout,1\n", "946684835,pages_per_second,0.5\n",
		"946684835,run_id,3\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if n := strings.Count(string(text), ",run_id,"); n != 4 {
		t.Errorf("%d moments, want 4", n)
	}
}

// TestTransfer counts the requests in commits.
func TestTransfer(t *testing.T) {
	var tr transfer
	again := ring.Outcome{Status: 503, Length: -1}
	again.Step.Visit.Retries = 1
	tr.add(crawl.Commit{Outcomes: []ring.Outcome{
		{Status: 200, Length: 100}, {Status: 304, Length: -1}, {Status: 0, Length: -1}, {Status: 999, Length: 5}, again,
	}})
	got := map[string]float64{}
	tr.lines(func(metric string, value float64) {
		if value != 0 {
			got[metric] = value
		}
	})
	want := map[string]float64{
		"bytes": 105, "status_2xx": 1, "status_3xx": 1, "status_5xx": 1, "not_modified_304": 1, "retries": 1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}
