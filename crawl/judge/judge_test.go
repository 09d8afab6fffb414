package judge_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func settings(t *testing.T) *ring.Settings {
	t.Helper()
	text := `[user-agent]
crawler-name = "T"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[[blacklist]]
domain = "shut.test"
`
	cfg := crawltest.Parse(t, text)
	return &ring.Settings{Config: cfg, Scope: cfg.Scope(), Rules: cfg.Rules()}
}

// page is a visit of https://a.test/x that has another form left.
func page(s *ring.Settings, kind ring.Kind) ring.Step {
	return ring.Step{
		Kind: kind, ID: 1, URL: "https://a.test/x", Norm: "https://a.test/x", Settings: s,
		Visit: ring.Progress{Forms: []string{"https://a.test/x/"},
			Known: []string{"https://a.test/x", "https://a.test/x/"}, Heads: schema.HeadPageType},
	}
}

func target(norm, form string) *ring.Target {
	return &ring.Target{URL: weburl.URL{Norm: norm, Form: form}}
}

func TestPage(t *testing.T) {
	s := settings(t)
	other := target("https://a.test/x", "https://a.test/x/")
	tests := []struct {
		name      string
		kind      ring.Kind
		o         ring.Outcome
		triesLeft bool
		givenUp   bool
		act       judge.Act
		state     schema.State
	}{
		{
			"a page", ring.Get, ring.Outcome{Status: 200, ContentType: "text/html"}, true, false, judge.Settle,
			schema.Processed,
		},
		{
			"a type not wanted", ring.Get,
			ring.Outcome{Status: 200, ContentType: "video/mp4"}, true, false, judge.Settle, schema.ContentMismatch,
		},
		{"HEAD of a page", ring.Head, ring.Outcome{Status: 200, ContentType: "text/html"}, true, false, judge.Follow,
			0},
		{
			"HEAD of a type not wanted", ring.Head,
			ring.Outcome{Status: 200, ContentType: "video/mp4"}, true, false, judge.Settle, schema.ContentMismatch,
		},
		{"HEAD of what is no type, which GET decides", ring.Head,
			ring.Outcome{Status: 200, ContentType: "text/html charset=utf-8"}, true, false, judge.Follow, 0},
		{"HEAD not found, which GET decides", ring.Head, ring.Outcome{Status: 404}, true, false, judge.Follow, 0},
		{"a 304 nobody asked for", ring.Get, ring.Outcome{Status: 304}, true, false, judge.Settle, schema.Failed},
		{
			"elsewhere", ring.Get,
			ring.Outcome{Status: 301, Location: target("https://b.test/", "https://b.test/")}, true, false,
			judge.Settle, schema.Processed,
		},
		{"another form of it", ring.Get, ring.Outcome{Status: 301, Location: other}, true, false, judge.Follow, 0},
		{"nowhere", ring.Get, ring.Outcome{Status: 302}, true, false, judge.Settle, schema.Failed},
		{"not found, but in another form", ring.Get, ring.Outcome{Status: 404}, true, false, judge.Follow, 0},
		{"forbidden", ring.Get, ring.Outcome{Status: 403}, true, false, judge.Settle, schema.Failed},
		{"503", ring.Get, ring.Outcome{Status: 503, RetryAfter: -1}, true, false, judge.Retry, schema.Failed},
		{
			"503 for the last time", ring.Get,
			ring.Outcome{Status: 503, RetryAfter: -1}, false, false, judge.Settle, schema.Failed,
		},
		{
			"503 with Retry-After", ring.Get,
			ring.Outcome{Status: 503, RetryAfter: 9}, true, false, judge.Rest, schema.RateLimited,
		},
		{"429", ring.Get, ring.Outcome{Status: 429}, true, false, judge.Rest, schema.RateLimited},
		{"429, which costs no try", ring.Get, ring.Outcome{Status: 429}, false, false, judge.Rest, schema.RateLimited},
		{"not found but in another form, which is no other try", ring.Get, ring.Outcome{Status: 404}, false, false,
			judge.Follow, 0},
		{"503 of a host that has asked for rest too often", ring.Get, ring.Outcome{Status: 503, RetryAfter: -1}, true, true,
			judge.Retry, schema.Failed},
		{"429 once too often", ring.Get, ring.Outcome{Status: 429}, true, true, judge.Settle, schema.RateLimited},
		{"silence", ring.Get, ring.Outcome{Cause: fetch.Timeout}, true, false, judge.Retry, schema.Failed},
		{
			"silence for the last time", ring.Get, ring.Outcome{Cause: fetch.Timeout}, false, false, judge.Settle,
			schema.Failed,
		},
		{
			"refused, but perhaps not in another form", ring.Get,
			ring.Outcome{Cause: fetch.Refused}, true, false, judge.Follow, 0,
		},
		{"too large", ring.Get, ring.Outcome{Cause: fetch.TooLarge}, true, false, judge.Settle, schema.Failed},
		{"a connection that had died", ring.Get, ring.Outcome{Cause: fetch.Reset, Stale: true}, true, false,
			judge.Follow, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Step = page(s, tt.kind)
			v := judge.Page(&tt.o, nil, tt.triesLeft, tt.givenUp)
			if v.Act != tt.act || v.Act != judge.Follow && v.State != tt.state {
				t.Errorf("act %d in %s, want %d in %s", v.Act, v.State, tt.act, tt.state)
			}
			if (v.Next != nil) != (v.Act == judge.Follow) {
				t.Errorf("next is %+v", v.Next)
			}
		})
	}
}

