package answer

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
)

// A crawl that fetches nothing always says why.
func TestWaits(t *testing.T) {
	soon := census.Wait{Reason: census.ForHosts, Host: "a.test", Rest: 500 * time.Millisecond}
	later := soon
	later.Rest = 12500 * time.Millisecond
	tests := []struct {
		name  string
		hosts census.Hosts
		wait  census.Wait
		want  string
	}{
		{"asks", census.Hosts{Waiting: 3}, census.Wait{}, ""},
		{"waits", census.Hosts{Waiting: 3}, later, "3 hosts wait, next in 12 s: a.test"},
		{"one", census.Hosts{Waiting: 1}, later, "1 host waits, next in 12 s: a.test"},
		{"suspended", census.Hosts{Waiting: 2, Suspended: 2}, later, "2 hosts have asked Ripple to wait, next in 12 s: a.test"},
		{"soon", census.Hosts{Waiting: 1}, soon, "1 host waits, next in a moment: a.test"},
		{"paused", census.Hosts{Waiting: 1}, census.Wait{Reason: census.Paused}, `paused; "ripple resume" resumes it`},
		{"stopping", census.Hosts{}, census.Wait{Reason: census.Stopping}, "stopping"},
		{"full", census.Hosts{Waiting: 1}, census.Wait{Reason: census.ForDisk}, "waiting for the disk"},
		{"no room", census.Hosts{Waiting: 1}, census.Wait{Reason: census.ForDisk,
			NoRoom: &crawl.NoRoom{Folder: "/srv/x y", Free: 12 << 20}, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)},
			"the disk has been full since 03:04:05: \"/srv/x y\" needs 64 MB free and has 12; the crawl goes on when there is room"},
		{"away", census.Hosts{Waiting: 1}, census.Wait{Reason: census.ForNetwork,
			Why: "connect timeout", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)},
			"no host has answered since 03:04:05 (connect timeout); the network of this machine seems to be down, and the " +
				"crawl resumes when a host answers"},
		{"lacks", census.Hosts{Waiting: 1}, census.Wait{Reason: census.ForMeans, Few: 32},
			"this machine lacks resources or processor time: at most 32 requests are open for a while"},
		{"empty", census.Hosts{}, census.Wait{Reason: census.ForNothing}, "nothing is left to request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := waitText(&census.Status{Hosts: tt.hosts, Wait: tt.wait}); got != tt.want {
				t.Errorf("waitText = %q, want %q", got, tt.want)
			}
		})
	}
}
