package crawl

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// guarded passes outcomes through attribution and returns those that come out at once.
type guarded struct {
	t   *testing.T
	m   *Shared
	in  chan ring.Outcome
	out chan ring.Outcome
	end chan error
}

func newGuarded(t *testing.T, suspended func() time.Duration) *guarded {
	return newGuardedLogged(t, suspended, slog.New(slog.DiscardHandler))
}

func newGuardedLogged(t *testing.T, suspended func() time.Duration, log *slog.Logger) *guarded {
	g := &guarded{
		t: t, m: NewShared(0), in: make(chan ring.Outcome), out: make(chan ring.Outcome, 100),
		end: make(chan error, 1),
	}
	if suspended != nil {
		g.m.suspended = suspended
	}
	w := &attribution{shared: g.m, crawl: 1, log: log, out: g.out}
	go func() { g.end <- w.run(t.Context(), g.in) }()
	return g
}

func (g *guarded) answer(host schema.HostID) { g.pass(host, ring.Outcome{Status: 200}) }

// begin makes three hosts answer.
func (g *guarded) begin() {
	g.t.Helper()
	for host := range schema.HostID(3) {
		g.answer(host + 1)
	}
	g.want("answers", fetch.None, fetch.None, fetch.None)
}

func (g *guarded) fail(host schema.HostID, cause fetch.Cause, own fetch.Own) {
	g.pass(host, ring.Outcome{Cause: cause, Own: own})
}

func (g *guarded) pass(host schema.HostID, o ring.Outcome) {
	o.Step = ring.Step{Kind: ring.Get, Host: host, URL: fmt.Sprintf("https://h%d.test/", host), Sent: time.Now()}
	time.Sleep(time.Millisecond)
	o.Done = time.Now()
	g.in <- o
}

// want compares the causes of the outcomes that came out.
func (g *guarded) want(what string, causes ...fetch.Cause) {
	g.t.Helper()
	time.Sleep(time.Millisecond)
	for _, want := range causes {
		select {
		case o := <-g.out:
			if o.Cause != want || o.Uncounted != (want == fetch.Cancelled) {
				g.t.Errorf("%s: %v, uncounted %v; want %v", what, o.Cause, o.Uncounted, want)
			}
		default:
			g.t.Errorf("%s: nothing came out, want %v", what, want)
		}
	}
	if len(g.out) > 0 {
		g.t.Errorf("%s: %d more came out", what, len(g.out))
	}
}

func (g *guarded) close() {
	close(g.in)
	if err := <-g.end; err != nil {
		g.t.Error(err)
	}
}

// In an outage no host is to blame, including those that failed just before it was detected.
func TestAttributionOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var text strings.Builder
		g := newGuardedLogged(t, nil, slog.New(slog.NewTextHandler(&text, nil)))
		g.begin()
		g.fail(1, fetch.ConnectTimeout, fetch.OwnNothing)
		g.fail(9, fetch.NXDomain, fetch.OwnNothing)
		g.fail(2, fetch.TLS, fetch.OwnNothing)
		g.want("held")
		g.fail(3, fetch.Timeout, fetch.OwnNothing)
		g.want("nobody has been silent for long")
		time.Sleep(5 * time.Second)
		g.want("all hosts have failed", fetch.Cancelled, fetch.Cancelled, fetch.Cancelled, fetch.Cancelled)
		g.fail(2, fetch.NoRoute, fetch.OwnNetwork)
		g.want("in the outage", fetch.Cancelled)
		g.answer(2)
		g.want("the end", fetch.None)
		g.fail(3, fetch.Refused, fetch.OwnNothing)
		g.want("held again")
		g.answer(1)
		g.want("somebody answers", fetch.Refused, fetch.None)
		g.fail(3, fetch.Refused, fetch.OwnNothing)
		time.Sleep(30 * time.Second)
		g.want("nobody answers for long", fetch.Refused)
		g.fail(3, fetch.Refused, fetch.OwnNothing)
		g.close()
		g.want("a stop while it is held", fetch.Cancelled)
		if !strings.Contains(text.String(), "is away") || !strings.Contains(text.String(), "error=timeout") {
			t.Errorf("it does not say what failed: %s", &text)
		}
	})
}

