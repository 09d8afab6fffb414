package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
	"github.com/sumi-ripple/ripple/schema"
)

const parsersConfig = `
[[quality]]
domain = "good.test"
seeds = ["https://good.test/"]
`

func noHash(schema.URLKind, string) uint64 { return 0 }

// goodWeb is a web of one page, and the settings of a crawl of it.
func goodWeb(t *testing.T) (*webtest.Server, *ring.Settings) {
	t.Helper()
	web := crawltest.Serve(t)
	web.Host("good.test").Page("/", "<title>a page</title>")
	set, err := ring.NewSettings(crawltest.Parse(t, crawltest.Config(t, web, parsersConfig)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Client.Close)
	return web, set
}

// Bodies that arrive slowly, or never, do not block the parsers for other pages.
func TestDripsHoldNoParser(t *testing.T) {
	web, set := goodWeb(t)
	const drips = 8
	for i := range drips {
		f := fault.BodyDrip
		if i%2 == 0 {
			f = fault.Silence
		}
		web.Host(fmt.Sprintf("d%d.test", i)).Page("/", "<title>a long page</title>").Fault(f)
	}
	asking, giveUp := context.WithCancel(t.Context())
	v := visitors{share: slots.New(0).Share(drips + 1), parsers: newParsers(noHash, nil, 1)}
	steps, outcomes := make(chan ring.Step), make(chan ring.Outcome)
	ended := make(chan error, 1)
	go func() { ended <- v.run(t.Context(), asking, steps, outcomes) }()
	ask := func(host string) {
		steps <- ring.Step{Kind: ring.Get, URLKind: schema.KindPage, URL: "https://" + host + "/",
			Norm: "https://" + host + "/", Timeout: set.Timeout(0), Settings: set}
	}
	for i := range drips {
		ask(fmt.Sprintf("d%d.test", i))
	}
	for len(web.Log()) < drips {
		ask("good.test")
		if o := <-outcomes; !o.Answered() || o.Page == nil || o.Page.Title != "a page" {
			t.Fatalf("%+v", o)
		}
	}
	giveUp()
	close(steps)
	for o := range outcomes {
		if o.Cause != fetch.Cancelled {
			t.Errorf("%s: %v, want cancelled", o.Step.URL, o.Cause)
		}
	}
	if err := <-ended; err != nil || len(v.parsers) != 1 {
		t.Errorf("%v; %d parsers are there, want 1", err, len(v.parsers))
	}
}

// A parser is kept until its outcome is taken. A request that is given up while it waits for a
// parser counts as not sent.
func TestParserIsAwaited(t *testing.T) {
	_, set := goodWeb(t)
	v := visitors{parsers: newParsers(noHash, nil, 1)}
	step := ring.Step{Kind: ring.Get, URL: "https://good.test/", Timeout: set.Timeout(0), Settings: set}
	v.visit(t.Context(), step, func(o ring.Outcome) {
		if len(v.parsers) != 0 {
			t.Error("the parser is free before its outcome is taken")
		}
	})
	p, _ := v.parsers.take(t.Context())
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	o := ring.Outcome{Step: step, Status: http.StatusOK}
	cancel(gone)
	if v.parse(ctx, &o, &fetch.Response{Status: http.StatusOK}) != nil || o.Cause != fetch.Cancelled ||
		o.Detail != "gone" {
		t.Errorf("%+v, want cancelled", o)
	}
	v.parsers <- p
}

// An answer that has arrived needs no slot, even if it is not taken yet; but only some answers may
// wait like this.
func TestWhatHasComeNeedsNoSlot(t *testing.T) {
	_, set := goodWeb(t)
	share := slots.New(0).Share(4)
	v := visitors{share: share, came: semaphore.NewWeighted(2), parsers: newParsers(noHash, nil, 2)}
	steps, outcomes := make(chan ring.Step), make(chan ring.Outcome)
	ended := make(chan error, 1)
	go func() { ended <- v.run(t.Context(), t.Context(), steps, outcomes) }()
	send := func() {
		if !share.Take(time.Now(), slots.Proven, slots.Tally{}) {
			t.Fatal("there is no slot")
		}
		steps <- ring.Step{Kind: ring.Get, URLKind: schema.KindPage, URL: "https://good.test/",
			Norm: "https://good.test/", Timeout: set.Timeout(0), Settings: set}
	}
	used := func(want int) {
		for used := share.Used(); used.Sum() != want; used = share.Used() {
			time.Sleep(time.Millisecond)
		}
	}
	for range 2 { // one after the other, so that both have arrived
		send()
		used(0)
	}
	send()
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; time.Sleep(time.Millisecond) {
		if used := share.Used(); used.Sum() != 1 {
			t.Fatalf("%d slots are used, want 1", used.Sum())
		}
	}
	for range 3 {
		if o := <-outcomes; !o.Answered() || o.Page == nil {
			t.Fatalf("%+v", o)
		}
	}
	used(0)
	close(steps)
	for range outcomes {
		t.Error("one more came")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
