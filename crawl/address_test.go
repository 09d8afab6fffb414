package crawl

import (
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
)

// The time of a request begins when its name server has answered, also where addresses
// have no clocks: a server is not to blame for the turn that others have before it.
func TestLookupIsNoTimeOfServer(t *testing.T) {
	web := crawltest.Serve(t)
	web.Host("a.test").Page("/", "<title>a page</title>")
	var answered atomic.Int64
	m := withNames(t, func(string) nameserver.Answer {
		answered.Store(time.Now().UnixNano())
		return nameserver.At([4]byte{127, 0, 0, 1})
	})
	cfg := dialled(t, web, "a.test", "")
	cfg.Politeness.MinimumTimePerAddress = 0
	set, err := ring.SharedSettings(cfg, &m.clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	v := visitors{parsers: newParsers(noHash, 1)}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test:" + portOf(web) + "/", Timeout: set.Timeout(0),
		Settings: set}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if at := time.Unix(0, answered.Load()); answered.Load() == 0 || o.Step.Sent.Before(at) {
			t.Errorf("sent at %v, the name server answered at %v", o.Step.Sent, at)
		}
	})
}

// A host whose name server fails is looked up once, outside of the time that its server has.
func TestLookedUpOnce(t *testing.T) {
	web := crawltest.Serve(t)
	var asked atomic.Int64
	m := withNames(t, func(string) nameserver.Answer {
		asked.Add(1)
		return nameserver.Answer{Code: dnsmessage.RCodeServerFailure}
	})
	set, err := ring.SharedSettings(dialled(t, web, "a.test", ""), &m.clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	if _, err := set.Client.Resolve(t.Context(), "a.test"); err == nil {
		t.Fatal("the name was found")
	}
	once := asked.Load()
	v := visitors{parsers: newParsers(noHash, 1)}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test/", Timeout: set.Timeout(0), Settings: set}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if o.Cause != fetch.DNSTemporary || o.Done.Before(o.Step.Sent) || asked.Load() != 2*once {
			t.Errorf("%v after %d questions, want %d", o.Reason(), asked.Load()-once, once)
		}
	})
}
