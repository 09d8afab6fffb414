package main

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sumi-ripple/ripple/schema"
)

func printStats(w io.Writer, s *stats) error {
	fmt.Fprintf(w, "%s, %s in use\n", shown(s.State), humanize.Bytes(uint64(s.Bytes)))
	printProgress(w, s)
	printTotals(w, s)
	for _, site := range s.Sites {
		fmt.Fprintln(w, siteLine(site))
	}
	if n := s.SitesTotal - len(s.Sites); n > 0 {
		fmt.Fprintf(w, "and %s more (--limit)\n", count(n, "site", ""))
	}
	if err := printStates(w, s); err != nil {
		return err
	}
	if err := printDepths(w, s.ByDepth); err != nil {
		return err
	}
	return printSlow(w, s)
}

// printProgress tells how far the run has come.
func printProgress(w io.Writer, s *stats) {
	if s.Live != nil {
		for _, line := range statusLines(s.Live) {
			fmt.Fprintln(w, line)
		}
		return
	}
	printRun(w, &s.Run)
	if text := etaText(&s.Left); text != "" {
		fmt.Fprintf(w, "%s left to visit, %s\n", count(s.Left.PagesToVisit, "page", ""), text)
	}
	if text := errorText(s.Run.Errors); text != "" {
		fmt.Fprintln(w, "errors: "+text)
	}
}

// printTotals counts what there is, and what became of pages that need scripts.
func printTotals(w io.Writer, s *stats) {
	hosts := count(s.Hosts, "host", "hosts")
	if s.Listed > 0 {
		hosts += fmt.Sprintf(" (and %s blacklisted or stubs)", commas(s.Listed))
	}
	links := count(s.Links, "link", "links")
	if s.Omitted > 0 {
		links += fmt.Sprintf(" (and %s left out)", commas(s.Omitted))
	}
	fmt.Fprintf(w, "\n%s on %s, %s; %s waiting\n", count(s.Pages, "page", "pages"), hosts, links, commas(s.Frontier))
	if s.NotMet > 0 {
		fmt.Fprintf(w, "%s not met any more\n", count(s.NotMet, "page", "pages"))
	}
	if s.Rendered > 0 {
		text := count(s.Rendered, "page", "pages") + " rendered"
		if s.Hindered > 0 {
			text += fmt.Sprintf(" (%s without some of what their scripts asked for)", commas(s.Hindered))
		}
		fmt.Fprintln(w, text)
	}
	if s.Unshown > 0 {
		fmt.Fprintf(w, "%s recorded as fetched: the browser failed, or showed too much\n",
			count(s.Unshown, "page", "pages"))
	}
	if s.Shells > 0 {
		fmt.Fprintln(w, count(s.Shells, "page likely needs scripts", "pages likely need scripts"))
	}
}

// printStates counts pages by state and by class.
func printStates(w io.Writer, s *stats) error {
	fmt.Fprintln(w)
	t := newTable(w)
	t.row("state", "pages")
	for _, state := range schema.States() {
		if n := s.ByState[state.String()]; n > 0 {
			t.row(state, commas(n))
		}
	}
	t.row("")
	t.row("class", "pages")
	for class := range schema.ClassCount {
		if n := s.ByClass[class.String()]; n > 0 {
			t.row(class, commas(n))
		}
	}
	return t.Flush()
}

// printRun tells of a run that nobody works on.
func printRun(w io.Writer, run *statsRun) {
	why := ""
	if run.Reason != "" {
		why = " (" + clean(run.Reason, 200) + ")"
	}
	fmt.Fprintf(w, "run #%d %s%s: %s in %s\n", run.ID, run.Status, why,
		visited(run.Pages), gap(duration(run.Seconds).Round(time.Second/10)))
}

func printDepths(w io.Writer, depths []depthCount) error {
	fmt.Fprintln(w)
	t := newTable(w)
	t.row("depth", "pages", "processed")
	for _, d := range depths {
		name := "none"
		if d.Depth != nil {
			name = fmt.Sprint(*d.Depth)
		}
		t.row(name, commas(d.Pages), commas(d.Processed))
	}
	return t.Flush()
}

func printSlow(w io.Writer, s *stats) error {
	if len(s.Slow) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := newTable(w)
	t.row("host", "missing", "to visit", "delay", "ETA", "coverage")
	for _, h := range s.Slow {
		eta := "-"
		if h.ETA > 0 {
			eta = seconds(h.ETA)
		}
		again := ""
		if s.Live != nil {
			again = againText(h.AgainAt)
		}
		t.row(shownHost(h.Domain, 60), commas(h.Missing), commas(h.ToVisit),
			gap(h.Rest.Round(time.Millisecond)), eta, clean(h.Coverage, 100)+again)
	}
	if n := s.SlowTotal - len(s.Slow); n > 0 {
		t.row("and " + commas(n) + " more (--limit)")
	}
	return t.Flush()
}
