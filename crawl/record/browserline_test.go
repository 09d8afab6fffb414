package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// waits adds pages to a line, each given as a host's number and a letter.
func waits(l *browserLine, pages string) {
	for _, page := range strings.Fields(pages) {
		l.add(ring.Step{For: schema.HostID(page[0] - '0'), URL: page[1:]})
	}
}

// served empties a line.
func served(l *browserLine) string {
	var all []string
	for step, ok := l.next(); ok; step, ok = l.next() {
		all = append(all, fmt.Sprint(step.For, step.URL))
	}
	return strings.Join(all, " ")
}

// Hosts take turns, and within a host the page that came first is first.
func TestBrowserLineTakesTurns(t *testing.T) {
	l := newBrowserLine()
	waits(&l, "1a 1b 1c 2a 3a 2b")
	if step, _ := l.next(); step.URL != "a" || step.For != 1 {
		t.Errorf("first comes %d%s", step.For, step.URL)
	}
	waits(&l, "1d 4a")
	if got, want := served(&l), "2a 3a 1b 4a 2b 1c 1d"; got != want {
		t.Errorf("served %s, want %s", got, want)
	}
	if _, ok := l.next(); ok {
		t.Error("an empty line has a page")
	}
}

// After three pages that ran out of time, a host's pages come last: those that wait, and those that come.
func TestBrowserLineDefersCostlyHosts(t *testing.T) {
	l := newBrowserLine()
	waits(&l, "1a 1b 2a 2b")
	for range mostTimeouts - 1 {
		l.timedOut(1)
	}
	if l.costly(1) {
		t.Error("a host is costly too soon")
	}
	if l.timedOut(1); !l.costly(1) || l.costly(2) {
		t.Errorf("after %d pages: %t, %t", mostTimeouts, l.costly(1), l.costly(2))
	}
	waits(&l, "1c 2c 3a")
	if got, want := served(&l), "2a 3a 2b 2c 1a 1b 1c"; got != want {
		t.Errorf("served %s, want %s", got, want)
	}
	l.timedOut(1)
	waits(&l, "1d 2d")
	if got, want := served(&l), "2d 1d"; got != want {
		t.Errorf("served %s, want %s", got, want)
	}
}