// TestStatuses covers the first and the last status of each class, and those outside.
func TestStatuses(t *testing.T) {
	s := settings(t)
	asked := ring.Step{Kind: ring.Robots, Host: 1, For: 1, URL: "https://a.test/robots.txt", Settings: s}
	for _, tt := range []struct {
		first, last int
		page        string
		head        string // the verdict if it has an unwanted type
		robots      string
	}{
		{99, 199, "failed", "go on", "try later"},
		{200, 200, "processed", "content_mismatch", "keep x"},
		{201, 202, "processed", "content_mismatch", "try later"},
		{203, 203, "processed", "content_mismatch", "keep x"},
		{204, 204, "processed", "content_mismatch", "keep"},
		{205, 299, "processed", "content_mismatch", "try later"},
		{300, 399, "nowhere", "go on", "keep"},
		{400, 499, "failed", "go on", "keep"},
		{500, 599, "retry", "go on", "try later"},
		{600, 999, "failed", "go on", "try later"},
	} {
		for _, status := range []int{tt.first, tt.last} {
			o := ring.Outcome{Step: page(s, ring.Get), Status: status, ContentType: "text/html", RetryAfter: -1}
			head := ring.Outcome{Step: page(s, ring.Head), Status: status, ContentType: "video/mp4", RetryAfter: -1}
			file := ring.Outcome{Step: asked, Status: status, Robots: []byte(" x"), RetryAfter: -1}
			v := judge.Robots(&file, "a.test", false)
			paged := judge.Page(&o, nil, true, false)
			got := paged.String()
			if paged.Reason.Cause == schema.CauseBadLocation {
				got = "nowhere"
			}
			if got != tt.page {
				t.Errorf("%d of a page: %s, want %s", status, got, tt.page)
			}
			if got := judge.Page(&head, nil, true, false).String(); got != tt.head {
				t.Errorf("%d to HEAD: %s, want %s", status, got, tt.head)
			}
			if got := v.Act.String() + string(v.Text); got != tt.robots {
				t.Errorf("%d of robots.txt: %s, want %s", status, got, tt.robots)
			}
		}
	}
}

