package crawl

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
	"github.com/sumi-ripple/ripple/schema"
)

// The time of a request begins when its name server has answered, even if addresses have no clocks:
// a server is not to blame for look-ups that were queued before its own.
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
	v := visitors{parsers: newParsers(noHash, nil, 1)}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test:" + portOf(web) + "/", Timeout: set.Timeout(0),
		Settings: set}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if at := time.Unix(0, answered.Load()); answered.Load() == 0 || o.Step.Sent.Before(at) {
			t.Errorf("sent at %v, the name server answered at %v", o.Step.Sent, at)
		}
	})
}

// Requests to one address that waited for a name server are not all sent together when it answers.
func TestLookupsAreNoBurst(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	web.Host("a.test").Page("/", "<title>a page</title>")
	silent := make(chan struct{})
	m := withNames(t, func(string) nameserver.Answer {
		<-silent
		return nameserver.At([4]byte{127, 0, 0, 1})
	})
	cfg := dialled(t, web, "a.test", "")
	const gap = time.Second // half of it is how late a busy machine may be
	cfg.Politeness.MinimumTimePerAddress = gap
	set, err := ring.SharedSettings(cfg, &m.clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	v := visitors{parsers: newParsers(noHash, nil, 3), clocks: new(pace.Clocks)}
	var sent [3]time.Time
	var visits errgroup.Group
	for i, host := range []string{"a", "b", "c"} {
		step := ring.Step{
			Kind: ring.Get, URL: "https://" + host + ".test:" + portOf(web) + "/", Timeout: set.Timeout(0), Settings: set,
			Address: "127.0.0.1",
		}
		if i > 0 {
			time.Sleep(gap)
		}
		if _, free := v.clocks.Ask(step.Address, gap, time.Now()); !free {
			t.Fatalf("%s may not be asked", host)
		}
		visits.Go(func() error {
			v.visit(t.Context(), step, func(o ring.Outcome) {
				if !o.Moved {
					sent[i] = o.Step.Sent
				}
			})
			return nil
		})
	}
	time.Sleep(gap / 4)
	close(silent)
	_ = visits.Wait()
	slices.SortFunc(sent[:], time.Time.Compare)
	for i, at := range sent {
		if at.IsZero() || i > 0 && at.Sub(sent[i-1]) < gap/2 {
			t.Errorf("requests were sent at %v", sent)
		}
	}
}

// If a lease ends while a connection is being made, no request is sent on it.
func TestLeaseEndsInHandshake(t *testing.T) {
	web := crawltest.Serve(t)
	web.Host("a.test").Page("/", "<title>a page</title>")
	lease := make(leaseFor, 1)
	lease <- struct{}{}
	set, err := ring.SharedSettings(crawltest.Parse(t, crawltest.Config(t, web, seedOfA)), &NewShared(0).clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	v := visitors{parsers: newParsers(noHash, nil, 1), member: &member{Shard: &Shard{Lease: lease}}}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test/", Timeout: set.Timeout(0), Settings: set}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if asked := len(web.Log()); o.Cause != fetch.Cancelled || asked != 0 {
			t.Errorf("%v; the server saw %d requests", o.Reason(), asked)
		}
	})
	if len(lease) != 0 {
		t.Error("nobody asked whether the lease is held")
	}
}

// A leaseFor is held as often as the channel has values.
type leaseFor chan struct{}

func (l leaseFor) Lost() <-chan struct{}      { return nil }
func (l leaseFor) Ready(context.Context) bool { return l.Held() }
func (l leaseFor) Held() bool {
	select {
	case <-l:
		return true
	default:
		return false
	}
}

// A host whose name server fails is looked up once, outside of its server's time.
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
	v := visitors{parsers: newParsers(noHash, nil, 1)}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test/", Timeout: set.Timeout(0), Settings: set}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if o.Cause != fetch.DNSTemporary || o.Done.Before(o.Step.Sent) || asked.Load() != 2*once {
			t.Errorf("%v after %d questions, want %d", o.Reason(), asked.Load()-once, once)
		}
	})
}

// If the server at an address says nothing, as on a path that lets only small packets through, or
// hangs up, the next address of its host is used.
func TestSilentAtOneAddress(t *testing.T) {
	for want, hold := range map[fetch.Cause]bool{fetch.TLSTimeout: true, fetch.Reset: false} {
		t.Run(want.String(), func(t *testing.T) {
			web := crawltest.Serve(t)
			web.Host("a.test").Page("/", "<title>a page</title>")
			away, err := net.Listen("tcp", "127.0.0.2:"+portOf(web))
			if err != nil {
				t.Skip(err)
			}
			defer away.Close()
			if !hold {
				go func() {
					if c, err := away.Accept(); err == nil {
						c.Close()
					}
				}()
			}
			askAtBoth(t, web, want)
		})
	}
}

