package schema

import (
	"testing"
	"time"
)

func TestTrouble(t *testing.T) {
	const run = RunID(7)
	soon, later := time.Unix(100, 0), time.Unix(200, 0)
	robots := func(tries uint8, why Reason) Host {
		return Host{Run: run, RobotsTries: tries, RobotsReason: why, RobotsDue: soon}
	}
	retries := []Retry{{Reason: StatusReason(500), Due: later}, {Reason: Reason{Cause: CauseTimeout}, Due: soon}}
	tests := []struct {
		name  string
		host  Host
		want  string
		until time.Time
	}{
		{"none", Host{Run: run}, "", time.Time{}},
		{"robots.txt once", robots(1, Reason{Cause: CauseTimeout}), "robots.txt timed out", soon},
		{"robots.txt twice", robots(2, Reason{Cause: CauseConnectTimeout}), "robots.txt timed out twice", soon},
		{"robots.txt answers", robots(3, StatusReason(503)), "robots.txt answered 503 Service Unavailable 3 times", soon},
		{"robots.txt elsewhere", robots(1, Reason{Cause: CauseTimeout, Host: "b.test"}),
			"robots.txt failed (redirects to b.test: timeout)", soon},
		{"the host that robots.txt redirects to", Host{Run: run, RobotsFrom: "b.test", RobotsSince: soon, RobotsTries: 2},
			"robots.txt redirects to b.test, no answer from there since 1970-01-01T00:01:40Z", time.Time{}},
		{"that host, of another run", Host{Run: run - 1, RobotsFrom: "b.test", RobotsSince: soon}, "", time.Time{}},
		{"no name", robots(2, Reason{Cause: CauseDNSTemporary}), "robots.txt failed twice (DNS failure)", soon},
		{"of another run", Host{Run: run - 1, RobotsTries: 1, RunGivenUp: GaveUpConnection, Retries: retries}, "",
			time.Time{}},
		{"rest, of whichever run", Host{Throttles: 2, SuspendedTo: later}, "asked Ripple to wait twice", later},
		{"the next of its retries", Host{Run: run, Retries: retries}, "2 pages to be tried again: timeout", soon},
		{"one retry", Host{Run: run, Retries: retries[:1]}, "1 page to be tried again: 500 Internal Server Error", later},
		{"given up before all else", Host{Run: run, RobotsTries: 4, RunGivenUp: GaveUpRobots,
			RunGivenUpWhy: Reason{Cause: CauseRobots, Detail: "timeout"}},
			"given up: robots.txt unavailable: timeout", time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.host.Trouble(run)
			if got.String() != tt.want || !got.Until.Equal(tt.until) {
				t.Errorf("Trouble = %q until %v, want %q until %v", got, got.Until, tt.want, tt.until)
			}
		})
	}
}

func TestBeginRun(t *testing.T) {
	h := Host{
		Run: 1, RunRequests: 5, Requests: 7, Throttles: 1, RunGivenUp: GaveUpRobots,
		Retries: []Retry{{URL: 1}},
	}
	if h.BeginRun(1) || h.RunRequests != 5 {
		t.Error("the same run began again")
	}
	if !h.BeginRun(2) || h.RunRequests != 0 || h.RunGivenUp != NotGivenUp || len(h.Retries) > 0 {
		t.Errorf("the next run begins with %+v", h)
	}
	if h.Requests != 7 || h.Throttles != 1 {
		t.Error("what holds for all runs was forgotten")
	}
}
