package crawl

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	noPage  = "User-agent: *\nDisallow: /p\n"
	noRules = "User-agent: *\nDisallow: /private\n"
)

// targetWeb has the robots.txt of hosts redirect to others in every way, and returns the result for
// each: the text that applies, or why there is none.
func targetWeb() (web *paperWeb, want map[string]string) {
	web, want = &paperWeb{links: map[string][]string{}, redirect: map[string]string{}, robots: map[string]string{}},
		map[string]string{}
	host := func(name, robots, comesTo string) {
		web.links["https://a.test/"] = append(web.links["https://a.test/"], "https://"+name+"/p")
		web.robots["https://"+name+"/robots.txt"] = robots
		want[name] = comesTo
	}
	unavailable := func(why string) string { return "given up: robots.txt unavailable: " + why }
	circle := func(name string, n int) {
		for i := range n {
			next := fmt.Sprintf("%s%d.test", name, (i+1)%n)
			host(fmt.Sprintf("%s%d.test", name, i), "https://"+next+"/rules", unavailable("redirects to "+next+": redirect loop"))
		}
	}
	circle("two", 2)
	circle("three", 3)
	circle("ten", 10)
	host("outside.test", "https://two0.test/rules", unavailable("redirects to two0.test: redirect loop"))

	// a circle of hosts that wait, and one that only redirects
	host("mixed0.test", "https://mixed1.test/rules", unavailable("redirects to mixed1.test: redirect loop"))
	host("mixed1.test", "https://mixed2.test/robots.txt", unavailable("redirects to mixed0.test: redirect loop"))
	host("mixed2.test", "https://mixed0.test/rules", unavailable("redirects to mixed0.test: redirect loop"))

	host("permits.test", noRules, noRules)
	web.robots["https://permits.test/rules"] = noPage
	web.robots["https://permits.test/private"] = noPage
	host("permitted.test", "https://permits.test/rules", noPage)
	host("chain0.test", "https://chain1.test/rules", noPage)
	host("chain1.test", "https://permits.test/rules", noPage)
	web.robots["https://chain1.test/rules"] = "https://permits.test/rules"
	host("denied.test", "https://permits.test/private", unavailable("redirects to permits.test: denied by robots.txt"))

	host("faulty.test", "503", unavailable("503 Service Unavailable"))
	web.robots["https://faulty.test/rules"] = noPage
	host("unknown.test", "https://faulty.test/rules", unavailable("redirects to faulty.test: robots.txt unavailable"))
	web.robots["https://faulty.test/x/robots.txt"] = noPage
	host("known.test", "https://faulty.test/x/robots.txt", noPage)
	web.robots["https://permits.test/503"] = "503"
	host("fails.test", "https://permits.test/503", unavailable("503 Service Unavailable"))
	host("excluded.test", "https://black.test/robots.txt", "")

	host("back.test", "https://permits.test/back", noPage)
	web.robots["https://permits.test/back"] = "https://back.test/rules"
	web.robots["https://back.test/rules"] = noPage
	return web, want
}

func targetConfig(retries int) string {
	return twoSteps(fmt.Sprintf(`[retry]
max-retries = %d
delay = "1s"
[[blacklist]]
domain = "black.test"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`, retries))
}

// comesTo returns the result of robots.txt for every host that another one names.
func comesTo(t *testing.T, store *kv.Store, to map[string]string) {
	t.Helper()
	err := store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if h.Name == "a.test" || h.Name == "black.test" || store.Foreign(h.ID) {
				return true, nil
			}
			file, _, err := tx.Hosts.Robots(h.ID)
			to[h.Name] = string(file.Text)
			if h.RunGivenUp != schema.NotGivenUp {
				to[h.Name] = "given up: " + h.RunGivenUpWhy.String()
			}
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// In any order, and with kills, the robots.txt of a host has the same result wherever it redirects.
func TestTargetsInAnyOrder(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			web, want := targetWeb()
			p := newPaper(t, rand.New(rand.NewPCG(seed, 3)), web, targetConfig(int(seed%3)))
			kills := int(seed % 4)
			p.start()
			for round := 0; len(p.steps)+len(p.wakes) > 0; round++ {
				if round > 2000 {
					t.Fatalf("seed %d: the crawl does not end", seed)
				}
				if round%7 == 6 && kills > 0 {
					kills--
					p.kill()
					p.start()
				}
				p.turnRound()
				time.Sleep(100 * time.Millisecond)
			}
			got := map[string]string{}
			comesTo(t, p.store, got)
			p.kill()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d: %s", seed, diff)
			}
			if n := p.asked["https://permits.test/rules"]; n != 1 && seed%4 == 0 || n == 0 {
				t.Errorf("seed %d: an address to which three hosts are sent is asked %d times", seed, n)
			}
			for _, never := range []string{"https://permits.test/private", "https://two0.test/rules",
				"https://faulty.test/rules", "https://black.test/robots.txt"} {
				if p.asked[never] > 0 {
					t.Errorf("seed %d: %s is asked", seed, never)
				}
			}
		})
	}
}

