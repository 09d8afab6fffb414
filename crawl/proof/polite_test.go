package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

const politeWebConfig = `
[crawler]
max-depth = 3
max-concurrent-pages-open = 40
head-check = "always"
sitemaps = "quality"
[user-agent]
crawler-name = "PoliteBot"
[politeness]
max-rate-limits = 4
[retry]
max-retries = 1
delay = "200ms"
timeout = "5s"
connect-timeout = "5s"
[[quality]]
domain = "hub.test"
seeds = ["https://hub.test/"]
[[quality]]
domain = "shop.test"
seeds = ["https://shop.test/"]
[[blacklist]]
domain = "*.black.test"
`

// politeTimeout is the time-out of a crawl of a polite web.
const politeTimeout = 5 * time.Second

// A promise is what a host may expect from a polite crawler.
type promise struct {
	gap    time.Duration  // from its robots.txt onwards; 0: the minimum
	never  *regexp.Regexp // paths that its robots.txt forbids; nil: none
	closed bool           // its robots.txt is unavailable: no page may be requested
	visits []string       // paths that must still be requested
}

// A politeWeb is a web of hosts of every kind, with the promises to each.
type politeWeb struct {
	*webtest.Server
	promised map[string]promise
	pulse    *pulse

	mu    sync.Mutex
	rests []rest
}

// A rest is a period in which a host must be left alone.
type rest struct {
	host        string
	from, until time.Time // until zero: its length depends on how often the host asked for it before
	fate        fate
}

// A fate is what happened to an answer.
type fate uint8

const (
	undecided fate = iota
	heard          // it was committed
	lost           // the crawler was killed before that
)

// hear decides after a kill what happened to the answers that asked the crawler to wait: the crawl
// knows those that its state file contains, and no others.
func (w *politeWeb) hear(t testing.TB, state string) {
	t.Helper()
	last := lastAnswers(t, state)
	for slices.ContainsFunc(w.Log(), func(e webtest.Entry) bool { return e.Done.IsZero() }) {
		time.Sleep(time.Millisecond) // the server has not yet noticed that the client is gone
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range w.rests {
		switch {
		case r.fate != undecided:
		case last[r.host].After(r.from.Add(-50 * time.Millisecond)): // the previous answer is older
			w.rests[i].fate = heard
		default:
			w.rests[i].fate = lost
		}
	}
}

// heardOne reports whether a crawler was killed that had committed a host's request to wait.
func (w *politeWeb) heardOne() bool {
	return slices.ContainsFunc(w.rests, func(r rest) bool { return r.fate == heard })
}

// lastAnswers returns the time of each host's last committed answer.
func lastAnswers(t testing.TB, state string) map[string]time.Time {
	t.Helper()
	last := map[string]time.Time{}
	store, err := kv.Open(state, kv.Options{ReadOnly: true})
	if err != nil {
		return last // killed before the file existed
	}
	defer store.Close()
	err = store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			last[h.Name] = h.LastByte
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// add adds a host with a few pages and a promise.
func (w *politeWeb) add(name string, p promise) *webtest.Host {
	h := w.Host(name)
	h.Page("/", crawltest.Anchors("/1", "/2", "/3"))
	for _, path := range []string{"/1", "/2", "/3"} {
		h.Page(path, crawltest.Anchors("/", "/1", "/2", "/3"))
	}
	if p.visits == nil && !p.closed {
		p.visits = []string{"/", "/1", "/2", "/3"}
	}
	w.promised[name] = p
	return h
}

// down adds a host that cannot be reached.
func (w *politeWeb) down(name string, mode webtest.Down) {
	w.Host(name).Down(mode)
	w.Host("www." + name).Down(mode)
	w.promised[name] = promise{closed: true}
}

// throttle answers the first n requests for pages with the status. retryAfter returns the header
// and the wait that it asks for; without one, the Fibonacci sequence applies.
func (w *politeWeb) throttle(name string, n, status int, retryAfter func() (string, time.Duration), p promise) {
	w.add(name, p)
	for _, path := range []string{"/", "/1", "/2", "/3"} {
		w.Host(name).Handle(path, func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			defer w.mu.Unlock()
			now := time.Now()
			if w.count(name) < n {
				asked := rest{host: name, from: now}
				if retryAfter != nil {
					value, wait := retryAfter()
					rw.Header().Set("Retry-After", value)
					asked.until = now.Add(wait)
				}
				w.rests = append(w.rests, asked)
				rw.WriteHeader(status)
				return
			}
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, crawltest.Anchors("/1", "/2", "/3"))
		})
	}
}

func (w *politeWeb) count(host string) (n int) {
	for _, r := range w.rests {
		if r.host == host {
			n++
		}
	}
	return n
}

func after(s int) func() (string, time.Duration) {
	return func() (string, time.Duration) { return fmt.Sprint(s), time.Duration(s) * time.Second }
}

