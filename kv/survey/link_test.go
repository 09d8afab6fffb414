package survey_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLinks walks a terrain three times: links appear, stay, and disappear.
func TestLinks(t *testing.T) {
	w := surveytest.New(t, minimal)
	next := func() {
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
		w.Begin()
	}
	seq := w.Visit("a.test/", w.Links("a.test/1", "a.test/2"))
	w.Visit("b.test/", w.Links("a.test/1"))
	next()
	w.Visit("a.test/", func(v *schema.Visit) { v.Status, v.Stand, v.Title = 304, seq, "" })
	w.Visit("b.test/", func(v *schema.Visit) { v.State, v.Status = schema.Failed, 500 })
	next()
	w.Visit("a.test/", w.Links("a.test/2", "a.test/3"))

	name := map[schema.ID]string{}
	for _, n := range []string{"a.test/", "a.test/1", "a.test/2", "a.test/3", "b.test/"} {
		name[w.Page(n)] = n
	}
	var got []string
	s := w.Survey()
	err := s.Links.Each(func(from schema.ID, link schema.Link, first, last schema.RunID) error {
		got = append(got, fmt.Sprintf("%s %s %q %d-%d", name[from], name[link.To], link.Anchor, first, last))
		_, err := s.Page(link.To) // calls may be nested
		return err
	})
	want := []string{`a.test/ a.test/2 "to a.test/2" 1-3`, `a.test/ a.test/3 "to a.test/3" 3-3`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("EachLink: %v\n%s", err, diff)
	}
	out, err := s.Links.Out(w.Page("a.test/"))
	if err != nil || len(out) != 2 || out[0].Anchor != "to a.test/2" {
		t.Errorf("Out = %+v, %v", out, err)
	}
	targets := 0
	if err := s.Links.EachTarget(func(_, _ schema.ID) { targets++ }); err != nil || targets != 2 {
		t.Errorf("EachTarget: %d links, %v", targets, err)
	}
	got = nil
	err = s.Ever().Links.Each(func(from schema.ID, link schema.Link, first, last schema.RunID) error {
		got = append(got, fmt.Sprintf("%s %s %q %d-%d", name[from], name[link.To], link.Anchor, first, last))
		return nil
	})
	want = []string{
		`a.test/ a.test/1 "to a.test/1" 1-2`, `a.test/ a.test/2 "to a.test/2" 1-3`, `a.test/ a.test/3 "to a.test/3" 3-3`,
		`b.test/ a.test/1 "to a.test/1" 1-1`,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("EachLinkEver: %v\n%s", err, diff)
	}
	if p := look(t, w, "a.test/1"); p.FirstRun != 1 || p.LastRun != 2 {
		t.Errorf("a page that is linked no more was seen in runs %d to %d; want 1 to 2", p.FirstRun, p.LastRun)
	}
	stop := errors.New("stop")
	if err := s.Links.Each(func(schema.ID, schema.Link, schema.RunID, schema.RunID) error { return stop }); !errors.Is(err,
		stop) {
		t.Errorf("EachLink = %v; want the error of its function", err)
	}
}

// TestStanding shows the facts of the visit whose links are current.
func TestStanding(t *testing.T) {
	w := surveytest.New(t, minimal)
	seq := w.Visit("a.test/", func(v *schema.Visit) {
		v.Title, v.ETag, v.Facts, v.SHA256 = "Home", `"1"`, []schema.Fact{{Name: "n", Value: "v"}}, [32]byte{7}
		w.Links("a.test/1")(v)
	})
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", func(v *schema.Visit) {
		v.Status, v.Stand, v.ContentType, v.Charset, v.Length = 304, seq, "", "", -1
	})
	p := look(t, w, "a.test/")
	v := p.Visit
	if v.Status != 304 || v.Title != "Home" || v.ETag != `"1"` || v.Charset != "utf-8" || v.Length != 10 ||
		v.SHA256[0] != 7 ||
		len(v.Facts) != 1 || len(v.Links) != 1 || v.ContentType != "text/html" || p.FirstRun != 1 || p.LastRun != 2 {
		t.Errorf("page %+v, visit %+v", p, v)
	}
}

