package crawl

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A countedBrowser counts how often it is closed.
type countedBrowser struct {
	crawltest.Browser
	closed int
}

func (b *countedBrowser) Close() error {
	b.closed++
	return nil
}

// Crawls that need the same browsers share them and their seats. The last one closes them, once.
func TestBrowsersAreShared(t *testing.T) {
	var all browsers
	var opened []*countedBrowser
	failed := errors.New("no browser")
	open := func(context.Context, *config.Config) (ring.Renderer, error) {
		if opened == nil {
			opened = []*countedBrowser{}
			return nil, failed
		}
		opened = append(opened, &countedBrowser{})
		return opened[len(opened)-1], nil
	}
	lend := func(most string) (ring.Renderer, func() bool) {
		t.Helper()
		cfg := crawltest.Parse(t, rendering("[render]\nmode = \"auto\"\nmax-browsers = "+most+"\n"))
		r, seats, err := all.lend(t.Context(), cfg, open)
		if err != nil {
			if !errors.Is(err, failed) {
				t.Error(err)
			}
			return nil, nil
		}
		return r, func() bool { return seats.TryAcquire(1) }
	}
	if r, _ := lend("1"); r != nil || len(all.open) != 0 {
		t.Errorf("what cannot be opened is kept: %v", all.open)
	}
	one, takeOne := lend("1")
	two, takeTwo := lend("1")
	other, takeOther := lend("2")
	if len(opened) != 2 || !takeOne() || takeTwo() || !takeOther() || !takeOther() || takeOther() {
		t.Errorf("%d were opened, or their seats are not those of their users", len(opened))
	}
	for i, r := range []ring.Renderer{one, one, two, other} {
		if closed := opened[0].closed; closed != 0 && i < 3 {
			t.Errorf("closed before the last of its users is: %d", i)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if opened[0].closed != 1 || opened[1].closed != 1 || len(all.open) != 0 {
		t.Errorf("closed %d and %d times, %d are open", opened[0].closed, opened[1].closed, len(all.open))
	}
}

// If a walk ended before a kill, another process completes it without walking again and keeps
// nothing open.
func TestBrowserOfWalkedRun(t *testing.T) {
	web := crawltest.Serve(t)
	web.Host("a.test").Page("/", "<title>a page</title>")
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	cfg := crawltest.Parse(t, crawltest.Config(t, web, `
[render]
mode = "auto"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`))
	for _, walked := range []bool{false, true} {
		var browser countedBrowser
		c, begun, err := Begin(t.Context(), store, Options{
			Config: cfg, Log: slog.New(slog.DiscardHandler),
			OpenRenderer: func(context.Context, *config.Config) (ring.Renderer, error) { return &browser, nil },
		})
		if err != nil || begun.Run.Walked != walked {
			t.Fatalf("%v; walked before: %t", err, begun.Run.Walked)
		}
		if walked {
			err = c.Complete()
		} else {
			_, err = c.Run(t.Context())
		}
		if err != nil || browser.closed != 1 {
			t.Errorf("walked before: %t; %v, closed %d times", walked, err, browser.closed)
		}
	}
}

// The browsers kept open change with the configuration, and stay if the next ones fail.
func TestBrowsersAreKept(t *testing.T) {
	var all browsers
	var opened []*countedBrowser
	failed := errors.New("no browser")
	var fails error
	open := func(context.Context, *config.Config) (ring.Renderer, error) {
		if fails != nil {
			return nil, fails
		}
		opened = append(opened, &countedBrowser{})
		return opened[len(opened)-1], nil
	}
	keep := func(tables string) error {
		return all.keep(t.Context(), crawltest.Parse(t, rendering("[render]\n"+tables)), open)
	}
	one := "mode = \"auto\"\nmax-browsers = 1\n"
	if err := errors.Join(keep(one), keep(one)); err != nil || len(opened) != 1 || opened[0].closed != 0 {
		t.Fatalf("%v; %d were opened", err, len(opened))
	}
	fails = failed
	if err := keep("mode = \"auto\"\nmax-browsers = 2\n"); !errors.Is(err, failed) || opened[0].closed != 0 {
		t.Errorf("%v; the ones before were closed %d times", err, opened[0].closed)
	}
	fails = nil
	if err := keep("mode = \"auto\"\nmax-browsers = 2\n"); err != nil || len(opened) != 2 || opened[0].closed != 1 {
		t.Errorf("%v; %d were opened", err, len(opened))
	}
	if err := keep("mode = \"off\"\n"); err != nil || opened[1].closed != 1 || len(all.open) != 0 {
		t.Errorf("%v; where nothing is rendered, %d are open", err, len(all.open))
	}
	if err := errors.Join(keep(one), all.leave(), all.leave()); err != nil || opened[2].closed != 1 ||
		len(all.open) != 0 {
		t.Errorf("%v; in the end %d are open", err, len(all.open))
	}
}