// date asks for a wait until a moment about two seconds ahead.
func date() (string, time.Duration) {
	at := time.Now().Add(3 * time.Second).Truncate(time.Second)
	return at.UTC().Format(http.TimeFormat), time.Until(at)
}

func newPoliteWeb(t testing.TB) *politeWeb {
	w := &politeWeb{
		Server: crawltest.Serve(t, webtest.WithUnknownRefused()), promised: map[string]promise{}, pulse: newPulse(t),
	}
	for i := range 14 {
		w.add(fmt.Sprintf("plain%d.test", i), promise{})
	}
	w.robots()
	w.resting()
	w.broken()
	w.odd()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(w.promised)) {
		if name != "www.only.test" && name != "shop.test" {
			all = append(all, "https://"+name+"/")
		}
	}
	all = append(all, "http://httponly.test/", "https://ads.black.test/", "https://only.test/")
	w.Host("hub.test").Page("/", crawltest.Anchors(all...))
	w.promised["hub.test"] = promise{visits: []string{"/"}}
	return w
}

func (w *politeWeb) robots() {
	for name, delay := range map[string]string{"delay1.test": "0.25", "delay2.test": "0.4", "delay3.test": "1",
		"delay4.test": ".35 # not more"} {
		gap := map[string]int{"delay1.test": 250, "delay2.test": 400, "delay3.test": 1000, "delay4.test": 350}[name]
		w.add(name, promise{gap: time.Duration(gap) * time.Millisecond}).Robots("User-agent: *\nCrawl-delay: " + delay +
			"\n")
	}
	w.add("quick.test", promise{}).Robots("User-agent: *\nCrawl-delay: 0.01\n")
	w.add("patient.test", promise{visits: []string{}, closed: true}).Robots("User-agent: *\nCrawl-delay: 3600\n")

	never := regexp.MustCompile(`^/(2|secret.*|.*/private/([^o].*)?|.*\.pdf)$|[?&]sid=`)
	star := w.add("stars.test", promise{never: never, visits: []string{"/", "/1", "/a/private/open", "/x.pdf.html",
		"/?q=1"}})
	star.Robots("User-agent: someone\nDisallow: /\n\nUser-agent: PoliteBot\nDisallow: /2$\nDisallow: /secret\n" +
		"Disallow: /*/private/\nAllow: /*/private/open$\nDisallow: /*.pdf$\nDisallow: /*sid=\n")
	star.Page("/", crawltest.Anchors("/1", "/2", "/2/", "/secret", "/secrets/1", "/a/private/x", "/a/b/private/y?z",
		"/a/private/open", "/x.pdf", "/x.pdf.html", "/?q=1", "/?sid=1", "/1?a=b&sid=2"))
	for _, path := range []string{"/a/private/open", "/x.pdf.html", "/?q=1"} {
		star.Page(path, crawltest.Anchors("/1"))
	}
	star.Page("/1", crawltest.Anchors("/", "/secret?x", "/%73ecret"))

	w.add("gone.test", promise{}).Status("/robots.txt", 404)
	w.add("forbidden.test", promise{}).Status("/robots.txt", 403)
	w.add("later.test", promise{never: regexp.MustCompile("^/2")}).Page("/robots.txt",
		"User-agent: *\nDisallow: /2\n").Type("text/plain").Times(1, 500, nil)
	w.promised["later.test"] = promise{never: regexp.MustCompile("^/2"), visits: []string{"/", "/1", "/3"}}
	w.add("broken.test", promise{closed: true}).Status("/robots.txt", 500)
	w.add("busy-robots.test", promise{}).Page("/robots.txt", "").Type("text/plain").Times(1, 429,
		http.Header{"Retry-After": {"1"}})
	w.add("down-robots.test", promise{}).Page("/robots.txt", "").Type("text/plain").Times(1, 503,
		http.Header{"Retry-After": {"1"}})
	w.add("moved.test", promise{never: regexp.MustCompile("^/2"),
		visits: []string{"/", "/1", "/3"}}).Redirect("/robots.txt", "https://rules.test/r.txt", 302)
	w.add("rules.test", promise{}).Page("/r.txt", "User-agent: *\nDisallow: /2\n").Type("text/plain")
	w.add("loop.test", promise{closed: true}).Redirect("/robots.txt", "/robots.txt", 302)
	w.add("toblack.test", promise{}).Redirect("/robots.txt", "https://r.black.test/robots.txt", 301)
	w.add("mute.test", promise{closed: true}).Page("/robots.txt", "").Fault(fault.Silence)
	w.add("reset-robots.test", promise{closed: true}).Page("/robots.txt", "").Fault(fault.Reset)
	w.add("page-robots.test", promise{}).Page("/robots.txt", "<html><body>Disallow: /</body></html>")
	w.add("big-robots.test", promise{never: regexp.MustCompile("^/2"), visits: []string{"/", "/1", "/3"}}).
		Robots("User-agent: *\nDisallow: /2\n" + strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 20_000))
}