// A TLS alert of the last remaining host needs no proof that the network works.
func TestAttributionLastAlert(t *testing.T) {
	alert := ring.Outcome{Cause: fetch.TLS, TLS: fetch.Signs{Alert: true}}
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		g.begin()
		g.pass(1, alert)
		g.want("held")
		time.Sleep(4 * time.Second)
		g.want("nothing else is open", fetch.TLS)
		done := g.m.network.Asked(2, time.Now())
		g.pass(1, alert)
		time.Sleep(4 * time.Second)
		g.want("another request is open")
		done()
		time.Sleep(time.Second)
		g.want("it has ended", fetch.TLS)
		g.close()
	})
}

// Anything that keeps all hosts from answering for half a minute counts as the network: a proxy
// that is away, and one that requires a log-in first, which has other certificates, addresses or
// names, or hangs up.
func TestAttributionAllFail(t *testing.T) {
	for _, how := range []ring.Outcome{
		{Cause: fetch.Proxy}, {Cause: fetch.TLS}, {Cause: fetch.TLS, TLS: fetch.Signs{Alert: true}},
		{Cause: fetch.RefusedAddress}, {Cause: fetch.NXDomain}, {Cause: fetch.Reset},
	} {
		bubble(t, func(t *testing.T) {
			g := newGuarded(t, nil)
			g.begin()
			for host := range schema.HostID(3) {
				g.pass(host+1, how)
			}
			g.want("held")
			time.Sleep(31 * time.Second)
			g.want("all hosts have failed", fetch.Cancelled, fetch.Cancelled, fetch.Cancelled)
			g.answer(1)
			g.want("the end", fetch.None)
			g.close()
		})
	}
}

// A host that answers once and then fails by an alert, a reset or silence is to blame as soon as
// another host answers.
func TestAttributionFailTogether(t *testing.T) {
	for _, how := range []ring.Outcome{
		{Cause: fetch.TLS, TLS: fetch.Signs{Alert: true}}, {Cause: fetch.Reset}, {Cause: fetch.Timeout},
		{Cause: fetch.TLSTimeout}, {Cause: fetch.Reset, TLS: fetch.Signs{Spoke: true}},
	} {
		bubble(t, func(t *testing.T) {
			g := newGuarded(t, nil)
			g.begin()
			for host := range schema.HostID(40) {
				g.answer(host + 100)
				<-g.out
			}
			for range 60 { // seconds
				for host := range schema.HostID(40) {
					g.pass(host+100, how)
				}
				g.answer(1)
				for range 41 {
					if o := <-g.out; o.Uncounted {
						t.Fatalf("%v of %d is excused", how.Reason(), o.Step.Host)
					}
				}
				if _, _, away := g.m.network.Away(); away {
					t.Fatalf("%v: an outage begins", how.Reason())
				}
				time.Sleep(time.Second)
			}
			g.close()
		})
	}
}

// A host that accepts a request over TLS and then hangs up is known at once to be reachable.
func TestAttributionHungUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		g.begin()
		for host := range schema.HostID(3) {
			g.pass(host+1, ring.Outcome{Cause: fetch.Reset, TLS: fetch.Signs{Spoke: true}})
		}
		g.want("all hosts hang up", fetch.Reset, fetch.Reset, fetch.Reset)
		time.Sleep(2 * time.Minute)
		if _, _, away := g.m.network.Away(); away {
			t.Error("an outage begins")
		}
		g.close()
	})
}

// When only untrusted certificates have been seen for a minute, the walk ends, and says which key
// may be wrong. No page is blamed.
func TestAttributionStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		var ends []schema.End
		w := &attribution{shared: g.m, crawl: 1, log: slog.New(slog.DiscardHandler),
			stuck: func(end schema.End) { ends = append(ends, end) }}
		for second := range 62 {
			o := ring.Outcome{Cause: fetch.TLS, Detail: "certificate signed by unknown authority",
				TLS: fetch.Signs{Untrusted: true}}
			o.Step = ring.Step{Kind: ring.Get, Host: schema.HostID(1 + second%4), Met: true, Sent: time.Now()}
			o.Step.URL = fmt.Sprintf("https://h%d.test/", o.Step.Host)
			o = w.judge(o, time.Now())
			time.Sleep(time.Second)
			if settled := w.settle(&o, false, time.Now()); settled != (second > 2) || settled && !o.Uncounted {
				t.Fatalf("after %d s: settled %v, %v", second, settled, o.Reason())
			}
			if second < 60 && len(ends) > 0 {
				t.Fatalf("it is to end after %d s", second)
			}
		}
		const want = "no host can be reached: TLS error: certificate signed by unknown authority ([network] ca-file)"
		if len(ends) == 0 || ends[0].String() != want {
			t.Errorf("%v, want %q", ends, want)
		}
		g.close()
	})
}

