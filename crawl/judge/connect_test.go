package judge

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A host that is silent before the connection is made is retried. One that refuses it, or is silent
// afterwards, is not.
func TestConnectionFailures(t *testing.T) {
	for cause, again := range map[fetch.Cause]bool{
		fetch.DNSTemporary: true, fetch.ConnectTimeout: true, fetch.Proxy: true,
		fetch.NXDomain: false, fetch.Refused: false, fetch.TLS: false, fetch.TLSTimeout: false, fetch.RefusedAddress: false,
		fetch.RefusedPort: false,
	} {
		page := ring.Outcome{Step: ring.Step{Kind: ring.Get, URL: "https://a.test/"}, Cause: cause}
		want := Settle
		if again {
			want = Retry
		}
		if v := Page(&page, nil, true, false); v.Act != want || v.State != schema.Unreachable {
			t.Errorf("%v: %+v", cause, v)
		}
		robots := ring.Outcome{Step: ring.Step{Kind: ring.Robots, URL: "https://192.0.2.1/robots.txt"}, Cause: cause}
		wanted := GiveUp
		if again {
			wanted = TryLater
		}
		if v := Robots(&robots, "192.0.2.1", false); v.Act != wanted {
			t.Errorf("robots.txt, %v: %+v", cause, v)
		}
	}
}