func (w *politeWeb) resting() {
	none := promise{visits: []string{}}
	w.throttle("rest1.test", 1, 429, after(1), promise{})
	w.throttle("rest2.test", 1, 429, after(2), promise{})
	w.throttle("fibonacci.test", 3, 429, nil, promise{})
	w.throttle("dated.test", 1, 429, date, promise{})
	w.throttle("full.test", 2, 503, after(1), promise{})
	w.throttle("tired.test", 99, 429, after(1), none)
	w.throttle("asleep.test", 99, 429, after(7200), none)
}

func (w *politeWeb) broken() {
	for name, mode := range map[string]webtest.Down{
		"silent.test": webtest.DownSilent, "hanging.test": webtest.DownHanging, "closing.test": webtest.DownClosed,
		"resetting.test": webtest.DownReset,
		"notls.test":     webtest.DownRefused, "garbled.test": webtest.DownGarbled, "expired.test": webtest.DownExpired,
		"wrong.test": webtest.DownWrongName, "unknown.test": webtest.DownUnknownCA,
		"httponly.test": webtest.DownRefused,
	} {
		w.down(name, mode)
	}
	for name, fault := range map[string]fault.Fault{
		"quiet.test": fault.Silence, "hangup.test": fault.CloseAtOnce, "rst.test": fault.Reset,
		"half.test": fault.Truncated, "odd.test": fault.Garbage,
	} {
		h := w.add(name, promise{})
		h.Page("/2", "x").Fault(fault)
	}
}

// odd adds hosts with unusual habits.
func (w *politeWeb) odd() {
	w.Host("only.test").Down(webtest.DownRefused)
	only := w.add("www.only.test", promise{})
	only.Page("/", crawltest.Anchors("https://www.only.test/1", "https://only.test/2", "https://only.test/3"))
	w.add("slow.test", promise{}).Latency(250 * time.Millisecond)
	w.add("slower.test", promise{}).Latency(450 * time.Millisecond)

	shop := w.add("shop.test", promise{visits: []string{"/", "/1", "/2", "/3", "/orphan"},
		never: regexp.MustCompile("^/hidden")})
	shop.Robots("User-agent: *\nDisallow: /hidden\nSitemap: https://maps.test/shop.xml\n")
	shop.Page("/orphan", crawltest.Anchors("/"))
	maps := w.add("maps.test", promise{visits: []string{"/", "/1", "/2", "/3", "/shop.xml"}})
	maps.Page("/shop.xml", `<urlset><url><loc>https://shop.test/orphan</loc></url>`+
		`<url><loc>https://shop.test/hidden/1</loc></url></urlset>`).Type("application/xml")

	trap := w.add("head.test", promise{})
	for path, answer := range map[string]func(http.ResponseWriter){
		"/1": func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusMethodNotAllowed) },
		"/2": func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusInternalServerError) },
		"/3": func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusNotFound) },
	} {
		trap.Handle(path, func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				answer(rw)
				return
			}
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, crawltest.Anchors("/1", "/2", "/3"))
		})
	}
}

// hurried reports whether tries of a host's robots.txt may have timed out because the machine was
// late: a host with one more failure is given up.
func (w *politeWeb) hurried(log []webtest.Entry, host string) bool {
	for _, e := range log {
		if e.Host == host && w.pulse.lateness(e.Arrived, e.Arrived.Add(2*politeTimeout)) >= politeTimeout {
			return true
		}
	}
	return false
}

// check checks the log of a crawl against the rules of [webtest.CheckLog], and the promises to each
// host. tolerance is how much too early a server may see a request.
func (w *politeWeb) check(t testing.TB, log []webtest.Entry, tolerance time.Duration, restarted bool) {
	t.Helper()
	log = w.pulse.heard(log, politeTimeout)
	rules := []webtest.Rule{
		webtest.MinGap(100*time.Millisecond, tolerance), webtest.MaxOpen(1, tolerance), webtest.RobotsFirst("/r.txt"),
		w.kept(restarted),
	}
	times := map[string]int{} // requests to wait that were heard, by host
	for _, r := range w.rests {
		if r.fate == lost {
			continue
		}
		if r.until.IsZero() {
			r.until = r.from.Add([]time.Duration{1, 1, 2, 3, 5, 8}[times[r.host]] * time.Second)
		}
		times[r.host]++
		rules = append(rules, webtest.Suspended(r.host, r.from.Add(time.Millisecond), r.until.Add(-tolerance)))
	}
	for _, bad := range webtest.CheckLog(log, rules...) {
		t.Error(bad)
	}
	asked := map[string]bool{}
	for _, e := range log {
		if e.Method == http.MethodGet {
			asked[e.Host+e.Path] = true
		}
	}
	for host, p := range w.promised {
		for _, path := range p.visits {
			if !asked[host+path] && !w.hurried(log, host) {
				t.Errorf("%s%s was never asked", host, path)
			}
		}
	}
}