// If the network goes away while answers are being read, no host is blamed either.
func TestAttributionHalts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		g.begin()
		time.Sleep(10 * time.Second)
		g.fail(1, fetch.Timeout, fetch.OwnNothing)
		halt := ring.Outcome{Status: 200, Cause: fetch.Slow}
		g.pass(2, halt)
		g.want("held")
		g.pass(3, halt)
		time.Sleep(5 * time.Second)
		g.want("all hosts have come to a halt", fetch.Cancelled, fetch.Cancelled, fetch.Cancelled)
		g.answer(2)
		g.want("the end", fetch.None)
		g.pass(3, halt)
		g.pass(2, ring.Outcome{Status: 200, Cause: fetch.Truncated})
		g.want("an answer that is cut off", fetch.Truncated)
		g.answer(1)
		g.want("somebody answers", fetch.Slow, fetch.None)
		g.close()
	})
}

// Thousands of failures at a time are held, and the hosts are to blame as soon as any host answers.
func TestAttributionHoldsMany(t *testing.T) {
	const hosts = 5000
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		g.begin()
		for host := range schema.HostID(hosts) {
			g.fail(10+host, fetch.Timeout, fetch.OwnNothing)
		}
		g.want("held")
		g.answer(1)
		for range hosts {
			if o := <-g.out; o.Cause != fetch.Timeout || o.Uncounted {
				t.Fatalf("host %d: %v, uncounted %v", o.Step.Host, o.Cause, o.Uncounted)
			}
		}
		g.want("somebody answers", fetch.None)
		g.close()
	})
}

// Requests that were open during a suspension are cancelled if they fail; requests sent later are
// not.
func TestAttributionSuspended(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var asleep atomic.Int64
		g := newGuarded(t, func() time.Duration { return time.Duration(asleep.Load()) })
		g.begin()
		asleep.Add(int64(noise - time.Millisecond))
		time.Sleep(2 * beat)
		g.fail(2, fetch.Refused, fetch.OwnNothing)
		g.want("clocks differ a little")
		asleep.Add(int64(time.Hour))
		time.Sleep(beat)
		g.want("after an hour of sleep", fetch.Cancelled)
		g.fail(2, fetch.Refused, fetch.OwnNothing)
		g.answer(1)
		g.want("awake", fetch.Refused, fetch.None)
		g.close()
	})
}

// A machine that is late once in every request excuses a host five times, until the host answers.
func TestAttributionLateAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var asleep atomic.Int64
		g := newGuarded(t, func() time.Duration { return time.Duration(asleep.Load()) })
		g.begin()
		late := func(n int, host schema.HostID, want fetch.Cause) {
			for range n {
				o := ring.Outcome{Step: ring.Step{Kind: ring.Get, Host: host, Sent: time.Now()}, Cause: fetch.Timeout}
				asleep.Add(int64(noise))
				time.Sleep(2 * beat)
				for range 2 { // two of its requests were open
					o.Done = time.Now()
					g.in <- o
				}
				g.answer(3)
				g.want("late", want, want, fetch.None)
			}
		}
		late(maxExcuses, 2, fetch.Cancelled)
		late(2, 2, fetch.Timeout)
		late(1, 1, fetch.Cancelled)
		g.answer(2)
		g.want("it answers", fetch.None)
		late(1, 2, fetch.Cancelled)
		g.close()
	})
}

// Hosts that stay silent at the end of a crawl are to blame after half an hour, and the log says
// so.
func TestAttributionDoubts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told strings.Builder
		g := newGuardedLogged(t, nil, slog.New(slog.NewTextHandler(&told, nil)))
		g.begin()
		silent := func(what string, want fetch.Cause) {
			for host := range schema.HostID(3) {
				g.fail(host+1, fetch.Timeout, fetch.OwnNothing)
			}
			time.Sleep(outage.MaxHold)
			g.want(what, want, want, want)
		}
		silent("an outage", fetch.Cancelled)
		time.Sleep(29 * time.Minute)
		silent("for half an hour", fetch.Cancelled)
		time.Sleep(time.Minute)
		silent("for longer", fetch.Timeout)
		silent("later", fetch.Timeout)
		if n := strings.Count(told.String(), "to blame again"); n != 1 {
			t.Errorf("told %d times:\n%s", n, told.String())
		}
		g.close()
	})
}

