package crawl

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// TestAdaptiveDelay serves slow answers and measures when the next request arrives: delay-factor
// times the smoothed response time after the end of an answer, and never sooner than the base delay
// after its beginning.
func TestAdaptiveDelay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keys  string
		waits []int // seconds before the answer to /, /1, /2 ...; robots.txt takes one
		codes []int // 0: 200
		last  time.Duration
		want  string // gaps from the end of an answer to the next request, in seconds
	}{
		{"smoothed with weight 0.3", "", []int{10, 10, 10, 10}, nil, 0, "1 3.7 5.59 6.913"},
		{"lowered by 200s", "", []int{30, 0, 0, 0}, nil, 0, "1 9.7 6.79 4.753"},
		{"not by errors", "", []int{30, 0, 0, 0}, []int{0, 404, 403, 410}, 0, "1 9.7 9.7 9.7"},
		{"raised by errors too", "", []int{10, 20, 0}, []int{0, 404, 0}, 0, "1 3.7 8.59"},
		{"at most max-adaptive-delay", "max-adaptive-delay = \"4s\"", []int{10, 10, 10, 10}, nil, 0, "1 3.7 4 4"},
		{"times delay-factor", "delay-factor = 2.0", []int{10, 10, 10}, nil, 0, "2 7.4 11.18"},
		{"the base delay is the least", "", []int{1, 1, 1}, nil, 0, "1 1 1"},
		{"counted from the end of the answer", "", []int{10, 10, 10}, nil, 5 * time.Second, "1 3.7 5.59"},
		{"off", "adaptive-delay = false", []int{10, 10, 10}, nil, 0, "1 1 1"},
		{"off, counted from the first byte", "adaptive-delay = false", []int{10, 10, 10}, nil, 700 * time.Millisecond,
			"1 0.3 0.3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				count := 0
				s.host["a.test"] = func(q question) reply {
					r := site("", len(tt.waits)-1)(q)
					r.wait = time.Second
					if q.path != "/robots.txt" {
						r.wait, r.last = time.Duration(tt.waits[count])*time.Second, tt.last
						if tt.codes != nil && tt.codes[count] != 0 {
							r.status = tt.codes[count]
						}
						count++
					}
					return r
				}
				s.crawl(politeConfig(map[string]string{"politeness": tt.keys}), 0)
				var gaps []float64
				for i := 1; i < len(s.log); i++ {
					gaps = append(gaps, s.log[i].Arrived.Sub(s.log[i-1].Done).Seconds())
				}
				if got := seconds(gaps); got != tt.want {
					t.Errorf("gaps %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestRetries retries a page according to [retry].
func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		name, keys string
		reply      reply
		want       string // seconds from one try to the next
	}{
		{"constant", "delay = \"7s\"", reply{status: 500}, "7 7 7"},
		{"fibonacci", "delay = \"7s\"\nbackoff = \"fibonacci\"\nmax-retries = 5", reply{status: 502}, "7 7 14 21 35"},
		{"at most max-delay", "delay = \"7s\"\nbackoff = \"fibonacci\"\nmax-retries = 5\nmax-delay = \"20s\"",
			reply{status: 500}, "7 7 14 20 20"},
		{"none", "max-retries = 0", reply{status: 500}, ""},
		{"503 without Retry-After", "delay = \"7s\"\nmax-retries = 1", reply{status: 503}, "7"},
		{"reset", "delay = \"7s\"", reply{cause: fetch.Reset}, "7 7 7"},
		{"truncated", "delay = \"7s\"", reply{cause: fetch.Truncated}, "7 7 7"},
		{"time-outs double the host's delay", "delay = \"1s\"\nmax-retries = 4", reply{cause: fetch.Timeout},
			"2 4 8 16"},
		{"a refused connection is none", "delay = \"7s\"", reply{cause: fetch.Refused}, ""},
		{"an answer that is too large is none", "delay = \"7s\"", reply{cause: fetch.TooLarge}, ""},
		{"404 is none", "delay = \"7s\"", reply{status: 404}, ""},
		{"403 is none", "delay = \"7s\"", reply{status: 403}, ""},
		{"501 is one", "delay = \"7s\"\nmax-retries = 1", reply{status: 501}, "7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					if q.path == "/1" {
						return tt.reply
					}
					return site("", 1)(q)
				}
				s.crawl(politeConfig(map[string]string{"retry": tt.keys}), 0)
				var tries []time.Time
				for _, e := range s.log {
					if e.Path == "/1" {
						tries = append(tries, e.Arrived)
					}
				}
				var gaps []float64
				for i := 1; i < len(tries); i++ {
					gaps = append(gaps, tries[i].Sub(tries[i-1]).Seconds())
				}
				if got := rounded(gaps); got != tt.want {
					t.Errorf("tries after %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// rounded removes the tenth of a second that a commit may wait for others.
func rounded(gaps []float64) string {
	words := make([]string, len(gaps))
	for i, g := range gaps {
		words[i] = fmt.Sprint(int(g))
	}
	return strings.Join(words, " ")
}

// TestExponential doubles the delay, minus a random part of up to half.
func TestExponential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if strings.HasPrefix(q.path, "/b") {
				return reply{status: 500}
			}
			if q.path == "/" {
				return links("/b1", "/b2", "/b3", "/b4", "/b5", "/b6")
			}
			return reply{status: 404}
		}
		s.crawl(politeConfig(map[string]string{"retry": "delay = \"100s\"\nbackoff = \"exponential\"\nmax-retries = 4\n" +
			"max-delay = \"500s\""}), 0)
		tries, jitter := map[string][]time.Time{}, map[int]bool{}
		for _, e := range s.log {
			tries[e.Path] = append(tries[e.Path], e.Arrived)
		}
		for path, at := range tries {
			if !strings.HasPrefix(path, "/b") {
				continue
			}
			if len(at) != 5 {
				t.Fatalf("%s: %d tries, want 5", path, len(at))
			}
			for i, most := range []float64{100, 200, 400, 500} {
				gap := at[i+1].Sub(at[i]).Seconds()
				jitter[int(gap)] = true
				if least := []float64{50, 100, 200, 400}[i]; gap < least || gap > most+10 {
					t.Errorf("%s: try %d after %.1f s, want %v to %v", path, i+1, gap, least, most)
				}
			}
		}
		if len(jitter) < 10 {
			t.Errorf("no jitter: %v", jitter)
		}
	})
}

// TestTimeoutStep gives every try more time than the one before.
func TestTimeoutStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var given []time.Duration
		s.host["a.test"] = func(q question) reply {
			if q.path == "/1" {
				given = append(given, q.step.Timeout)
				return reply{status: 500}
			}
			return site("", 1)(q)
		}
		s.crawl(politeConfig(map[string]string{"retry": "timeout = \"20s\"\ntimeout-step = \"15s\""}), 0)
		if got := fmt.Sprint(given); got != "[20s 35s 50s 1m5s]" {
			t.Errorf("time given: %s", got)
		}
	})
}

// TestPerAddress has many hosts at one address: requests to it keep their distance.
func TestPerAddress(t *testing.T) {
	for _, gap := range []time.Duration{0, 400 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.address = "192.0.2.7"
			var to []string
			for i := range 9 {
				to = append(to, fmt.Sprintf("https://h%d.test/", i))
			}
			s.host["a.test"] = func(q question) reply {
				if q.path == "/" {
					return links(to...)
				}
				return reply{status: 404}
			}
			s.other = site("", 2)
			cfg := strings.Replace(politeConfig(nil), "minimum-time-per-address = \"0s\"",
				fmt.Sprintf("minimum-time-per-address = %q", gap), 1)
			s.crawl(cfg, 0)
			smallest := time.Hour
			for i := 1; i < len(s.log); i++ {
				smallest = min(smallest, s.log[i].Arrived.Sub(s.log[i-1].Arrived))
			}
			if smallest < gap || gap == 0 && smallest > 0 {
				t.Errorf("minimum-time-per-address = %v: requests %v apart", gap, smallest)
			}
			for _, bad := range webtest.CheckLog(s.log, webtest.MinGap(time.Second, 0)) {
				t.Error(bad)
			}
		})
	}
}
