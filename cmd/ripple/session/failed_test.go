package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Failed hosts are reported by what they share: the cause, the last one of several failures, and
// the details if all have the same.
func TestFailures(t *testing.T) {
	t.Parallel()
	given := func(name string, why schema.Reason) *schema.Host {
		return &schema.Host{Name: name, RunGivenUp: schema.GaveUpConnection, RunGivenUpWhy: why}
	}
	three := func(last string) schema.Reason { return schema.Reason{Cause: schema.CauseConnections, Detail: last} }
	expired := schema.Reason{Cause: schema.CauseTLS, Detail: "the certificate has expired"}
	robots := given("r.test", schema.Reason{Cause: schema.CauseRobots, Detail: "503 Service Unavailable"})
	robots.RunGivenUp, robots.RobotsReason = schema.GaveUpRobots, schema.StatusReason(503)
	var f failures
	for _, h := range []*schema.Host{
		given("a.test", three("connection refused")), given("b.test", three("connection refused")),
		given("c.test", three("TLS error: the certificate has expired")), given("d.test", three("TLS error: bad")),
		given("e.test", expired), given("f.test", expired), robots,
		given("g.test", schema.Reason{Cause: schema.CauseAskedToWait, Wait: 1e9}),
		given("h.test", schema.Reason{Cause: schema.CauseAskedToWait, Wait: 2e9}),
	} {
		f.addHost(h)
	}
	for _, r := range []survey.HostReport{
		{Host: given("a.test", three("connection refused"))}, {Host: &schema.Host{Name: "j.test"}, Broken: 2},
		{Host: &schema.Host{Name: "k.test"}}, {Host: &schema.Host{Name: "l.test"}, Unreached: 1, Away: "unreachable"},
	} {
		f.addReport(&r)
	}
	var got []string
	for _, r := range f.remarks() {
		got = append(got, r.Text)
	}
	want := []string{
		"3 hosts failed: three connection failures in a row: connection refused (a.test, b.test, a.test)",
		"2 hosts failed: TLS error: the certificate has expired (e.test, f.test)",
		"2 hosts failed: asked to wait (g.test, h.test)",
		"2 hosts failed: three connection failures in a row: TLS error (c.test, d.test)",
		"1 host failed: no answer (k.test)",
		"1 host failed: robots.txt unavailable: 503 Service Unavailable (r.test)",
		"1 host failed: server errors (5xx) (j.test)",
		"1 host failed: unreachable (l.test)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