// A connection whose local address is gone, and a name server that is gone, are no host's fault
// even if other hosts answer.
func TestAttributionOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		g.answer(1)
		g.want("an answer", fetch.None)
		g.fail(2, fetch.Timeout, fetch.OwnAddress)
		g.want("a connection of another network", fetch.Cancelled)
		g.fail(2, fetch.DNSTemporary, fetch.OwnResolver)
		g.want("held")
		g.answer(1)
		g.want("others answer", fetch.Cancelled, fetch.None)
		g.fail(2, fetch.ConnectTimeout, fetch.OwnResolver)
		g.want("held, too")
		g.answer(1)
		g.want("a host that is silent by itself", fetch.ConnectTimeout, fetch.None)
		g.fail(2, fetch.DNSTemporary, fetch.OwnNoResolver)
		g.want("there never was a name server", fetch.DNSTemporary)
		g.fail(2, fetch.DNSTemporary, fetch.OwnResolver)
		time.Sleep(outage.MaxHold)
		g.want("nobody answers", fetch.Cancelled)
		if _, _, away := g.m.network.Away(); !away {
			t.Error("no outage begins")
		}
		g.close()
	})
}

// A lack of descriptors is no host's fault, unless only one host has it.
func TestAttributionMeans(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		share := g.m.slots.Share(100)
		for share.Take(time.Now(), slots.Proven, slots.Tally{}) {
		}
		for range maxExcuses {
			g.fail(1, fetch.NoRoute, fetch.OwnMeans)
			g.want("a lack", fetch.Cancelled)
		}
		for range 60 {
			share.Give(slots.Proven)
		}
		if share.Take(time.Now(), slots.Proven, slots.Tally{}) {
			t.Error("as much is opened as before")
		}
		g.fail(1, fetch.NoRoute, fetch.OwnMeans)
		g.want("always the same host", fetch.NoRoute)
		for range 2 * maxExcuses {
			g.fail(2, fetch.NoRoute, fetch.OwnMeans)
			g.fail(3, fetch.NoRoute, fetch.OwnMeans)
			g.want("a lack that is shared", fetch.Cancelled, fetch.Cancelled)
		}
		g.close()
	})
}

// A server that does not wait as long as its body must wait is not to blame, up to a limit, and the
// number of open requests is not reduced for it.
func TestAttributionWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuarded(t, nil)
		share := g.m.slots.Share(100)
		for share.Take(time.Now(), slots.Proven, slots.Tally{}) {
		}
		cut := ring.Outcome{Status: 200, Cause: fetch.Truncated, Own: fetch.OwnWait}
		for range maxExcuses {
			g.pass(1, cut)
			g.want("cut off in a wait", fetch.Cancelled)
		}
		for n := range 100 {
			share.Give(slots.Proven)
			if !share.Take(time.Now(), slots.Proven, slots.Tally{}) {
				t.Fatalf("less is opened than before: at %d", n)
			}
		}
		g.pass(1, cut)
		g.want("always the same host", fetch.Truncated)
		g.close()
	})
}

// While the network is away, one request is sent every 5 to 60 s, to a proven host if one is due.
// All requests resume when a host answers.
func TestNothingIsAskedInAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now, network, proven := time.Now(), new(outage.Watch), new(trust)
		proven.proved(3)
		b := newRig(t, schedulerConfig{Slots: 4, Network: network, Trust: proven}, asking(1, now.Add(time.Second), 1),
			asking(2, now.Add(time.Second), 2), asking(3, now.Add(time.Second), 3), asking(4, now.Add(time.Second), 4))
		network.Failed(outage.Failure{Host: 1, Way: outage.Local}, now)
		time.Sleep(4 * time.Second)
		b.want("away")
		if st := b.command(commandStatus); st.Away.IsZero() {
			t.Errorf("status %+v", st)
		}
		time.Sleep(2 * time.Second)
		b.want("the first probe", 3)
		time.Sleep(5 * time.Second)
		b.want("between probes")
		time.Sleep(10 * time.Second)
		b.want("the second probe", 1)
		network.Answered(1, 1, "", time.Now(), time.Now(), time.Now())
		b.want("there again", 2, 4)
		b.command(commandStop)
		b.effects <- ring.Effects{Settled: 4}
		b.wantEnd(nil)
	})
}