// The same is true if the hosts belong to several shards whose letters are lost, duplicated and
// late.
func TestTargetsOfShards(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			web, want := targetWeb()
			p := newPaperTerrain(t, rand.New(rand.NewPCG(seed, 4)), web, targetConfig(int(seed%2)), 2+int(seed%2))
			p.reads = true // no file goes back
			turn := func() {
				p.turn()
				time.Sleep(100 * time.Millisecond)
			}
			for range 100 * (seed % 3) {
				turn()
			}
			p.calm = true
			for round := 0; !p.over(); round++ {
				if round > 20_000 {
					t.Fatalf("seed %d: the crawl does not end", seed)
				}
				turn()
			}
			got, asked := map[string]string{}, 0
			for _, s := range p.shards {
				comesTo(t, s.store, got)
				asked += s.asked["https://permits.test/rules"]
				s.kill()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d: %s", seed, diff)
			}
			if asked != 1 && seed%3 == 0 {
				t.Errorf("seed %d: an address to which three hosts are sent is asked %d times", seed, asked)
			}
		})
	}
}

// reflecting returns n hosts whose robots.txt each redirect to another address of victim.test,
// which permits everything but /private.
func reflecting(t *testing.T, n int, to func(host string) string) *paperServers {
	s := newPaperServers(t)
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("https://w%d.test/", i))
	}
	s.host["a.test"] = pages(map[string]reply{"/": links(all...)})
	s.host["victim.test"] = func(q question) reply {
		if q.path == "/robots.txt" {
			return reply{status: 200, body: noRules}
		}
		return reply{status: 200, body: "User-agent: *\n"}
	}
	s.other = func(q question) reply {
		if q.path == "/robots.txt" {
			return redirect("https://victim.test" + to(q.host))
		}
		return reply{status: 200, body: "<title>x</title>"}
	}
	return s
}

// asks counts the requests to a host by path.
func (s *paperServers) asks(host string) map[string]int {
	n := map[string]int{}
	for _, e := range s.log {
		if e.Host == host {
			n[e.Path]++
		}
	}
	return n
}

// However many hosts redirect their robots.txt to addresses of one host, it gets ten such requests
// in a run, whether or not its budget is used up, and even with kills. The other hosts wait for the
// next run, and their coverage says so.
func TestThousandHostsReflect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reflecting(t, 1000, func(host string) string { return "/buy?" + host })
		text := politeConfig(map[string]string{"crawler": "max-depth = 2\nmax-domain-requests = 5"})
		s.crawl(text, 4*time.Second)
		s.crawl(text, 3*time.Second)
		s.crawl(text, 0)
		asked := s.asks("victim.test")
		delete(asked, "/robots.txt")
		if len(asked) != schema.MaxTargets {
			t.Errorf("victim.test is asked for %q", slices.Sorted(maps.Keys(asked)))
		}
		if h := s.hostRecord("victim.test"); h.RunRequests < schema.MaxTargets {
			t.Errorf("its budget counts %d requests", h.RunRequests)
		}
		left, last := 0, ""
		for i := range 1000 {
			h := s.hostRecord(fmt.Sprintf("w%d.test", i))
			if h.RunGivenUp == schema.NotGivenUp {
				continue
			}
			left, last = left+1, h.Name
			want := "robots.txt unavailable: redirects to victim.test: ten other addresses were asked for other hosts"
			if h.RunGivenUp != schema.GaveUpRobots || h.RunGivenUpWhy.String() != want || h.Waiting != 1 {
				t.Fatalf("%s is given up as %v, %q, and %d pages wait", h.Name, h.RunGivenUp, h.RunGivenUpWhy, h.Waiting)
			}
		}
		if left != 1000-schema.MaxTargets {
			t.Errorf("%d hosts are left to the next run", left)
		}
		wantCovered(t, s, last,
			"given up: robots.txt unavailable: redirects to victim.test: ten other addresses were asked for other hosts")
		s.completed()
		s.crawl(text, 0)
		if asked := s.asks("victim.test"); len(asked) != 1+2*schema.MaxTargets {
			t.Errorf("in the next run victim.test is asked for %d addresses", len(asked)-1-schema.MaxTargets)
		}
	})
}

