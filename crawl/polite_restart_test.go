package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// completed marks the newest run as completed, so that the next crawl begins another.
func (s *paperServers) completed() {
	s.t.Helper()
	s.change(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		run := runs[len(runs)-1]
		run.Status = schema.RunCompleted
		return tx.Runs.Put(run)
	})
}

// change changes the store between two crawls.
func (s *paperServers) change(f func(*kv.Tx) error) {
	s.t.Helper()
	store, err := kv.Open(s.path, kv.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	if err := store.Update(f); err != nil {
		s.t.Fatal(err)
	}
}

// changeHost changes a host between two crawls.
func (s *paperServers) changeHost(name string, f func(*schema.Host)) {
	s.t.Helper()
	s.change(func(tx *kv.Tx) error {
		id, ok, err := tx.Hosts.Lookup(name)
		if err != nil || !ok {
			return fmt.Errorf("host %s: %v %w", name, ok, err)
		}
		h, err := tx.Hosts.At(id)
		if err == nil {
			f(h)
			tx.Hosts.Put(h)
		}
		return err
	})
}

func TestSuspensionOutlivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = throttling(3, 1, http.Header{"Retry-After": {"600"}})
		cfg := politeConfig(nil)
		for range 5 {
			s.crawl(cfg, 20*time.Second)
			time.Sleep(15 * time.Second)
		}
		s.crawl(cfg, 0)
		if got, want := seconds(s.arrivals("a.test")), "0 1 2 602 603 604"; got != want {
			t.Errorf("asked at %s, want %s", got, want)
		}
	})
}

// TestLongRetryAfter gives up a host that asks for more than max-suspension; the next runs honour
// its request to the second.
func TestLongRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = throttling(2, 1, http.Header{"Retry-After": {"9000"}})
		cfg := politeConfig(nil)
		begun := time.Now()
		for _, want := range []struct {
			asked  string
			gaveUp schema.GiveUp
			ends   time.Duration // since the first run began
		}{
			{"0 1 2", schema.GaveUpRateLimit, 3 * time.Second},
			{"0 1 2", schema.GaveUpRateLimit, 3700 * time.Second},
			{"0 1 2 9002 9003", schema.NotGivenUp, 9010 * time.Second},
		} {
			s.crawl(cfg, 0)
			h := s.hostRecord("a.test")
			if got := seconds(s.arrivals("a.test")); got != want.asked || h.RunGivenUp != want.gaveUp {
				t.Errorf("asked at %s, given up %v; want %s, %v", got, h.RunGivenUp, want.asked, want.gaveUp)
			}
			if took := time.Since(begun); took > want.ends {
				t.Errorf("the run ended after %v, want %v", took, want.ends)
			}
			s.completed()
			time.Sleep(time.Hour)
		}
	})
}

// TestClockJumped finds a suspension far in the future, as after a wall clock that was a year
// ahead.
func TestClockJumped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = throttling(1, 1, http.Header{"Retry-After": {"600"}})
		cfg := politeConfig(nil)
		s.crawl(cfg, 5*time.Second)
		year := 366 * 24 * time.Hour
		s.changeHost("a.test", func(h *schema.Host) {
			h.SuspendedTo = h.SuspendedTo.Add(year)
			h.RobotsAt = h.RobotsAt.Add(year)
			h.LastByte, h.LastEnd = h.LastByte.Add(year), h.LastEnd.Add(year)
		})
		s.crawl(cfg, 0)
		if got, want := seconds(s.arrivals("a.test")), "0 1 2 605"; got != want {
			t.Errorf("asked at %s, want %s", got, want)
		}
		if h := s.hostRecord("a.test"); h.RobotsAt.After(time.Now()) {
			t.Errorf("the copy of robots.txt is from the future: %v", h.RobotsAt)
		}
	})
}