// A coverRow makes a page of a host and states how well the host is covered.
type coverRow struct {
	host    string
	make    func(page string)
	cover   survey.Cover
	text    string
	missing int
}

// hostRows have hosts that are covered completely, or limited by one thing.
func hostRows(w *surveytest.World) []coverRow {
	return []coverRow{
		{"stub.test", func(p string) { w.Depth(p, 1, 0) }, survey.CoverListed, "stub", 0},
		{"given.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpRobots, schema.Reason{Cause: schema.CauseRobots, Detail: "503"}
			})
		}, survey.CoverGivenUp, "given up: robots.txt unavailable: 503", 1},
		{"down.test", func(p string) {
			w.Visit(p, func(v *schema.Visit) { v.State, v.Status, v.Charset = schema.Unreachable, 0, "" })
		}, survey.CoverGivenUp, "unreachable", 1},
		{"mute.test", func(p string) { w.Visit(p, unanswered); w.Visit("mute.test/2", unanswered) },
			survey.CoverGivenUp, "no answer (to 2 of 2 pages)", 2},
		{"once.test", func(p string) { w.Visit(p, nil); w.Visit("once.test/2", unanswered) },
			survey.CoverComplete, "complete", 1},
		{"begun.test", func(p string) { w.Visit(p, unanswered); w.Depth("begun.test/2", 1, 0) },
			survey.CoverWaiting, "1 not finished, 1 without an answer", 2},
		{"garbled.test", func(p string) {
			w.Visit(p, func(v *schema.Visit) {
				v.State, v.Status, v.Charset, v.Reason.Cause = schema.Failed, 0, "", schema.CauseBadResponse
			})
		}, survey.CoverComplete, "complete", 0},
		{"broken.test", func(p string) { w.Visit(p, broken); w.Visit("broken.test/2", broken) },
			survey.CoverGivenUp, "server errors (5xx on 2 of 2 pages)", 2},
		{"flaky.test", func(p string) { w.Visit(p, nil); w.Visit("flaky.test/2", broken) },
			survey.CoverComplete, "complete", 0},
		{"away.test", func(p string) {
			w.Visit("away.test/2", nil)
			w.Visit(p, func(v *schema.Visit) { v.State, v.Status, v.Charset = schema.RateLimited, 503, "" })
			w.Host(p, func(h *schema.Host) {
				h.RunGivenUp = schema.GaveUpRateLimit
				h.RunGivenUpWhy = schema.Reason{Cause: schema.CauseAskedToWait, Wait: 48 * time.Hour}
			})
		}, survey.CoverGivenUp, "given up: asked to wait 48h0m0s", 1},
		{"budget.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) { h.RunRequests = 500 })
		}, survey.CoverBudget, "cut by budget (max-domain-requests = 500)", 1},
		{"used.test", func(p string) {
			w.Visit(p, nil)
			w.Host(p, func(h *schema.Host) { h.RunRequests = 500 })
		}, survey.CoverComplete, "complete", 0},
		{"rest.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) { h.Throttles = 2 })
		}, survey.CoverSuspended, "suspended", 1},
		{"slow.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) { h.CrawlDelay = 1e12 })
		}, survey.CoverSlow, "slowed by Crawl-delay (16m40s > max-crawl-delay = 5m0s)", 1},
		{"wait.test", func(p string) { w.Depth(p, 1, 0) }, survey.CoverWaiting, "not finished", 1},
		{"silent.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) { h.RobotsTries, h.RobotsReason = 2, schema.Reason{Cause: schema.CauseTimeout} })
		}, survey.CoverWaiting, "not finished: robots.txt timed out twice", 1},
		{"copied.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) {
				h.RobotsTries, h.RobotsReason = 2, schema.Reason{Cause: schema.CauseTimeout}
				h.RobotsAt, h.RobotsDue = w.At.Add(-48*time.Hour), w.At.Add(time.Hour)
			})
		}, survey.CoverWaiting, "not finished", 1},
		{"delay.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Host(p, func(h *schema.Host) { h.CrawlDelay = 60e9 })
		}, survey.CoverWaiting, "slowed by Crawl-delay (1m0s)", 1},
	}
}

