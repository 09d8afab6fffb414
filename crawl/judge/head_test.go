package judge_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A type in an answer to HEAD is accepted once GET has confirmed one for such a path and no HEAD has been
// contradicted. A redirect never is.
func TestHeadIsConfirmed(t *testing.T) {
	s := settings(t)
	moved, elsewhere := target("https://a.test/error", "https://a.test/error"), target("https://a.test/y", "https://a.test/y")
	tests := []struct {
		name      string
		url       string
		head, get ring.Outcome
		want      schema.Heads
	}{
		{"a type", "https://a.test/x", ring.Outcome{Status: 200, ContentType: "text/plain"},
			ring.Outcome{Status: 200, ContentType: "text/plain"}, schema.HeadPageType},
		{"a type of a file", "https://a.test/x.pdf", ring.Outcome{Status: 200, ContentType: "text/plain"},
			ring.Outcome{Status: 200, ContentType: "image/png"}, schema.HeadFileType},
		{"a type, and it is a page", "https://a.test/x", ring.Outcome{Status: 200, ContentType: "text/plain"},
			ring.Outcome{Status: 200, ContentType: "text/html"}, schema.HeadsLie},
		{"a redirect", "https://a.test/x", ring.Outcome{Status: 302, Location: moved},
			ring.Outcome{Status: 301, Location: moved}, 0},
		{"a redirect, and it is a page", "https://a.test/x", ring.Outcome{Status: 302, Location: moved},
			ring.Outcome{Status: 200, ContentType: "text/html"}, schema.HeadsLie},
		{"a redirect, and it leads elsewhere", "https://a.test/x", ring.Outcome{Status: 302, Location: moved},
			ring.Outcome{Status: 302, Location: elsewhere}, schema.HeadsLie},
		{"a redirect, and nothing is there", "https://a.test/x", ring.Outcome{Status: 302, Location: moved},
			ring.Outcome{Status: 404}, schema.HeadsLie},
		{"a redirect, and the server is in trouble", "https://a.test/x", ring.Outcome{Status: 302, Location: moved},
			ring.Outcome{Status: 500}, 0},
		{"no refusal", "https://a.test/x", ring.Outcome{Status: 404}, ring.Outcome{Status: 302, Location: moved}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.head.Step, tt.head.RetryAfter, tt.get.RetryAfter = page(s, ring.Head), -1, -1
			tt.head.Step.URL, tt.head.Step.Visit.Heads = tt.url, 0
			v := judge.Page(&tt.head, nil, true, false)
			if v.Act != judge.Follow || v.Next.Kind != ring.Get || v.Next.URL != tt.url {
				t.Fatalf("the HEAD is believed: %s", v)
			}
			tt.get.Step = *v.Next
			if got := judge.Heads(&tt.get); got != tt.want {
				t.Errorf("%#x is known of the host's HEADs, want %#x", got, tt.want)
			}
			if tt.want == 0 || tt.want == schema.HeadsLie {
				return
			}
			if tt.head.Step.Visit.Heads = tt.want; judge.Page(&tt.head, nil, true, false).Act != judge.Settle {
				t.Error("it is not believed after that")
			}
			if tt.head.Step.Visit.Heads |= schema.HeadsLie; judge.Page(&tt.head, nil, true, false).Act != judge.Follow {
				t.Error("it is believed though another one was contradicted")
			}
		})
	}
	all := ring.Outcome{Step: page(s, ring.Head), Status: 302, Location: moved, RetryAfter: -1}
	all.Step.Visit.Heads = schema.HeadPageType | schema.HeadFileType
	if v := judge.Page(&all, nil, true, false); v.Act != judge.Follow || v.Next.Kind != ring.Get {
		t.Errorf("a redirect is believed: %s", v)
	}
	step := page(s, ring.Get)
	step.Settings.Config.Crawler.HeadCheck = config.HeadAlways
	for _, heads := range []schema.Heads{0, schema.HeadsLie} {
		step.Visit.Heads = heads
		if step.Ask("https://a.test/x"); (step.Kind == ring.Head) != (heads == 0) {
			t.Errorf("with %#x it is asked by %v", heads, step.Kind)
		}
	}
}

// Where HEAD suffices, a success ends the visit, and anything else is left to GET.
func TestHeadSuffices(t *testing.T) {
	s := settings(t)
	s.Config.Crawler.HeadCheck = config.HeadOutside
	tests := []struct {
		name string
		url  string
		head ring.Outcome
		act  judge.Act
		want schema.State
	}{
		{"a page", "https://b.test/x", ring.Outcome{Status: 200, ContentType: "text/html"}, judge.Settle, schema.Processed},
		{"a picture", "https://b.test/x.png", ring.Outcome{Status: 200, ContentType: "image/png"}, judge.Settle,
			schema.ContentMismatch},
		{"a page of an origin", "https://a.test/x", ring.Outcome{Status: 200, ContentType: "text/html"}, judge.Follow, 0},
		{"missing, says HEAD", "https://b.test/x", ring.Outcome{Status: 404}, judge.Follow, 0},
		{"HEAD not allowed", "https://b.test/x", ring.Outcome{Status: 405}, judge.Follow, 0},
		{"a redirect", "https://b.test/x", ring.Outcome{Status: 302, Location: target("https://c.test/", "https://c.test/")},
			judge.Follow, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step := page(s, ring.Get)
			step.Visit.Heads = 0
			if step.Ask(tt.url); (step.Kind == ring.Head) != (tt.url != "https://a.test/x") {
				t.Errorf("it is requested with %v", step.Kind)
			}
			tt.head.Step, tt.head.RetryAfter = step, -1
			tt.head.Step.Kind = ring.Head
			v := judge.Page(&tt.head, nil, true, false)
			if v.Act != tt.act || v.Act == judge.Settle && v.State != tt.want || v.Act == judge.Follow && v.Next.Kind != ring.Get {
				t.Errorf("%s", v)
			}
		})
	}
}