// TestFreshAfterAKill kills a crawl while the first request to a host is open, and starts again
// with an empty map: that host's delay is kept, too.
func TestFreshAfterAKill(t *testing.T) {
	p := newEmptyPaper(t, "[[quality]]\ndomain = \"h0.test\"\nseeds = [\"https://h0.test/p0\"]\n")
	for p.start(); len(p.steps) == 0; {
		p.turnRound()
	}
	p.kill()
	from, to := crawltest.Open(t, p.path), crawltest.Open(t, p.path+".fresh")
	if n, err := Fresh(from, to); err != nil || n != 1 {
		t.Errorf("%d hosts are carried over, %v", n, err)
	}
	rec := newCommitter(to, p.steps[0].Settings, quietLog(), nil)
	if _, err := rec.recorder.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := rec.recorder.EachWaiting(func(e *ring.Effect) {
		if rest := time.Until(e.Ready); rest < p.cfg.Crawler.MinimumTimeOnPage/2 {
			t.Errorf("it is asked in %v", rest)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestartsArePolite kills a crawl repeatedly, at any moment, and restarts it at once. A host is asked for a page
// that does not exist until one answer is kept, again only if a kill cut the answer, and never where robots.txt forbids
// it.
func TestRestartsArePolite(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			s := newPaperServers(t)
			slow := site("User-agent: *\nCrawl-delay: 2.5\n", 4)
			s.host["a.test"] = func(q question) reply {
				a := slow(q)
				if q.path == "/" {
					a = links("/1", "/2", "https://b.test/", "https://c.test/", "https://d.test/")
				}
				return a
			}
			s.other = func(q question) reply {
				a := site("", 3)(q)
				if q.host == "d.test" {
					a = site("User-agent: *\nDisallow: "+missing.Path("d.test")+"\n", 3)(q)
				}
				a.wait, a.last = 700*time.Millisecond, 200*time.Millisecond
				if strings.HasPrefix(q.host, "c.") {
					a.wait = 3 * time.Second
				}
				return a
			}
			cfg := politeConfig(map[string]string{"politeness": "adaptive-delay = false",
				"more": "[checks]\nsoft-404 = \"all\"\n"})
			var kills []time.Time
			for range 20 {
				runs := time.Duration(300+r.IntN(6000)) * time.Millisecond
				kills = append(kills, time.Now().Add(runs))
				s.crawl(cfg, runs)
			}
			s.crawl(cfg, 0)
			rules := []webtest.Rule{webtest.MinGap(time.Second, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
			for _, bad := range webtest.CheckLog(s.log, rules...) {
				t.Errorf("seed %d: %s", seed, bad)
			}
			for _, host := range []string{"a.test", "b.test", "c.test", "d.test"} {
				probes := slices.DeleteFunc(only(s.log, host), func(e webtest.Entry) bool { return e.Path != missing.Path(host) })
				kept := s.hostRecord(host).Missing
				if host == "d.test" {
					if len(probes) > 0 || kept.Run != 0 {
						t.Errorf("seed %d: robots.txt of %s forbids the probe: %d, %+v", seed, host, len(probes), kept)
					}
					continue
				}
				if len(probes) == 0 || kept.Run != 1 || !kept.At.Equal(probes[len(probes)-1].FirstByte) {
					t.Errorf("seed %d: %s keeps %+v of %d probes", seed, host, kept, len(probes))
					continue
				}
				for _, e := range probes[:len(probes)-1] {
					if !slices.ContainsFunc(kills, func(at time.Time) bool { return !at.Before(e.Arrived) && !at.After(e.Done) }) {
						t.Errorf("seed %d: %s is probed again although no kill cut the answer at %v", seed, host, e.Done)
					}
				}
			}
			var after bool // its robots.txt was committed before a page was requested
			for i, e := range only(s.log, "a.test") {
				if after && e.Arrived.Sub(only(s.log, "a.test")[i-1].FirstByte) < 2500*time.Millisecond {
					t.Errorf("seed %d: a.test asked %v after the answer before", seed,
						e.Arrived.Sub(only(s.log, "a.test")[i-1].FirstByte))
				}
				after = after || e.Path != "/robots.txt"
			}
		})
	}
}

func only(log []webtest.Entry, host string) []webtest.Entry {
	var of []webtest.Entry
	for _, e := range log {
		if e.Host == host {
			of = append(of, e)
		}
	}
	return of
}

// TestBurst has three open requests at a host that throttles them all: that counts as one
// suspension, and one probe ends it.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		honest := site("", 8)
		s.host["a.test"] = func(q question) reply {
			a := honest(q)
			if q.path != "/" && q.path != "/robots.txt" {
				a.wait = 4 * time.Second
				if q.n == 0 && q.path <= "/3" {
					a = reply{status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {"20"}},
						wait: 4 * time.Second}
				}
			}
			return a
		}
		s.crawl(politeConfig(map[string]string{"politeness": "max-rate-limits = 2\nmax-parallel-per-domain = 3\n" +
			"adaptive-delay = false"}), 0)
		h := s.hostRecord("a.test")
		if h.RunGivenUp != schema.NotGivenUp || h.RunThrottles != 3 {
			t.Errorf("given up %v after %d throttles, want not at all after 3", h.RunGivenUp, h.RunThrottles)
		}
		// /3 is answered at 8 and asks for 20 s, as the others did before; the probe is answered at 32.
		if got, want := seconds(s.arrivals("a.test")), "0 1 2 3 4 28 33 34 35"; !strings.HasPrefix(got, want) {
			t.Errorf("asked at %s, want %s ...", got, want)
		}
		for _, bad := range webtest.CheckLog(s.log, webtest.MaxOpen(3, 0)) {
			t.Error(bad)
		}
	})
}

// TestBudgetHoldsInParallel counts open requests.
func TestBudgetHoldsInParallel(t *testing.T) {
	for _, head := range []string{"never", "always"} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			honest := site("", 30)
			s.host["a.test"] = func(q question) reply {
				a := honest(q)
				a.wait = 7 * time.Second
				return a
			}
			cfg := politeConfig(map[string]string{"crawler": "max-domain-requests = 10",
				"politeness": "max-parallel-per-domain = 4\nadaptive-delay = false"})
			s.crawl(strings.Replace(cfg, "head-check = \"never\"", fmt.Sprintf("head-check = %q", head), 1), 0)
			if got := len(s.arrivals("a.test")) - 1; got != 10 {
				t.Errorf("head-check = %s: %d requests for pages, want 10", head, got)
			}
		})
	}
}

// TestAdaptiveOverStarts restarts a crawler repeatedly at a slow host: the host gets the same
// delays as from one that keeps running.
func TestAdaptiveOverStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			r := site("", 12)(q)
			r.wait = 10 * time.Second
			return r
		}
		for range 6 {
			s.crawl(politeConfig(nil), 13*time.Second) // robots.txt or one page, and the commit of it
		}
		s.crawl(politeConfig(nil), 0)
		for i := 1; i < len(s.log); i++ {
			if rest := s.log[i].Arrived.Sub(s.log[i-1].Done); rest < 10*time.Second {
				t.Errorf("request %d came %v after the answer before it", i, rest)
			}
		}
	})
}
