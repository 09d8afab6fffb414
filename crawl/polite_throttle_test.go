package crawl

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
)

// politeConfig crawls a.test; keys maps a section to lines of it.
func politeConfig(keys map[string]string) string {
	var b strings.Builder
	for _, name := range []string{"crawler", "retry", "content", "network", "traps", "recrawl", "url", "politeness"} {
		fmt.Fprintf(&b, "[%s]\n%s\n", name, keys[name])
	}
	b.WriteString("[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n" + keys["more"])
	return crawltest.Paper(b.String())
}

// throttling answers every page but the front page with 429s first.
func throttling(n, times int, header http.Header) func(question) reply {
	honest, left := site("", n), times
	return func(q question) reply {
		if q.path != "/" && q.path != "/robots.txt" && left > 0 {
			left--
			return reply{status: http.StatusTooManyRequests, header: header}
		}
		return honest(q)
	}
}

func seconds(all []float64) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = strconv.FormatFloat(math.Round(s*1000)/1000, 'f', -1, 64)
	}
	return strings.Join(words, " ")
}

// A throttledRow is a host that asks Ripple to wait, and when it is requested.
type throttledRow struct {
	name    string
	keys    map[string]string
	serve   func() func(question) reply
	want    string // seconds at which requests arrive: robots.txt, /, then pages
	gaveUp  schema.GiveUp
	atCount int
}

// unnamedRests are hosts that do not say for how long.
func unnamedRests() []throttledRow {
	return []throttledRow{
		{
			name:  "grows as Fibonacci says",
			keys:  map[string]string{"politeness": "max-rate-limits = 9"},
			serve: func() func(question) reply { return throttling(2, 6, nil) },
			want:  "0 1 2 3 4 6 9 14 22 23",
		},
		{
			name:  "times a base delay above a second",
			keys:  map[string]string{"crawler": "minimum-time-on-page = 3000"},
			serve: func() func(question) reply { return throttling(1, 3, nil) },
			want:  "0 3 6 9 12 18",
		},
		{
			name:  "at least that many seconds",
			keys:  map[string]string{"crawler": "minimum-time-on-page = 100"},
			serve: func() func(question) reply { return throttling(1, 4, nil) },
			want:  "0 0.1 0.2 1.2 2.2 4.2 7.2",
		},
		{
			name:  "at most max-delay",
			keys:  map[string]string{"retry": "max-delay = \"5s\"", "politeness": "max-rate-limits = 10"},
			serve: func() func(question) reply { return throttling(1, 7, nil) },
			want:  "0 1 2 3 4 6 9 14 19 24",
		},
		{
			name: "an answer in between restarts the count",
			keys: map[string]string{"politeness": "max-rate-limits = 2"},
			serve: func() func(question) reply {
				honest := site("", 3)
				return func(q question) reply {
					if q.path != "/" && q.path != "/robots.txt" && q.n == 0 {
						return reply{status: http.StatusTooManyRequests}
					}
					return honest(q)
				}
			},
			want: "0 1 2 3 4 5 6 7",
		},
		{
			name: "no answer is none: the next probe stays alone and the count stands",
			keys: map[string]string{"politeness": "max-rate-limits = 3", "retry": "delay = \"1s\""},
			serve: func() func(question) reply {
				honest := site("", 1)
				return func(q question) reply {
					switch {
					case q.path != "/1":
						return honest(q)
					case q.n == 1:
						return reply{cause: fetch.Reset}
					}
					return reply{status: http.StatusTooManyRequests}
				}
			},
			want: "0 1 2 3 4 5", gaveUp: schema.GaveUpRateLimit, atCount: 5,
		},
	}
}

// restsWithinVisits are hosts that ask Ripple to wait in the middle of a visit: earlier answers
// within the visit do not count for the page.
func restsWithinVisits() []throttledRow {
	return []throttledRow{
		{
			name: "HEAD is answered, and GET is not",
			keys: map[string]string{"crawler": "head-check = \"always\""},
			serve: func() func(question) reply {
				honest := site("", 1)
				return func(q question) reply {
					if q.path == "/1" && q.method == http.MethodGet {
						return reply{status: http.StatusTooManyRequests}
					}
					return honest(q)
				}
			},
			want: "0 1 2 3 4 5 6 7 8 10 11 14 15", gaveUp: schema.GaveUpRateLimit, atCount: 12,
		},
		{
			name: "one form redirects to another, which is not",
			serve: func() func(question) reply {
				return pages(map[string]reply{
					"/": links("/1"), "/1": redirect("/1/"), "/1/": {status: http.StatusTooManyRequests},
				})
			},
			want: "0 1 2 3 4 5 6 7 9 10 13 14", gaveUp: schema.GaveUpRateLimit, atCount: 11,
		},
		{
			name: "HEAD is answered, and GET is in the end",
			keys: map[string]string{"crawler": "head-check = \"always\"", "politeness": "max-rate-limits = 2"},
			serve: func() func(question) reply {
				honest := site("", 2)
				return func(q question) reply {
					if q.path != "/" && q.method == http.MethodGet && q.n == 1 {
						return reply{status: http.StatusTooManyRequests}
					}
					return honest(q)
				}
			},
			want: "0 1 2 3 4 5 6 7 8 9 10",
		},
		{
			name: "a form is not found, and the other one is silent",
			keys: map[string]string{"politeness": "max-rate-limits = 2"},
			serve: func() func(question) reply {
				honest := pages(map[string]reply{"/": links("/1", "/1/", "/2", "/2/", "/3", "/3/")})
				return func(q question) reply {
					switch {
					case q.path == "/" || q.path == "/robots.txt":
						return honest(q)
					case strings.HasSuffix(q.path, "/"):
						return reply{cause: fetch.TLS}
					case q.n == 0:
						return reply{status: http.StatusTooManyRequests}
					}
					return reply{status: http.StatusNotFound}
				}
			},
			want: "0 1 2 3 4 5 6 7 8 9 10",
		},
		{
			name: "HEAD is answered by what ends the visit",
			keys: map[string]string{"crawler": "head-check = \"always\"", "politeness": "max-rate-limits = 2"},
			serve: func() func(question) reply {
				honest := site("", 2)
				return func(q question) reply {
					switch {
					case q.path == "/" || q.path == "/robots.txt":
						return honest(q)
					case q.n == 0:
						return reply{status: http.StatusTooManyRequests}
					}
					return reply{status: http.StatusOK, header: http.Header{"Content-Type": {"video/mp4"}}}
				}
			},
			want: "0 1 2 3 4 5 6 7", // GET confirms the first
		},
	}
}

