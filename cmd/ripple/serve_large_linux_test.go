package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/browsertest"
	"github.com/sumi-ripple/ripple/kv/scaletest"
)

// BenchmarkLargeDesk opens the desk of a finished file of 743,000 pages in a browser, each time
// with a reader that has read nothing yet. It measures how long it takes until the page and its
// figures are shown and, separately, the map is drawn, and the processor time of the readers.
func BenchmarkLargeDesk(b *testing.B) {
	state := scaletest.File(b, scaletest.Medium())
	tab := browsertest.Open(b)
	tab.Patience = 5 * time.Minute // on a busy machine
	var shell, figures, drawn, used float64
	for b.Loop() {
		before := usedByChildren(b)
		d, end := openState(b, state, "")
		shell += d.shows(tab, "now", `document.querySelector("#views a") && document.querySelector("#view .now")`)
		figures += d.shows(tab, "", `document.querySelector(".figures")`)
		end()
		d, end = openState(b, state, "")
		drawn += d.shows(tab, "map", `document.documentElement.dataset.drawn`)
		end()
		used += usedByChildren(b) - before
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(shell/n, "shell-ms")
	b.ReportMetric(figures/n, "figures-ms")
	b.ReportMetric(drawn/n, "map-ms")
	b.ReportMetric(used/n, "readers-cpu-ms")
}

// shows goes to a view, or stays where it is, and returns how many milliseconds after the request
// for its page an expression holds.
func (d *testDesk) shows(tab *browsertest.Tab, view, until string) float64 {
	d.t.Helper()
	if view != "" {
		tab.Go(strings.TrimSuffix(d.base, "api/v1/") + "#/" + view + "?token=" + d.token)
	}
	tab.Wait(until)
	return browsertest.Ask[float64](tab, "performance.now()")
}

// usedByChildren returns the processor time of ended child processes, in milliseconds.
func usedByChildren(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return float64(time.Duration(u.Utime.Nano()+u.Stime.Nano()).Microseconds()) / 1000
}