// unanswered makes a visit one of a page that did not answer.
func unanswered(v *schema.Visit) {
	v.State, v.Status, v.Charset, v.Reason.Cause = schema.Failed, 0, "", schema.CauseTimeout
}

// broken makes a visit one that ended in a server error.
func broken(v *schema.Visit) { v.State, v.Status, v.Charset = schema.Failed, 503, "" }

// pageRows have hosts with pages that are missing for reasons of their own.
func pageRows(w *surveytest.World) []coverRow {
	denied := func(v *schema.Visit) {
		v.State, v.Status, v.Requests, v.Charset = schema.Failed, 0, 0, ""
		v.Reason.Cause = schema.CauseDenied
	}
	blocked := func(v *schema.Visit) { v.State, v.Status, v.Charset = schema.Failed, 403, "" }
	unpaid := func(v *schema.Visit) { v.State, v.Status, v.Charset = schema.Failed, 402, "" }
	walled := func(v *schema.Visit) {
		v.State, v.Status, v.Charset, v.Answer, v.Reason.Cause = schema.Failed, 200, "", schema.AnswerChallenge, schema.CauseChallenge
	}
	lost := func(c schema.Cause) func(*schema.Visit) {
		return func(v *schema.Visit) { v.State, v.Status, v.Charset, v.Reason.Cause = schema.Unreachable, 0, "", c }
	}
	return []coverRow{
		{"trap.test", func(p string) { w.Visit(p, nil); w.Depth("trap.test/a/a/a/a", 1, 0) }, survey.CoverTrap,
			"capped as a trap (max-repeated-segments = 3)", 1},
		{"many.test", func(p string) {
			w.Visit(p, nil)
			w.Host(p, func(h *schema.Host) { h.Overflow = 7 })
		}, survey.CoverTrap, "capped as a trap (7 URLs not recorded: max-urls-per-host = 100000)", 7},
		{"block.test", func(p string) { w.Visit(p, blocked); w.Visit("block.test/2", nil) }, survey.CoverBlocked,
			"blocked (401, 403 or 429 on 1 of 2 pages)", 1},
		{"paid.test", func(p string) { w.Visit(p, unpaid); w.Visit("paid.test/2", nil) }, survey.CoverBlocked,
			"asks for payment (402 on 1 of 2 pages)", 1},
		{"login.test", func(p string) { w.Visit(p, nil); w.Visit("login.test/2", blocked); w.Visit("login.test/3", nil) },
			survey.CoverComplete, "complete", 1},
		{"wall.test", func(p string) { w.Visit(p, walled); w.Visit("wall.test/2", nil) }, survey.CoverBlocked,
			"walled (1 of 2 pages)", 1},
		{"walls.test", func(p string) { w.Visit(p, nil); w.Visit("walls.test/2", walled); w.Visit("walls.test/3", nil) },
			survey.CoverComplete, "complete", 1},
		{"deny.test", func(p string) { w.Visit(p, nil); w.Visit("deny.test/2", denied) }, survey.CoverDenied,
			"denied by robots.txt (1 of 2 pages)", 1},
		{"traps.test", func(p string) {
			w.Visit(p, nil)
			for _, page := range []string{"/a/a/a/a", "/type/1", "/type/2", "/b/b/b/b", "/type/3"} {
				w.Depth("traps.test"+page, 1, 0)
			}
			w.Update(func(tx *kv.Tx) error {
				return tx.Runs.CountUp(`page-type "ts": max-per-group, of others`, "traps.test", 1)
			})
			w.Visit("traps.test/2", denied)
			w.Visit("traps.test/3", blocked)
		}, survey.CoverTrap, `3 capped (page-type "ts": max-per-group = 1), ` +
			"2 capped as a trap (max-repeated-segments = 3), 1 denied by robots.txt, 1 blocked (401, 403 or 429)", 7},
		{"all.test", func(p string) {
			w.Depth(p, 1, 0)
			w.Depth("all.test/a/a/a/a", 1, 0)
			w.Host(p, func(h *schema.Host) { h.RunRequests, h.Overflow = 500, 7 })
		}, survey.CoverBudget, "1 cut by budget (max-domain-requests = 500), 7 not recorded (max-urls-per-host = 100000), " +
			"1 capped as a trap (max-repeated-segments = 3)", 9},
		{"lost.test", func(p string) {
			w.Visit(p, func(v *schema.Visit) { v.State, v.Status, v.Charset = schema.Unreachable, 0, "" })
			w.Depth("lost.test/2", 1, 0)
			w.Host(p, func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseConnections}
			})
		}, survey.CoverGivenUp, "1 given up: three connection failures in a row, 1 unreachable", 2},
		{"tls.test", func(p string) { w.Visit(p, lost(schema.CauseTLS)); w.Visit("tls.test/2", lost(schema.CauseTLS)) },
			survey.CoverGivenUp, "unreachable: TLS error", 2},
		{"mixed.test", func(p string) { w.Visit(p, lost(schema.CauseTLS)); w.Visit("mixed.test/2", lost(schema.CauseReset)) },
			survey.CoverGivenUp, "unreachable", 2},
		{"far.test", func(p string) { w.Depth(p, 4, 0) }, survey.CoverNotVisited, "not visited", 0},
		{"deep.test", func(p string) { w.Visit(p, nil); w.Depth("deep.test/2", 4, 0) }, survey.CoverToDepth,
			"complete to depth 3", 0},
	}
}