// kept checks a host against its own promise.
func (w *politeWeb) kept(restarted bool) webtest.Rule {
	return func(host string, log []webtest.Entry) (lines []string) {
		p := w.promised[host]
		if strings.HasSuffix(host, ".black.test") {
			return []string{"is blacklisted and was asked"}
		}
		known := false // its robots.txt was answered
		for i, e := range log {
			page := e.Method != "" && e.Path != "/robots.txt"
			if page && p.closed {
				lines = append(lines, "asked for "+e.Path+" without a robots.txt that allows it")
			}
			if page && p.never != nil && p.never.MatchString(e.Path) {
				lines = append(lines, "asked for "+e.Path+", which is disallowed")
			}
			// A kill can forget a Crawl-delay together with the robots.txt that named it.
			forgotten := restarted && !page
			if known && !forgotten && p.gap > 0 && e.Arrived.Sub(log[i-1].FirstByte) < p.gap-5*time.Millisecond {
				lines = append(lines, fmt.Sprintf("asked for %s only %v after the answer before, want %v", e.Path,
					e.Arrived.Sub(log[i-1].FirstByte), p.gap))
			}
			known = known || e.Status == http.StatusOK && !e.Aborted && !page
		}
		return lines
	}
}

// adapted checks that at least the smoothed response time of the host passed between the end of an
// answer and the next request. A busy server sees an end late.
func (w *politeWeb) adapted(_ string, log []webtest.Entry) (lines []string) {
	var mean time.Duration
	for i, e := range log {
		if i > 0 && mean > 0 {
			before := log[i-1]
			tolerance := 5*time.Millisecond + w.pulse.lateness(before.Arrived, e.Arrived)
			if rest := e.Arrived.Sub(before.Done); rest < min(mean, 30*time.Second)-tolerance {
				lines = append(lines, fmt.Sprintf("asked %v after an answer, of a host that needs %v", rest, mean))
			}
		}
		if e.FirstByte.IsZero() {
			continue
		}
		took := e.FirstByte.Sub(e.Arrived)
		next := (3*took + 7*mean) / 10
		if mean == 0 {
			mean = took
		} else if e.Status == http.StatusOK || next > mean {
			mean = next
		}
	}
	return lines
}

// TestPoliteWeb crawls hosts of every kind and checks what the servers saw.
func TestPoliteWeb(t *testing.T) {
	t.Parallel()
	w := newPoliteWeb(t)
	if n := len(w.promised); n < 60 {
		t.Fatalf("%d hosts", n)
	}
	if k := newKillableWeb(t, w.Server, politeWebConfig); !k.crawl(t, 0) {
		t.Error("the crawl did not come to its end")
	}
	log := w.Log()
	w.check(t, log, 5*time.Millisecond, false)
	for _, bad := range webtest.CheckLog(w.pulse.heard(log, politeTimeout), w.adapted) {
		t.Error(bad)
	}
	gap, _ := webtest.SmallestGap(w.pulse.heard(log, politeTimeout))
	t.Logf("%d hosts, %d requests, smallest gap %v", len(w.promised), len(log), gap)
	for host, n := range map[string]int{"tired.test": 4, "asleep.test": 1} {
		if w.count(host) != n {
			t.Errorf("%s answered 429 %d times, want %d", host, w.count(host), n)
		}
	}
}

// TestPoliteWebKilled crawls such webs with kills, each followed at once by another start, until
// there were enough kills.
func TestPoliteWebKilled(t *testing.T) {
	t.Parallel()
	kills := 3
	if crawltest.Full() {
		kills = 20
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	killed, heardOne := 0, false
	for webs := 0; killed < kills || !heardOne; webs++ {
		if webs == 10 {
			t.Fatalf("%d kills, a host that asked for rest was heard over one: %t", killed, heardOne)
		}
		w := newPoliteWeb(t)
		k := newKillableWeb(t, w.Server, politeWebConfig)
		for (killed < kills || !w.heardOne()) && k.killAfter(t, 10+r.IntN(80)) {
			w.hear(t, k.state)
			killed++
		}
		for !k.crawl(t, 0) {
			w.hear(t, k.state)
		}
		heardOne = heardOne || w.heardOne()
		log := k.log()
		w.check(t, log, 5*time.Millisecond, true)
		gap, _ := webtest.SmallestGap(w.pulse.heard(log, politeTimeout))
		t.Logf("seed %d: %d kills, %d requests, smallest gap %v", seed, killed, len(log), gap)
	}
}