// namedRests are hosts that say for how long.
func namedRests() []throttledRow {
	date := func(at time.Duration) http.Header {
		return http.Header{"Retry-After": {time.Now().Add(at).UTC().Format(http.TimeFormat)}}
	}
	return []throttledRow{
		{
			name:  "Retry-After in seconds",
			serve: func() func(question) reply { return throttling(1, 1, http.Header{"Retry-After": {"70"}}) },
			want:  "0 1 2 72",
		},
		{
			name:  "Retry-After as a date",
			serve: func() func(question) reply { return throttling(1, 1, date(90*time.Second)) },
			want:  "0 1 2 90",
		},
		{
			name: "Retry-After as a date, in an answer that takes its time",
			serve: func() func(question) reply {
				at := date(90 * time.Second)
				honest := site("", 1)
				return func(q question) reply {
					if q.path == "/1" && q.n == 0 {
						return reply{status: http.StatusTooManyRequests, header: at, wait: 2 * time.Second,
							last: 5 * time.Second}
					}
					return honest(q)
				}
			},
			want: "0 1 2 90",
		},
		{
			name:  "Retry-After in the past",
			serve: func() func(question) reply { return throttling(1, 1, date(-time.Hour)) },
			want:  "0 1 2 3",
		},
		{
			name:  "Retry-After of nonsense",
			serve: func() func(question) reply { return throttling(1, 2, http.Header{"Retry-After": {"soon"}}) },
			want:  "0 1 2 3 4",
		},
		{
			name: "503 with Retry-After rests and costs no try",
			keys: map[string]string{"retry": "max-retries = 0"},
			serve: func() func(question) reply {
				return pages(map[string]reply{"/": {status: 503, header: http.Header{"Retry-After": {"7"}}}})
			},
			want: "0 1 8 15 22 29", gaveUp: schema.GaveUpRateLimit, atCount: 5,
		},
		{
			name: "a wait as long as max-suspension",
			serve: func() func(question) reply {
				return throttling(1, 1, http.Header{"Retry-After": {"3600"}})
			},
			want: "0 1 2 3602",
		},
	}
}

// endlessRests are hosts that are given up.
func endlessRests() []throttledRow {
	return []throttledRow{
		{
			name: "a wait longer than max-suspension gives up",
			serve: func() func(question) reply {
				return throttling(5, 1, http.Header{"Retry-After": {"3601"}})
			},
			want: "0 1 2", gaveUp: schema.GaveUpRateLimit, atCount: 2,
		},
		{
			name: "a Retry-After longer than time", serve: func() func(question) reply {
				return throttling(1, 1, http.Header{"Retry-After": {"99999999999999999999"}})
			},
			want: "0 1 2", gaveUp: schema.GaveUpRateLimit, atCount: 2,
		},
		{
			name:  "max-rate-limits = 1 gives up at once",
			keys:  map[string]string{"politeness": "max-rate-limits = 1"},
			serve: func() func(question) reply { return throttling(3, 1, nil) },
			want:  "0 1 2", gaveUp: schema.GaveUpRateLimit, atCount: 2,
		},
	}
}

// TestThrottled leaves hosts alone that ask for it, request by request.
func TestThrottled(t *testing.T) {
	for _, tt := range slices.Concat(unnamedRests(), restsWithinVisits(), namedRests(), endlessRests()) {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = tt.serve()
				s.crawl(politeConfig(tt.keys), 0)
				if got := seconds(s.arrivals("a.test")); got != tt.want {
					t.Errorf("asked at %s, want %s\n%v", got, tt.want, s.requests("a.test"))
				}
				if h := s.hostRecord("a.test"); h.RunGivenUp != tt.gaveUp || h.RunGivenUpAt != tt.atCount {
					t.Errorf("given up %v at request %d (%s), want %v at %d", h.RunGivenUp, h.RunGivenUpAt,
						h.RunGivenUpWhy, tt.gaveUp, tt.atCount)
				}
			})
		})
	}
}