// TestConditional makes a conditional request for a page.
func TestConditional(t *testing.T) {
	for status, want := range map[int]string{304: "processed", 302: "failed", 403: "failed", 500: "retry"} {
		o := ring.Outcome{Step: page(settings(t), ring.Get), Status: status, RetryAfter: -1}
		o.Step.Visit.Revisit = 7
		if got := judge.Page(&o, nil, true, false).String(); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}

// TestSitemap accepts a sitemap of any type that can be parsed as one.
func TestSitemap(t *testing.T) {
	for detail, want := range map[string]string{"": "processed", "not a sitemap": "failed"} {
		o := ring.Outcome{Step: page(settings(t), ring.Get), Status: 200, ContentType: "video/mp4", Detail: detail}
		o.Step.URLKind = schema.KindSitemap
		if got := judge.Page(&o, nil, true, false).String(); got != want {
			t.Errorf("%q: %s, want %s", detail, got, want)
		}
	}
}

// TestDeadTwice repeats a request that met a dead connection once, but not twice.
func TestDeadTwice(t *testing.T) {
	o := ring.Outcome{Step: page(settings(t), ring.Get), Cause: fetch.Reset, Stale: true}
	v := judge.Page(&o, nil, true, false)
	if v.Next == nil || v.Next.URL != o.Step.URL || v.Next.Kind != ring.Get {
		t.Fatalf("next is %+v", v.Next)
	}
	o.Step = *v.Next
	if v := judge.Page(&o, nil, true, false); v.Act != judge.Retry {
		t.Errorf("the second time: %s", v)
	}
}

// TestGuessedForm has a guessed form that is not found and a known form that is unreachable: nothing shows
// that the page is gone.
func TestGuessedForm(t *testing.T) {
	o := ring.Outcome{Step: page(settings(t), ring.Get), Status: 404}
	o.Step.Visit.Known = o.Step.Visit.Forms
	last := ring.Outcome{Step: *judge.Page(&o, nil, true, false).Next, Cause: fetch.Refused}
	if v := judge.Page(&last, nil, true, false); v.State != schema.Unreachable {
		t.Errorf("%s", v)
	}
}

// The last form decides; but a form that a server reports as gone takes precedence over unreachable ones.
func TestLastForm(t *testing.T) {
	o := ring.Outcome{Step: page(settings(t), ring.Get), Status: 410}
	v := judge.Page(&o, nil, true, false)
	if v.Next == nil || v.Next.URL != "https://a.test/x/" {
		t.Fatalf("next is %+v", v.Next)
	}
	last := ring.Outcome{Step: *v.Next, Cause: fetch.Refused}
	if v := judge.Page(&last, nil, true, false); v.Act != judge.Settle || v.State != schema.DeadLink {
		t.Errorf("act %d in %s, want settled as a dead link", v.Act, v.State)
	}
}

// A form that redirects to one at which nothing was found has not found the page either; this is not a loop.
func TestBackToLostForm(t *testing.T) {
	s := settings(t)
	for _, tt := range []struct {
		first ring.Outcome
		act   judge.Act
		want  string
	}{
		{ring.Outcome{Status: 404}, judge.Settle, "dead_link: 404 Not Found"},
		{ring.Outcome{Status: 410}, judge.Settle, "dead_link: 410 Gone"},
		{ring.Outcome{Cause: fetch.Refused}, judge.Settle, "unreachable: connection refused"},
		{ring.Outcome{Cause: fetch.ConnectTimeout}, judge.Retry, "unreachable: connect timeout"},
	} {
		tt.first.Step = page(s, ring.Get)
		second := ring.Outcome{Step: *judge.Page(&tt.first, nil, true, false).Next, Status: 301,
			Location: target("https://a.test/x", "https://a.test/x")}
		second.Step.Kind = ring.Get
		v := judge.Page(&second, nil, true, false)
		if got := v.State.String() + ": " + v.Reason.String(); v.Act != tt.act || got != tt.want {
			t.Errorf("%s, and then a redirect there: act %d, %s", tt.want, v.Act, got)
		}
		second.Location.Form = second.Step.URL
		if v := judge.Page(&second, nil, true, false); v.Reason.Cause != schema.CauseRedirectLoop {
			t.Errorf("%s, and then a redirect to itself: %+v", tt.want, v)
		}
	}
}

// Forms that redirect to each other end as a loop, as does the eleventh redirect.
func TestRedirectLoop(t *testing.T) {
	s := settings(t)
	o := ring.Outcome{Step: page(s, ring.Get), Status: 301, Location: target("https://a.test/x", "https://a.test/x/")}
	v := judge.Page(&o, nil, true, false)
	back := ring.Outcome{Step: *v.Next, Status: 301, Location: target("https://a.test/x", "https://a.test/x")}
	back.Step.Kind = ring.Get
	if v := judge.Page(&back, nil, true, false); v.Act != judge.Settle || v.Reason.Cause != schema.CauseRedirectLoop {
		t.Errorf("back where it began: %+v", v)
	}
	o.Step.Visit.Hops = schema.MaxRedirects
	if v := judge.Page(&o, nil, true, false); v.Act != judge.Settle || v.Reason.Cause != schema.CauseRedirectLoop {
		t.Errorf("one redirect too many: %+v", v)
	}
}

// A step that robots.txt forbids ends its visit.
func TestDenied(t *testing.T) {
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /x/\n"), "T")
	o := ring.Outcome{Step: page(settings(t), ring.Get), Status: 404}
	v := judge.Page(&o, rules, true, false)
	if v.Act != judge.Settle || v.Reason.Cause != schema.CauseDenied || v.Rule != "robots.txt line 2: Disallow: /x/" {
		t.Errorf("%+v", v)
	}
	o.Step.Visit.Forms = []string{"https://a.test/x/", "https://www.a.test/x/", "https://www.a.test/x"}
	if v := judge.Page(&o, rules, true, false); v.Act != judge.Follow || v.Next.URL != "https://www.a.test/x" {
		t.Errorf("forbidden forms are not passed over: %+v", v)
	}
}

func TestRobots(t *testing.T) {
	s := settings(t)
	asked := ring.Step{Kind: ring.Robots, Host: 1, For: 1, URL: "https://a.test/robots.txt", Settings: s}
	away := asked
	away.Host = 2
	www := asked
	www.Visit.Asked = []string{"https://www.a.test/robots.txt"}
	www.Address = "192.0.2.1"
	far := asked
	far.Visit.Hops = 5 // the most that are followed
	near := asked
	near.Visit.Hops = 4
	to := target("https://b.test/robots.txt", "https://b.test/robots.txt")
	tests := []struct {
		name string
		step ring.Step
		o    ring.Outcome
		act  judge.RobotsAct
		next string
	}{
		{"a connection that took too long", asked, ring.Outcome{Cause: fetch.ConnectTimeout}, judge.TryLater, ""},
		{"TLS that hangs at both names", www, ring.Outcome{Cause: fetch.TLSTimeout, Next: "192.0.2.1"}, judge.GiveUp, ""},
		{"TLS that hangs at one address", www, ring.Outcome{Cause: fetch.TLSTimeout, Next: "192.0.2.2"}, judge.TryLater, ""},
		{"a file", asked, ring.Outcome{Status: 200, Robots: []byte("x")}, judge.Keep, ""},
		{"none", asked, ring.Outcome{Status: 404}, judge.Keep, ""},
		{"forbidden, which is none", asked, ring.Outcome{Status: 403}, judge.Keep, ""},
		{"a server in trouble", asked, ring.Outcome{Status: 500}, judge.TryLater, ""},
		{"asked to wait", asked, ring.Outcome{Status: 429}, judge.TryLater, ""},
		{"cut short", asked, ring.Outcome{Cause: fetch.Cancelled}, judge.Forget, ""},
		{"silence", asked, ring.Outcome{Cause: fetch.Timeout}, judge.TryLater, ""},
		{
			"refused, perhaps not at www.", asked, ring.Outcome{Cause: fetch.Refused}, judge.Ask,
			"https://www.a.test/robots.txt",
		},
		{"refused at www. too", www, ring.Outcome{Cause: fetch.Refused}, judge.GiveUp, ""},
		{"refused elsewhere", away, ring.Outcome{Cause: fetch.Refused}, judge.TryLater, ""},
		{"a dead connection", asked, ring.Outcome{Cause: fetch.Reset, Stale: true}, judge.Ask,
			"https://a.test/robots.txt"},
		{"redirected", asked, ring.Outcome{Status: 301, Location: to}, judge.AskAt, "https://b.test/robots.txt"},
		{"redirected as often as is followed", near, ring.Outcome{Status: 301, Location: to}, judge.AskAt,
			"https://b.test/robots.txt"},
		{"redirected too far", far, ring.Outcome{Status: 301, Location: to}, judge.Keep, ""},
		{
			"redirected to who is not visited", asked,
			ring.Outcome{Status: 301, Location: target("https://shut.test/", "https://shut.test/")}, judge.Keep, "",
		},
		{
			"redirected to itself", asked,
			ring.Outcome{Status: 301, Location: target(asked.URL, asked.URL)}, judge.TryLater, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Step = tt.step
			v := judge.Robots(&tt.o, "a.test", false)
			if v.Act != tt.act {
				t.Errorf("act %d, want %d (%v)", v.Act, tt.act, v.Reason)
			}
			if v.Next != nil && v.Next.URL != tt.next || v.Next == nil && tt.next != "" {
				t.Errorf("next is %+v, want %q", v.Next, tt.next)
			}
		})
	}
}

