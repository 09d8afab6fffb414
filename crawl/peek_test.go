package crawl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// peekOptions peek at hosts of a web, each of which is an origin.
func peekOptions(t *testing.T, web *webtest.Server, hosts ...string) crawl.PeekOptions {
	t.Helper()
	var text strings.Builder
	for _, host := range hosts {
		fmt.Fprintf(&text, "[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", host, host)
	}
	o := crawl.PeekOptions{Config: crawltest.Parse(t, crawltest.Config(t, web, text.String()))}
	for _, host := range hosts {
		u, err := o.Config.Rules().Parse("https://" + host + "/")
		if err != nil {
			t.Fatal(err)
		}
		o.Seeds = append(o.Seeds, u)
	}
	return o
}

// However often Peek is called, and wherever redirects lead, no host is requested twice within its
// delay, or within that delay of the call.
func TestPeekIsPolite(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	web.Host("a.test").Redirect("/robots.txt", "https://b.test/robots.txt", 301)
	web.Host("b.test").Redirect("/robots.txt", "https://www.b.test/robots.txt", 301)
	web.Host("www.b.test").Robots("User-agent: *\nDisallow: /\n")
	web.Host("c.test").Robots("User-agent: *\nCrawl-delay: 0.3\n")
	o := peekOptions(t, web, "a.test", "b.test", "c.test")
	last := map[string]time.Time{}
	for range 2 {
		called := time.Now()
		peeks, err := crawl.Peek(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range peeks[:2] {
			if p.Rules == nil || p.Rules.Check("/").Allowed {
				t.Errorf("%s: %+v", p.Host, p)
			}
		}
		for _, e := range web.Log() {
			name := strings.TrimPrefix(e.Host, "www.")
			delay := 100 * time.Millisecond
			if name == "c.test" && !last[name].IsZero() {
				delay = 300 * time.Millisecond
			}
			if gap := e.Arrived.Sub(last[name]); gap < delay || e.Arrived.Sub(called) < 100*time.Millisecond {
				t.Errorf("%s%s: %v after the last request, %v after the call", e.Host, e.Path, gap,
					e.Arrived.Sub(called))
			}
			last[name] = e.FirstByte
		}
		web.ResetLog()
		for name, at := range last {
			if rest := time.Since(at); rest < 100*time.Millisecond {
				t.Errorf("%s has rested for %v", name, rest)
			}
		}
	}
}

// A host whose robots.txt is in the state file is not requested again, and a host that asked Ripple
// to wait is left alone.
func TestPeekRecalls(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	now := time.Now()
	forbids := []byte("User-agent: *\nDisallow: /\n")
	fresh := schema.RobotsCopy{At: now.Add(-time.Hour), Status: 200, Text: forbids}
	stale := schema.RobotsCopy{At: now.Add(-48 * time.Hour), Status: 200, Text: forbids}
	ancient := schema.RobotsCopy{At: now.Add(-31 * 24 * time.Hour), Status: 200, Text: forbids}
	tests := []struct {
		name   string
		host   schema.Host
		copy   schema.RobotsCopy
		status int // of an answer; 0: 404
		busy   bool
		want   string // in the error
		asked  bool
		old    bool // the copy is in force
	}{
		{name: "fresh.test", copy: fresh, old: true},
		{name: "stale.test", copy: stale, asked: true},
		{name: "broken.test", copy: stale, status: 500, asked: true, old: true},
		{name: "broken-long.test", copy: ancient, status: 500, asked: true},
		{name: "suspended.test", copy: stale,
			host: schema.Host{SuspendedTo: now.Add(time.Hour), SuspendedFor: 2 * time.Hour}, old: true},
		{name: "resting.test", host: schema.Host{SuspendedTo: now.Add(time.Hour), SuspendedFor: 2 * time.Hour},
			want: "suspended until "},
		{name: "slow.test", host: schema.Host{CrawlDelay: time.Minute}, want: "its delay is 1m0s"},
		{name: "busy.test", busy: true, want: "a crawl is at work"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web.ResetLog()
			if tt.status != 0 {
				web.Host(tt.name).Page("/robots.txt", "").Status(tt.status)
			}
			o := peekOptions(t, web, tt.name)
			o.Busy, o.Store = tt.busy, crawltest.Open(t, stateFile(t))
			err := o.Store.Update(func(tx *kv.Tx) error {
				h, err := tx.Hosts.Add(tt.name)
				if err != nil {
					return err
				}
				tt.host.ID, tt.host.Name = h.ID, h.Name
				tx.Hosts.Put(&tt.host)
				if tt.copy.At.IsZero() {
					return nil
				}
				return tx.Hosts.PutRobots(h.ID, tt.copy)
			})
			if err != nil {
				t.Fatal(err)
			}
			peeks, err := crawl.Peek(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			p := peeks[0]
			if n := len(web.Log()); (n > 0) != tt.asked {
				t.Errorf("%d requests", n)
			}
			if !strings.Contains(p.Error, tt.want) || (p.Error == "") != (tt.want == "") {
				t.Errorf("error %q, want %q", p.Error, tt.want)
			}
			if stands := p.Rules != nil && !p.Rules.Check("/").Allowed; stands != tt.old ||
				p.Copied.IsZero() == tt.old {
				t.Errorf("the copy stands: %v, want %v", stands, tt.old)
			}
		})
	}
}

// A redirect to a suspended host is reported with the reason, not with its status.
func TestPeekRedirectRests(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	web.Host("a.test").Redirect("/robots.txt", "https://slow.test/robots.txt", 301)
	o := peekOptions(t, web, "a.test")
	o.Store = crawltest.Open(t, stateFile(t))
	err := o.Store.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.Add("slow.test")
		if err == nil {
			h.CrawlDelay = time.Minute
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	peeks, err := crawl.Peek(t.Context(), o)
	if err != nil || peeks[0].Status != 0 || peeks[0].Rules != nil ||
		!strings.Contains(peeks[0].Error, "its delay is 1m0s") {
		t.Errorf("%+v, %v", peeks, err)
	}
}

// A redirect loop makes robots.txt unavailable, as in a crawl; a chain that is too long counts as
// none.
func TestPeekRedirects(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	loop := web.Host("loop.test")
	loop.Redirect("/robots.txt", "/r.txt", 302)
	loop.Redirect("/r.txt", "/robots.txt", 302)
	chain := web.Host("chain.test")
	chain.Redirect("/robots.txt", "/1", 302)
	for i := range 9 {
		chain.Redirect(fmt.Sprintf("/%d", i+1), fmt.Sprintf("/%d", i+2), 302)
	}
	for host, allows := range map[string]bool{"loop.test": false, "chain.test": true} {
		peeks, err := crawl.Peek(t.Context(), peekOptions(t, web, host))
		if err != nil {
			t.Fatal(err)
		}
		if p := peeks[0]; (p.Rules != nil) != allows || p.Status != 302 {
			t.Errorf("%s: %+v, want rules: %v", host, p, allows)
		}
	}
}

// A host whose address has a clock is requested like others: here until its address is refused.
func TestPeekAtAddress(t *testing.T) {
	t.Parallel()
	o := peekOptions(t, crawltest.Serve(t), "10.0.0.1")
	o.Config.Politeness.MinimumTimePerAddress = time.Second
	peeks, err := crawl.Peek(t.Context(), o)
	if err != nil || peeks[0].Error != "address refused" {
		t.Errorf("%+v, %v", peeks, err)
	}
}

// The result for a robots.txt belongs to the host, without the www. at which a seed is requested.
func TestPeekNamesTheHost(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	web.Host("www.a.test").Robots("User-agent: *\nDisallow: /\n")
	o := peekOptions(t, web, "www.a.test")
	peeks, err := crawl.Peek(t.Context(), o)
	if err != nil || peeks[0].Host != "a.test" || peeks[0].Rules.Check("/").Allowed {
		t.Errorf("%+v, %v", peeks, err)
	}
}

// An unavailable robots.txt allows everything if the configuration says so, unless its host cannot
// be reached.
func TestPeekUnreachableAllows(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	web.Host("a.test").Page("/robots.txt", "").Status(500)
	o := peekOptions(t, web, "a.test", "10.0.0.1")
	o.Config.Politeness.RobotsUnreachable = config.RobotsAllow
	peeks, err := crawl.Peek(t.Context(), o)
	if err != nil || peeks[0].Rules == nil || peeks[0].Status != 500 || peeks[1].Rules != nil {
		t.Errorf("%+v, %v", peeks, err)
	}
}
