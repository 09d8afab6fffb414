package session

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A practically unlimited budget takes long, not no time.
func TestEstimateOfVeryMany(t *testing.T) {
	tests := []struct {
		requests int
		gap      time.Duration
		want     time.Duration
	}{
		{0, time.Second, 0},
		{1000, time.Second, 1000 * time.Second},
		{1<<31 - 1, time.Second, (1<<31 - 1) * time.Second},
		{1<<31 - 1, 5 * time.Second, math.MaxInt64},
		{1<<31 - 1, 10 * time.Second, math.MaxInt64},
		{1, 1 << 62, 1 << 62},
	}
	for _, tt := range tests {
		var e estimate
		if e.add(tt.requests, tt.gap); e.Time != tt.want {
			t.Errorf("%d requests, %v apart: %v, want %v", tt.requests, tt.gap, e.Time, tt.want)
		}
	}
}

// The previous run ended by a clock that was ahead.
func TestBegunByAWrongClock(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	before := w.Run
	before.Finished = time.Now().Add(3 * time.Hour)
	w.Begin()
	lines, err := begunLines(w.Store, w.Config, crawl.Begun{Run: w.Run, Before: before}, true)
	if err != nil || !strings.HasPrefix(lines[0], "run #1 completed 0 s ago; run #2 begins") {
		t.Errorf("%q, %v", lines, err)
	}
}

// The hosts of all seeds count, though robots.txt is not requested from all of them; patterns are
// listed only up to a limit.
func TestEstimateOfManyOrigins(t *testing.T) {
	var text strings.Builder
	text.WriteString("[crawler]\nmax-depth = 0\n")
	for i := range 150 {
		fmt.Fprintf(&text, "[[quality]]\ndomain = \"*.h%d.test\"\nseeds = [\"https://h%[1]d.test/\"]\n", i)
	}
	cfg := crawltest.Parse(t, crawltest.Paper(text.String()))
	var out strings.Builder
	if err := showEstimate(&out, &prospect{cfg: cfg}, []crawl.Peeked{{Host: "h0.test", Asked: true}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"75,000 requests for pages to 150 known hosts", "*.h106.test and 140 more\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// The pages left to visit in a resumed run are those of stats, however often a page is in a queue,
// whatever earlier runs have left in queues, and even if only retries are left.
func TestEstimateOfWaiting(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	w.Visit("former.test/", nil)
	w.Push("left.test/")
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/1", "retry.test/"))
	w.Depth("a.test/1", 0, 0)
	w.Push("a.test/1")
	w.Push("a.test/1")
	w.Depth("retry.test/", 1, 0)
	w.Host("retry.test/", func(h *schema.Host) {
		h.Retries = []schema.Retry{{URL: w.Page("retry.test/"), Attempts: 1}}
	})
	w.Host("former.test/", func(h *schema.Host) { // the run no longer reaches it
		h.Retries = []schema.Retry{{URL: w.Page("former.test/"), Attempts: 1}}
	})
	s, err := answer.NewStats(&statefile.State{Survey: w.Survey(), Store: w.Store}, 10)
	if err != nil {
		t.Fatal(err)
	}
	p := &prospect{cfg: w.Config, store: w.Store, goes: true}
	hosts, err := p.hosts(nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.least(hosts, nil)
	if err != nil || e.Requests != 2 || e.Hosts != 2 || s.Left.PagesToVisit != e.Requests {
		t.Errorf("a dry run says %+v, stats %+v; %v", e, s.Left, err)
	}
}
