package session

import (
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/crawl"
)

// The last requests of the hosts requested last are kept, newest first.
func TestLastRequests(t *testing.T) {
	t.Parallel()
	var l lastRequests
	if got := l.of("a.test"); got.Domain != "a.test" || got.Requests == nil || len(got.Requests) > 0 {
		t.Errorf("of nothing: %+v", got)
	}
	for i := range 2*serve.KeptRequests + 7 {
		l.add(crawl.Request{Host: "a.test", Status: i, Gap: time.Duration(i) * time.Millisecond, Promised: time.Second})
		got := l.of("a.test").Requests
		if len(got) != min(i+1, serve.KeptRequests) || got[0].Status != i ||
			got[len(got)-1].Status != max(0, i+1-serve.KeptRequests) {
			t.Fatalf("after %d: %d requests, %d to %d", i+1, len(got), got[0].Status, got[len(got)-1].Status)
		}
		if got[0].GapMS != int64(i) || got[0].PromisedMS != 1000 {
			t.Fatalf("after %d: %+v", i+1, got[0])
		}
	}
	for i := range serve.KeptHosts - 1 {
		l.add(crawl.Request{Host: strconv.Itoa(i)})
	}
	l.add(crawl.Request{Host: "a.test"})
	l.add(crawl.Request{Host: "new.test"})
	kept := func(host string) bool { return len(l.of(host).Requests) > 0 }
	if !kept("a.test") || kept("0") || !kept("1") || len(l.byName) != serve.KeptHosts {
		t.Errorf("of %d hosts not the one that was asked longest ago has gone", len(l.byName))
	}
}
