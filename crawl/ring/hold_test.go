package ring

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func settingsOf(t *testing.T, memory int64) *Settings {
	t.Helper()
	const text = "[user-agent]\ncrawler-name = \"T\"\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
	s, err := SharedSettings(crawltest.Parse(t, text), new(fetch.Pool), memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Client.Close)
	return s
}

// An outcome that does not fit waits for a commit; the largest fits alone.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settingsOf(t, 1) // the least
		outcome := func(size int) *Outcome { return &Outcome{Step: Step{Settings: s}, Robots: make([]byte, size)} }
		huge, small, large := outcome(100<<20), outcome(0), outcome(4<<20)
		if err := huge.Hold(t.Context()); err != nil || huge.Held != leastHeld {
			t.Fatalf("the largest: %v, holds %d; want %d", err, huge.Held, leastHeld)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := small.Hold(ctx); !errors.Is(err, context.Canceled) || small.Held != 0 {
			t.Errorf("beside the largest: %v, holds %d", err, small.Held)
		}
		held := make(chan error, 2)
		for _, o := range []*Outcome{large, small} {
			go func() { held <- o.Hold(t.Context()) }()
		}
		synctest.Wait()
		if len(held) > 0 {
			t.Error("an outcome did not wait")
		}
		huge.Release()
		huge.Release()
		synctest.Wait()
		if len(held) != 2 || small.Held != outcomeSize || large.Held != 4<<20+outcomeSize {
			t.Errorf("%d outcomes are let in, and hold %d and %d", len(held), small.Held, large.Held)
		}
	})
}

func TestMaxHeld(t *testing.T) {
	for memory, want := range map[int64]int64{
		0: mostHeld, 1: leastHeld, 64_000_000: leastHeld, 160 << 20: 20 << 20, 2_000_000_000: mostHeld,
		1<<63 - 1: mostHeld,
	} {
		if got := maxHeld(memory); got != want {
			t.Errorf("of %d bytes outcomes may hold %d, want %d", memory, got, want)
		}
	}
}

// The estimate is close to the memory actually held, whatever a server sends.
func TestSizeOfOutcome(t *testing.T) {
	if process.Race {
		t.Skip("memory says nothing under the race detector")
	}
	var links, distant strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&links, "<a href=?%d>number %d</a>", i, i)
		fmt.Fprintf(&distant, "<a href=https://host-%d.test/A?%d>%s</a>", i, i, strings.Repeat("x", 100))
	}
	base := "<base href=https://b.test/" + strings.Repeat("long/", 380) + ">"
	tests := []struct {
		name string
		make func(*testing.T) Outcome
	}{
		{"links of a long base", func(t *testing.T) Outcome { return extracted(t, base+links.String()) }},
		{"links elsewhere", func(t *testing.T) Outcome { return extracted(t, distant.String()) }},
		{"few links", func(t *testing.T) Outcome { return extracted(t, "<a href=/1>one</a>") }},
		{"a sitemap", func(t *testing.T) Outcome { return mapped(t, 50_000) }},
		{"robots.txt", func(*testing.T) Outcome { return Outcome{Robots: make([]byte, 500<<10)} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := tt.make(t)                       // creates one-time allocations
			copies := int(max(4, 1<<20/first.size())) // enough copies to outweigh other garbage
			all := make([]Outcome, copies)
			before := process.LiveHeap()
			for i := range all {
				all[i] = tt.make(t)
			}
			really := float64(process.LiveHeap()-before)/float64(copies) + outcomeSize
			size := float64(all[0].size())
			if size < 0.6*really || size > 2*really+outcomeSize {
				t.Errorf("%.0f bytes are taken for %.0f", really, size)
			}
			runtime.KeepAlive(all)
		})
	}
}

func extracted(t *testing.T, html string) (o Outcome) {
	t.Helper()
	base, err := rules(t).Base("https://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	found := page.NewExtractor(page.Options{MaxLinks: 10_000, Agent: "T"}).
		Extract([]byte(html), "text/html", base, "https://a.test/")
	o.Page, o.Hashes = &found, make([]uint64, len(found.Links))
	return o
}

func mapped(t *testing.T, urls int) (o Outcome) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<urlset>")
	for i := range urls {
		fmt.Fprintf(&b, "<url><loc>https://a.test/section/page-%d.html</loc></url>", i)
	}
	b.WriteString("</urlset>")
	file, err := sitemap.Parse([]byte(b.String()), "https://a.test/sitemap.xml", "text/xml", sitemap.DefaultLimits())
	if err != nil || len(file.Entries) != urls {
		t.Fatalf("%d entries, %v", len(file.Entries), err)
	}
	o.Sitemap, o.Entries = &file, make([]Target, urls)
	for i, e := range file.Entries {
		u, err := rules(t).Parse(e.Loc)
		if err != nil {
			t.Fatal(err)
		}
		o.Entries[i] = Target{URL: u, Hash: uint64(schema.KindPage)}
	}
	return o
}

func rules(t *testing.T) *weburl.Rules {
	t.Helper()
	r, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