// askAtBoth requests a page at the first address of a host, where that fails, and then at the
// address to try next.
func askAtBoth(t *testing.T, web *webtest.Server, want fetch.Cause) {
	m := withNames(t, func(string) nameserver.Answer {
		return nameserver.At([4]byte{127, 0, 0, 2}, [4]byte{127, 0, 0, 1})
	})
	cfg := dialled(t, web, "a.test", "")
	cfg.Retry.ConnectTimeout = time.Second
	set, err := ring.SharedSettings(cfg, &m.clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	v := visitors{parsers: newParsers(noHash, nil, 1), clocks: new(pace.Clocks)}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test:" + portOf(web) + "/", Timeout: set.Timeout(0), Settings: set,
		Address: "127.0.0.2"}
	for _, want := range []fetch.Cause{want, fetch.None} {
		v.visit(t.Context(), step, func(o ring.Outcome) {
			if o.Cause != want || o.Address != "127.0.0.1" {
				t.Errorf("%v, next at %q", o.Reason(), o.Address)
			}
			step.Address = o.Address // the host uses it from then on
		})
	}
}

// A server that refuses connections has two known addresses, too.
func TestRefusedAtBothAddresses(t *testing.T) {
	none, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip(err)
	}
	none.Close()
	m := withNames(t, func(string) nameserver.Answer {
		return nameserver.At([4]byte{127, 0, 0, 2}, [4]byte{127, 0, 0, 3})
	})
	set, err := ring.SharedSettings(dialled(t, crawltest.Serve(t), "a.test", ""), &m.clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	_, port, _ := net.SplitHostPort(none.Addr().String())
	v := visitors{parsers: newParsers(noHash, nil, 1), clocks: new(pace.Clocks)}
	step := ring.Step{Kind: ring.Get, URL: "https://a.test:" + port + "/", Timeout: set.Timeout(0), Settings: set,
		Address: "127.0.0.2"}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if o.Cause != fetch.Refused || o.Next != "127.0.0.3" || o.Address != "" {
			t.Errorf("%v at %q, next at %q", o.Reason(), o.Address, o.Next)
		}
	})
}

// Requests to one host that may have several open, and that waited for a name server, are not sent
// together.
func TestHostAfterLookups(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	silent := make(chan struct{})
	m := withNames(t, func(string) nameserver.Answer {
		<-silent
		return nameserver.At([4]byte{127, 0, 0, 1})
	})
	cfg := dialled(t, web, "a.test", "")
	cfg.Politeness.MinimumTimePerAddress = 10 * time.Millisecond
	set, err := ring.SharedSettings(cfg, &m.clients, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	v := visitors{
		share: slots.New(0).Share(10), clocks: new(pace.Clocks), parsers: newParsers(noHash, nil, 3),
	}
	sched := newScheduler(schedulerConfig{
		Share: v.share, Clocks: v.clocks, AddressGap: 10 * time.Millisecond, MaxUncommitted: 100, Soon: time.Second,
	})
	var list []ring.Step
	for i := range 3 {
		url := fmt.Sprintf("https://a.test:%s/%d", portOf(web), i)
		web.Host("a.test").Page(fmt.Sprintf("/%d", i), "<title>a page</title>")
		list = append(list, ring.Step{Kind: ring.Get, ID: schema.ID(i + 1), URL: url, Timeout: set.Timeout(0), Settings: set})
	}
	const gap = time.Second
	sched.apply(&ring.Effect{Host: 1, Address: "127.0.0.1", Ready: time.Now(), Delay: gap, Limit: 3, Steps: list})
	steps, outcomes := make(chan ring.Step), make(chan ring.Outcome, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var both errgroup.Group
	both.Go(func() error { return sched.run(ctx, steps, make(chan ring.Effects), make(chan ring.Wake), nil) })
	both.Go(func() error { return v.run(ctx, ctx, steps, outcomes) })
	time.Sleep(2*gap + gap/2)
	close(silent)
	var sent []time.Time
	for range list {
		o := <-outcomes
		sent = append(sent, o.Step.Sent)
	}
	cancel()
	_ = both.Wait()
	slices.SortFunc(sent, time.Time.Compare)
	for i := 1; i < len(sent); i++ {
		if sent[i].Sub(sent[i-1]) < gap {
			t.Errorf("requests were sent at %v", sent)
		}
	}
}
