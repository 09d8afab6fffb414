package survey_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

func because(c schema.Cause) schema.Reason { return schema.Reason{Cause: c} }

// An unaskedRow is a host two of whose pages got no visit.
type unaskedRow struct {
	name   string
	host   func(h *schema.Host)
	failed schema.Cause // cause of a visit that did not reach the host
	kind   string       // error kind of the pages without a visit; empty: they are not errors
}

func unaskedRows() []unaskedRow {
	gaveUp := func(how schema.GiveUp, c schema.Cause) func(*schema.Host) {
		return func(h *schema.Host) { h.RunGivenUp, h.RunGivenUpWhy = how, because(c) }
	}
	robots := func(how schema.GiveUp, c, why schema.Cause) func(*schema.Host) {
		return func(h *schema.Host) {
			gaveUp(how, c)(h)
			h.RobotsTries, h.RobotsReason = 4, because(why)
		}
	}
	const connection, unavailable = schema.GaveUpConnection, schema.GaveUpRobots
	return []unaskedRow{
		{"refused", gaveUp(connection, schema.CauseRefused), 0, schema.ErrorRefused},
		{"no such host", gaveUp(connection, schema.CauseNXDomain), 0, schema.ErrorDNS},
		{"TLS", gaveUp(connection, schema.CauseTLS), 0, "tls_error"},
		{"TLS time-out", gaveUp(connection, schema.CauseTLSTimeout), 0, schema.ErrorTimeout},
		{"not a public address", gaveUp(connection, schema.CauseRefusedAddress), 0, "address_refused"},
		{"three failures", gaveUp(connection, schema.CauseConnections), 0, schema.ErrorOther},
		{"three failures, the last refused", gaveUp(connection, schema.CauseConnections), schema.CauseRefused,
			schema.ErrorRefused},
		{"three failures, the last a time-out", gaveUp(connection, schema.CauseConnections), schema.CauseConnectTimeout,
			schema.ErrorTimeout},
		{"three time-outs of robots.txt", robots(connection, schema.CauseConnections, schema.CauseConnectTimeout), 0,
			schema.ErrorTimeout},
		{"robots.txt is silent", robots(unavailable, schema.CauseRobots, schema.CauseTimeout), 0, schema.ErrorTimeout},
		{"robots.txt by DNS", robots(unavailable, schema.CauseRobots, schema.CauseDNSTemporary), 0, schema.ErrorDNS},
		{"robots.txt by resets", robots(unavailable, schema.CauseRobots, schema.CauseReset), 0, "connection_reset"},
		{"robots.txt by a proxy", robots(unavailable, schema.CauseRobots, schema.CauseProxy), 0, "proxy_error"},
		{"robots.txt is a 503", robots(unavailable, schema.CauseRobots, schema.CauseStatus), 0, schema.ErrorRobots},
		{"a try that waits", func(h *schema.Host) {
			gaveUp(connection, schema.CauseConnections)(h)
			h.Retries = []schema.Retry{{URL: 1, Attempts: 1, Reason: because(schema.CauseConnectTimeout)}}
		}, 0, schema.ErrorTimeout},
		{"too many 429s", gaveUp(schema.GaveUpRateLimit, schema.CauseRateLimits), 0, ""},
		{"the budget is used up", func(h *schema.Host) { h.RunRequests = 500 }, 0, ""},
		{"it waits", func(*schema.Host) {}, 0, ""},
	}
}

// TestErrors counts two pages that got no visit, in addition to the errors of visits, under the
// cause for which their host could not be reached.
func TestErrors(t *testing.T) {
	for _, tt := range unaskedRows() {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, surveytest.Minimal)
			w.Visit("a.test/", w.Links("b.test/1", "b.test/2", "b.test/3"))
			want := map[string]int{schema.ErrorDeadLink: 2}
			if w.Depth("b.test/1", 1, 0); tt.failed != 0 {
				w.Visit("b.test/1", func(v *schema.Visit) {
					v.State, v.Status, v.Reason = schema.Unreachable, 0, because(tt.failed)
				})
			} else {
				w.Visit("b.test/1", nil)
			}
			w.Depth("b.test/2", 1, 0)
			w.Depth("b.test/3", 1, 0)
			w.Host("b.test/1", tt.host)
			w.Change(func(r *schema.Run) { r.Errors = map[string]int{schema.ErrorDeadLink: 2} })
			if tt.kind != "" {
				want[tt.kind] += 2
			}
			counts, err := w.Survey().Counts()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, counts.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if len(w.Run.Errors) != 1 {
				t.Errorf("the run's own errors have become %v", w.Run.Errors)
			}
		})
	}
}

// TestErrorsOfRedirects counts the pages of the run whose redirects come back, but not kept ones.
func TestErrorsOfRedirects(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	kept := w.Visit("a.test/3", w.Redirect("a.test/1"))
	w.Begin()
	w.Visit("a.test/", w.Redirect("a.test/end"))
	w.Visit("a.test/1", w.Redirect("a.test/2"))
	w.Visit("a.test/2", w.Redirect("a.test/1"))
	w.Visit("a.test/3", func(v *schema.Visit) {
		w.Redirect("a.test/1")(v)
		v.Kept, v.Stand, v.Requests, v.Links = true, kept, 0, nil
	})
	w.Change(func(r *schema.Run) { r.Errors = map[string]int{schema.ErrorRedirect: 1} })
	counts, err := w.Survey().Counts()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{schema.ErrorRedirect: 3}, counts.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
