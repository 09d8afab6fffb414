package record

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// said returns all that a page can say, without what the recorder counts of its links.
func said(t *testing.T, seed int) schema.Content {
	t.Helper()
	var c schema.Content
	surveytest.Fill(t, &c, seed)
	c.BeyondHosts, c.BeyondText, c.LinkLimit = 0, 0, 0
	c.Preferences = fmt.Sprintf("header: Content-Usage: train-ai=%d", seed)
	return c
}

// Whatever a page says is recorded, stays when the page is found unmodified or is kept, and is recorded again when
// another reading of it says something else.
func TestContentIsRecorded(t *testing.T) {
	inTurn(t, "[crawler]\nrespect-noindex = false\n", func(r *Recorder, turn turn) {
		id, at := r.met(t, "https://a.test/"), time.Unix(1_700_000_000, 0)
		outcome := func(c schema.Content) *ring.Outcome {
			return &ring.Outcome{
				Step: ring.Step{Kind: ring.Get, ID: id, URL: "https://a.test/", Settings: r.in.set}, Status: 200, FirstByte: at,
				Page: &page.Page{Content: c}, Length: 1, SHA256: [32]byte{1}, ContentType: "text/html",
			}
		}
		add := func(o *ring.Outcome) *schema.Visit {
			v, err := turn.builder.visit(o, judge.Verdict{State: schema.Processed})
			ok(t, err)
			_, err = r.in.tx.Visits.Add(v)
			ok(t, err)
			return v
		}
		want := said(t, 1)
		first := add(outcome(want))
		if diff := cmp.Diff(want, first.Content); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		unmodified := outcome(schema.Content{})
		unmodified.Status, unmodified.Page, unmodified.Step.Visit.Revisit = 304, nil, first.Seq
		again := add(unmodified)
		if diff := cmp.Diff(want.Brief(), again.Content); diff != "" || again.Stand != first.Seq {
			t.Errorf("unmodified, as of %d (-want +got):\n%s", again.Stand, diff)
		}
		r.in.run.FirstVisit = again.Seq + 1 // as in the next run
		_, err := turn.plan.chooser.settleKept(id, true)
		ok(t, err)
		if len(turn.plan.chooser.settle) != 1 {
			t.Fatalf("%d pages are kept", len(turn.plan.chooser.settle))
		}
		if kept := turn.plan.chooser.settle[0]; !kept.Content.Same(want.Brief()) || kept.Stand != first.Seq {
			t.Errorf("kept, as of %d: %+v", kept.Stand, kept.Content)
		}
		other := said(t, 2)
		for _, c := range []schema.Content{want, other} {
			after, err := turn.redraft(outcome(c), again)
			ok(t, err)
			if diff := cmp.Diff(c, after.Content); diff != "" {
				t.Errorf("read again (-want +got):\n%s", diff)
			}
			changed, err := differs(r.in.tx, again, after)
			if ok(t, err); changed == c.Same(want) {
				t.Errorf("that a page says %+v is a change: %t", c, changed)
			}
		}
	})
}