// TestRobotsLast checks that a silent host is tried with www. before it is given up.
func TestRobotsLast(t *testing.T) {
	o := ring.Outcome{Cause: fetch.ConnectTimeout}
	o.Step = ring.Step{Kind: ring.Robots, Host: 1, For: 1, URL: "https://a.test/robots.txt", Settings: settings(t)}
	v := judge.Robots(&o, "a.test", true)
	if v.Act != judge.Ask || v.Next.URL != "https://www.a.test/robots.txt" || !v.Next.Visit.Unreached {
		t.Fatalf("act %d, next %+v", v.Act, v.Next)
	}
	o.Step = *v.Next
	if v = judge.Robots(&o, "a.test", true); v.Act != judge.TryLater {
		t.Errorf("as www. too: act %d", v.Act)
	}
}

func TestThrottled(t *testing.T) {
	tests := []struct {
		name string
		o    ring.Outcome
		want bool
	}{
		{"429", ring.Outcome{Status: 429, RetryAfter: -1}, true},
		{"429 with Retry-After", ring.Outcome{Status: 429, RetryAfter: 9}, true},
		{"503", ring.Outcome{Status: 503, RetryAfter: -1}, false},
		{"503 with Retry-After", ring.Outcome{Status: 503}, true},
		{"500 with Retry-After", ring.Outcome{Status: 500, RetryAfter: 9}, false},
		{"429 cut short", ring.Outcome{Status: 429, Cause: fetch.Timeout}, false},
	}
	for _, tt := range tests {
		if got := judge.Throttled(&tt.o); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
