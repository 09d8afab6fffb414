package schema

import (
	"strings"
	"testing"
	"time"
)

func TestReasonString(t *testing.T) {
	tests := []struct {
		reason Reason
		want   string
	}{
		{Reason{}, ""},
		{Reason{Cause: CauseRefused}, "connection refused"},
		{Reason{Cause: CauseTLS, Detail: "certificate has expired"}, "TLS error: certificate has expired"},
		{StatusReason(404), "404 Not Found"},
		{StatusReason(599), "status 599"},
		{Reason{Cause: CauseBadLocation, Status: 302, Detail: "redirect without Location"},
			"302 Found: redirect without Location"},
		{Reason{Cause: CauseRedirects}, "more than 10 redirects"},
		{Reason{Cause: CauseContentType, Detail: "image/png"}, "content type image/png"},
		{Reason{Cause: CauseSitemap, Detail: "no sitemap"}, "no sitemap"},
		{Reason{Cause: CauseRobots, Detail: "503 Service Unavailable"}, "robots.txt unavailable: 503 Service Unavailable"},
		{Reason{Cause: CauseTimeout, Host: "b.test"}, "redirects to b.test: timeout"},
		{Reason{Cause: CauseTargetGivenUp, Host: "b.test"}, "redirects to b.test, which is given up"},
		{Reason{Cause: CauseManyTargets, Host: "b.test"},
			"redirects to b.test: ten other addresses were asked for other hosts"},
		{Reason{Cause: CauseTargetGivenUp}, "redirects to a host that is given up"},
		{Reason{Cause: CauseAskedToWait, Wait: 90*time.Second + time.Millisecond}, "asked to wait 1m30s"},
		{Reason{Cause: CauseStillToWait, Wait: time.Hour}, "asked to wait, still 1h0m0s"},
	}
	for _, tt := range tests {
		if got := tt.reason.String(); got != tt.want {
			t.Errorf("%+v reads %q, want %q", tt.reason, got, tt.want)
		}
	}
}

// Every cause has its own words.
func TestCauseString(t *testing.T) {
	seen := map[string]bool{}
	for c := range causeCount {
		if s := c.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("cause %d reads %q", c, s)
		}
		seen[c.String()] = true
	}
	if got := causeCount.String(); got != "unknown" || causeCount.Known() {
		t.Errorf("a cause that nobody knows reads %q", got)
	}
}

// FuzzReason states a law: the words of a reason end with its detail.
func FuzzReason(f *testing.F) {
	f.Add("TLS error: certificate has expired", 0, byte(CauseTLS), "b.test")
	f.Add("302 Found: redirect without Location", 302, byte(CauseTargetGivenUp), "")
	f.Add("redirects to a host that is given up: x", 0, byte(200), "b.test")
	f.Fuzz(func(t *testing.T, text string, status int, cause byte, host string) {
		r := Reason{Cause: Cause(cause), Status: status, Host: host, Detail: text}
		if !strings.HasSuffix(r.String(), text) {
			t.Errorf("%+v reads %q", r, r.String())
		}
		e := End{Kind: EndKind(cause), N: status, Detail: text, Without: ShardsOf(status)}
		if !strings.HasSuffix(e.String(), text) {
			t.Errorf("%+v reads %q", e, e.String())
		}
	})
}

func TestEndString(t *testing.T) {
	tests := []struct {
		end  End
		want string
	}{
		{End{}, ""},
		{End{Kind: EndFrontier}, "the frontier is empty"},
		{End{Kind: EndMaxPages, N: 500}, "max-pages = 500"},
		{End{Kind: EndBudgets, N: 1}, "what is left is beyond the budget of a host"},
		{End{Kind: EndBudgets, N: 2}, "what is left is beyond the budgets of 2 hosts"},
		{End{Kind: EndMaxRunTime, After: time.Hour}, "max-run-time = 1h0m0s"},
		{End{Kind: EndReload}, "configuration changed"},
		{End{Kind: EndReclassified}, "reclassified"},
		{End{Kind: EndStopped, Detail: "stopped by SIGINT"}, "stopped by SIGINT"},
		{End{Kind: EndOutputs}, "stopped before its outputs were written"},
		{End{Kind: EndRecreated}, "the file of a shard has been recreated since"},
		{End{Kind: EndFrontier, Without: ShardsOf(2)}, "without shard 2: the frontier is empty"},
		{End{Kind: EndStopped, Detail: "ripple stop", Without: ShardsOf(0, 2)}, "without shards 0, 2: ripple stop"},
	}
	for _, tt := range tests {
		if got := tt.end.String(); got != tt.want {
			t.Errorf("%+v reads %q, want %q", tt.end, got, tt.want)
		}
	}
}

func TestErrorKind(t *testing.T) {
	tests := []struct {
		state State
		cause Cause
		want  string
	}{
		{Processed, CauseNone, ""},
		{ContentMismatch, CauseContentType, ""},
		{DeadLink, CauseStatus, ErrorDeadLink},
		{RateLimited, CauseStatus, ErrorRateLimited},
		{Unreachable, CauseRefused, ErrorRefused},
		{Unreachable, CauseTLSTimeout, ErrorTimeout},
		{Failed, CauseTimeout, ErrorTimeout},
		{Failed, CauseDenied, ErrorDenied},
		{Failed, CauseStatus, ErrorServer},
		{Unreachable, CauseTLS, "tls_error"},
		{Unreachable, CauseNXDomain, ErrorDNS},
		{Failed, CauseTooLarge, "response_too_large"},
		{Failed, CauseRedirectLoop, ErrorRedirect},
		{Failed, CauseNone, ErrorOther},
	}
	for _, tt := range tests {
		v := Visit{State: tt.state, Status: 503, Reason: Reason{Cause: tt.cause}}
		if got := v.ErrorKind(); got != tt.want {
			t.Errorf("%s, %s counts as %q, want %q", tt.state, tt.cause, got, tt.want)
		}
	}
}
