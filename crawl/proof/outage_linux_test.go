package proof

import (
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// A disturbance takes the network away from a crawl, and brings it back.
type disturbance struct {
	name    string
	long    bool // skipped in the short form, which has a similar one
	outages int  // number that the crawl should report
	disturb func(*remoteCrawl)
}

func disturbances() []disturbance {
	return []disturbance{
		{"interface down", false, 1, func(c *remoteCrawl) {
			c.do(c.crawler, "link set lan down")
			c.away()
			c.join(home)
		}},
		{"cable pulled", true, 1, func(c *remoteCrawl) {
			c.do(c.servers, "link set wan down")
			c.away()
			c.do(c.servers, "link set wan up")
		}},
		{"packets lost", true, 1, func(c *remoteCrawl) {
			c.lose()
			c.away()
			c.find()
		}},
		{"another network", true, 1, func(c *remoteCrawl) {
			c.leave()
			c.away()
			c.names.move(otherResolver)
			c.ask(otherResolver)
			c.join(abroad)
		}},
		{"a network to log in to first", false, 1, func(c *remoteCrawl) { c.meetPortal(strangeCertificate(c.t)) }},
		{"one that hangs up", true, 1, func(c *remoteCrawl) { c.meetPortal(nil) }},
		{"another network at once", false, 0, func(c *remoteCrawl) { c.change(abroad) }},
		{"resolver away while hosts answer", false, 0, func(c *remoteCrawl) {
			c.names.Close()
			c.answers(70)
			c.names.start(resolver)
		}},
		{"resolver away for long", true, 1, func(c *remoteCrawl) {
			c.names.Close()
			c.away()
			c.names.start(resolver)
		}},
		{"twice", true, 2, func(c *remoteCrawl) {
			for n := range 2 {
				c.do(c.crawler, "link set lan down")
				c.until("outage", func() bool { return c.told(toldAway) > n })
				c.join(home)
				c.until("end of it", func() bool { return c.told(toldThere) > n })
				c.answers(20)
			}
		}},
		{"stopped", false, 0, func(c *remoteCrawl) {
			c.stop()
			c.resume()
		}},
		{"stopped, and awake in another network", true, 0, func(c *remoteCrawl) {
			c.stop()
			c.change(abroad)
			c.resume()
		}},
	}
}

// meetPortal moves the crawl to another network, where a portal answers in place of all hosts, for
// some probes.
func (c *remoteCrawl) meetPortal(certificate *tls.Config) {
	c.t.Helper()
	c.portal.certificate = certificate
	c.portal.shut.Store(true)
	c.change(abroad)
	c.away()
	before := c.portal.met.Load()
	c.until("probes", func() bool { return c.portal.met.Load() >= before+2 })
	c.change(home)
}

// TestOutages takes the network away from a crawl in many ways. The map is that of an undisturbed
// crawl.
func TestOutages(t *testing.T) {
	t.Parallel()
	quiet := newRemoteWeb(t).crawl("")
	quiet.end()
	quiet.wantOutages(0)
	quiet.wantBlameless()
	want := crawltest.Digest(t, quiet.state)
	for _, tt := range disturbances() {
		t.Run(tt.name, func(t *testing.T) {
			if tt.long && !crawltest.Full() && os.Getenv("RIPPLE_CI") != "1" {
				t.Skip("takes long: set RIPPLE_PROOF=full")
			}
			t.Parallel()
			c := newRemoteWeb(t).crawl("")
			c.answers(60)
			tt.disturb(c)
			c.end()
			c.wantOutages(tt.outages)
			c.wantBlameless()
			c.wantDigest(want)
		})
	}
}

// undisturbed returns the digest of an undisturbed crawl of the same web.
func undisturbed(t *testing.T) string {
	t.Helper()
	c := newRemoteWeb(t).crawl("")
	c.end()
	return crawltest.Digest(t, c.state)
}

// wantDigest ends a crawl, which must have found the same as an undisturbed one.
func (c *remoteCrawl) wantDigest(want string) {
	c.t.Helper()
	if got := crawltest.Digest(c.t, c.state); got != want {
		c.t.Errorf("digest %s, want %s", got, want)
	}
}

// TestOutageAtStart begins a crawl before there is a network.
func TestOutageAtStart(t *testing.T) {
	t.Parallel()
	want, w := undisturbed(t), newRemoteWeb(t)
	w.leave()
	c := w.crawl("")
	c.away()
	if n := len(c.web.Log()); n > 0 {
		t.Errorf("%d requests came through", n)
	}
	c.join(home)
	c.end()
	c.wantOutages(1)
	c.wantBlameless()
	c.wantDigest(want)
}

// TestOutageLate silently takes the network away when only one or three of many hosts are left to
// request.
func TestOutageLate(t *testing.T) {
	t.Parallel()
	for _, hosts := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d left", hosts), func(t *testing.T) {
			t.Parallel()
			late := func() *remoteCrawl {
				w := newRemoteWeb(t)
				for i := range hosts {
					w.line(i, 80)
				}
				return w.crawl("")
			}
			quiet := late()
			quiet.end()
			c := late()
			c.until("end of the other hosts", func() bool { return c.othersAsked() == outageHosts*(outagePages+2) })
			c.lose()
			c.away()
			c.find()
			c.end()
			c.wantOutages(1)
			c.wantBlameless()
			c.wantDigest(crawltest.Digest(t, quiet.state))
		})
	}
}

// TestOutageEnds ends a crawl while the network is away. What it has found stays, and it can be
// resumed.
func TestOutageEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys string
		end        func(*remoteCrawl)
	}{
		{"by a signal", "", func(c *remoteCrawl) { c.signal(os.Interrupt) }},
		{"by max-run-time", `max-run-time = "6s"`, func(*remoteCrawl) {}},
	}
	want := undisturbed(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newRemoteWeb(t)
			c := w.crawl(tt.keys)
			c.answers(60)
			c.lose()
			c.away()
			tt.end(c)
			c.end()
			c.wantBlameless()
			kept := 0
			crawltest.EachPage(t, c.state, func(p *survey.Page) {
				if p.Visited {
					kept++
				}
			})
			if asked := len(c.web.Log()); kept == 0 || kept < asked-2*outageHosts-8 {
				t.Errorf("%d pages are kept of %d requests", kept, asked)
			}
			if c.told(toldThere) > 0 {
				t.Error("the network was never there again")
			}
			c.find()
			c = w.crawl("")
			c.end()
			c.wantBlameless()
			c.wantDigest(want)
		})
	}
}

// TestLostHosts crawls a web with some hosts that are lost for reasons of their own, which look
// much like an outage.
func TestLostHosts(t *testing.T) {
	t.Parallel()
	w := newRemoteWeb(t)
	w.routes()
	lost := []string{
		"https://[2600::1]/",     // an address family without a route here
		"https://10.99.0.1/",     // a router has no route
		"https://10.77.0.1:444/", // refused
		"https://lame.test/",     // its name server is silent
	}
	for i := range outageHosts / 2 {
		w.web.Host(fmt.Sprintf("h%d.test", i)).Page("/2", crawltest.Anchors(lost...))
	}
	c := w.crawl("")
	c.end()
	c.wantOutages(0)
	crawltest.EachPage(t, c.state, func(p *survey.Page) {
		if blamed, want := p.Error != "", slices.Contains(lost, p.URL); blamed != want {
			t.Errorf("%s: %q", p.URL, p.Error)
		}
	})
}