// TestCover has a host for every cover.
func TestCover(t *testing.T) {
	w := surveytest.New(t, "[crawler]\nmax-pages = 100\n"+minimal+"[[stub]]\ndomain = \"stub.test\"\n"+
		"[[page-type]]\nname = \"ts\"\npath = \"^/type\"\nmax-per-group = 1\n")
	tests := slices.Concat(hostRows(w), pageRows(w))
	for _, tt := range tests {
		tt.make(tt.host + "/")
	}
	s := w.Survey()
	for _, tt := range tests {
		r, err := s.Hosts.Report(w.Store.HostOf(w.Page(tt.host + "/")))
		if err != nil {
			t.Fatal(err)
		}
		if r.Cover != tt.cover || r.Coverage != tt.text || r.KnownMissing != tt.missing {
			t.Errorf("%s: %d, %q, %d missing; want %d, %q, %d", tt.host, r.Cover, r.Coverage, r.KnownMissing, tt.cover, tt.text,
				tt.missing)
		}
	}
	w.Change(func(r *schema.Run) { r.Pages = 100 })
	r, err := w.Survey().Hosts.Report(w.Store.HostOf(w.Page("wait.test/")))
	if err != nil || r.Cover != survey.CoverBudget || r.Budget != "max-pages = 100" {
		t.Errorf("after max-pages: %+v, %v", r, err)
	}
	states, hosts := 0, 0
	err = s.Hosts.Each(func(r *survey.HostReport) error {
		hosts++
		for _, n := range r.ByState {
			states += n
		}
		return nil
	})
	counts, err2 := s.Counts()
	if err != nil || err2 != nil || states != counts.Pages || hosts != s.Hosts.Count() {
		t.Errorf("%d pages in %d hosts; counted %d in %d; %v, %v", states, hosts, counts.Pages, s.Hosts.Count(), err, err2)
	}
}