// A target of many redirects is requested once, and again after robots-ttl.
func TestOneTargetOfThousands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reflecting(t, 2500, func(string) string { return "/rules" })
		text := politeConfig(map[string]string{
			"crawler": "max-depth = 2", "politeness": "robots-ttl = \"24h\"", "recrawl": "min-age = \"0s\"",
			"traps": "max-hosts-per-page = 5000",
		})
		s.crawl(text, 0)
		s.completed()
		if asked := s.asks("victim.test"); asked["/rules"] != 1 || asked["/robots.txt"] != 1 {
			t.Errorf("victim.test is asked for %v", asked)
		}
		s.crawl(text, 0)
		s.completed()
		for _, i := range []int{0, 1200, 2499} {
			if h := s.hostRecord(fmt.Sprintf("w%d.test", i)); h.RunVisited != 1 {
				t.Errorf("of %s %d pages are visited", h.Name, h.RunVisited)
			}
		}
		if asked := s.asks("victim.test"); asked["/rules"] != 1 {
			t.Errorf("within robots-ttl victim.test is asked for %v", asked)
		}
		time.Sleep(25 * time.Hour)
		s.crawl(text, 0)
		if asked := s.asks("victim.test"); asked["/rules"] != 2 || asked["/robots.txt"] != 2 {
			t.Errorf("after robots-ttl victim.test is asked for %v", asked)
		}
	})
}

// Waiting for permission uses up no try, however long it takes.
func TestWaitForPermissionIsNoTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reflecting(t, 3, func(string) string { return "/rules" })
		honest := s.host["victim.test"]
		s.host["victim.test"] = func(q question) reply {
			if q.path == "/robots.txt" && q.n == 0 {
				return reply{status: 429, header: map[string][]string{"Retry-After": {"60"}}}
			}
			return honest(q)
		}
		s.crawl(politeConfig(map[string]string{"crawler": "max-depth = 2", "retry": "max-retries = 1\ndelay = \"30s\""}), 0)
		if asked := s.asks("victim.test"); asked["/rules"] != 1 || asked["/robots.txt"] != 2 {
			t.Errorf("victim.test is asked for %v", asked)
		}
		for i := range 3 {
			name := fmt.Sprintf("w%d.test", i)
			if asked := s.asks(name); asked["/robots.txt"] != 1 || asked["/"] != 1 {
				t.Errorf("%s is asked for %v", name, asked)
			}
		}
	})
}

// A silent target delays the hosts that wait for it only by its time limit, for each of their
// tries, and delays no other host.
func TestSilentTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reflecting(t, 50, func(string) string { return "/x/robots.txt" })
		s.host["victim.test"] = func(question) reply { return reply{cause: schema.CauseTimeout, wait: 10 * time.Second} }
		begun := time.Now()
		s.crawl(politeConfig(map[string]string{
			"crawler": "max-depth = 2", "retry": "max-retries = 2\ndelay = \"1s\"\ntimeout = \"10s\"",
		}), 0)
		if n := s.asks("victim.test")["/x/robots.txt"]; n < 3 || n > 9 {
			t.Errorf("50 hosts ask for it %d times", n)
		}
		if took := time.Since(begun); took > 4*time.Minute {
			t.Errorf("the crawl took %v", took)
		}
		for i := range 50 {
			if h := s.hostRecord(fmt.Sprintf("w%d.test", i)); h.RunGivenUp != schema.GaveUpRobots {
				t.Errorf("%s is given up as %v, %q", h.Name, h.RunGivenUp, h.RunGivenUpWhy)
			}
		}
	})
}

// While the answer from another host is awaited, the record of the waiting host says so. Once its
// robots.txt has a result it does not, nor if it is requested again after a kill.
func TestWaitForTargetIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reflecting(t, 3, func(string) string { return "/rules" })
		honest := s.host["victim.test"]
		s.host["victim.test"] = func(q question) reply {
			if q.path == "/robots.txt" && q.n == 0 {
				return reply{status: 429, header: map[string][]string{"Retry-After": {"60"}}}
			}
			return honest(q)
		}
		begun := time.Now()
		text := politeConfig(map[string]string{"crawler": "max-depth = 2"})
		s.crawl(text, 30*time.Second)
		for i := range 3 {
			h := s.hostRecord(fmt.Sprintf("w%d.test", i))
			if after := h.RobotsSince.Sub(begun); h.RobotsFrom != "victim.test" || after < 0 || after > 10*time.Second {
				t.Errorf("%s waits for %q after %v", h.Name, h.RobotsFrom, after)
			}
		}
		s.crawl(text, 0)
		for _, name := range []string{"w0.test", "w1.test", "w2.test", "victim.test"} {
			if h := s.hostRecord(name); h.RobotsFrom != "" || !h.RobotsSince.IsZero() || h.RobotsStatus != 200 {
				t.Errorf("in the end %s waits for %q, robots.txt %d", h.Name, h.RobotsFrom, h.RobotsStatus)
			}
		}
	})
}
