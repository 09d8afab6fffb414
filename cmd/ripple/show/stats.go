package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/schema"
)

// Stats prints the counts of a map.
func Stats(w io.Writer, s *answer.Stats) error {
	fmt.Fprintf(w, "%s, %s in use\n", term.Shown(s.State), humanize.Bytes(uint64(s.Bytes)))
	printProgress(w, s)
	printTotals(w, s)
	for _, site := range s.Sites {
		fmt.Fprintln(w, SiteLine(site))
	}
	if n := s.SitesTotal - len(s.Sites); n > 0 {
		fmt.Fprintf(w, "and %s more (--limit)\n", term.Count(n, "site", ""))
	}
	if err := printStates(w, s); err != nil {
		return err
	}
	if err := printDepths(w, s.ByDepth); err != nil {
		return err
	}
	return printSlow(w, s)
}

// printProgress prints the progress of the run.
func printProgress(w io.Writer, s *answer.Stats) {
	if s.Live != nil {
		for _, line := range StatusLines(s.Live) {
			fmt.Fprintln(w, line)
		}
		return
	}
	printRun(w, &s.Run)
	if text := etaText(&s.Left); text != "" {
		fmt.Fprintf(w, "%s left to visit, %s\n", term.Count(s.Left.PagesToVisit, "page", ""), text)
	}
	if text := ErrorText(s.Run.Errors); text != "" {
		fmt.Fprintln(w, "errors: "+text)
	}
	if c := answer.ConditionOf(&census.Status{Left: s.Left}, &s.Run); c.Name == "interrupted" || c.Name == "stopped" {
		fmt.Fprintln(w, c.Headline)
	}
}

// printTotals prints the totals, including pages that need scripts.
func printTotals(w io.Writer, s *answer.Stats) {
	hosts := term.Count(s.Hosts, "host", "hosts")
	if s.Listed > 0 {
		hosts += fmt.Sprintf(" (and %s blacklisted or stubs)", term.Commas(s.Listed))
	}
	links := term.Count(s.Links, "link", "links")
	if s.LinksOmitted > 0 {
		links += fmt.Sprintf(" (and %s left out)", term.Commas(s.LinksOmitted))
	}
	fmt.Fprintf(w, "\n%s on %s, %s; %s waiting\n", term.Count(s.Pages, "page", "pages"), hosts, links,
		term.Commas(s.Frontier))
	if s.NotMet > 0 {
		fmt.Fprintf(w, "%s that no link leads to any more\n", term.Count(s.NotMet, "page", "pages"))
	}
	if s.Rendered > 0 {
		text := term.Count(s.Rendered, "page", "pages") + " rendered"
		if s.Hindered > 0 {
			text += fmt.Sprintf(" (%s without some of what their scripts requested%s)", term.Commas(s.Hindered), refusals(s))
		}
		if s.StillEmpty > 0 {
			text += fmt.Sprintf("; %s still empty", term.Commas(s.StillEmpty))
		}
		fmt.Fprintln(w, text)
	}
	if s.Unrendered > 0 {
		text := term.Count(s.Unrendered, "page", "pages") +
			" recorded as fetched: the browser failed, or the result was too large"
		if s.TimedOut > 0 {
			text += fmt.Sprintf("; %s ran out of time", term.Commas(s.TimedOut))
		}
		if s.TriedOnce > 0 {
			text += fmt.Sprintf("; %s tried once, as other pages of the host ran out of time", term.Commas(s.TriedOnce))
		}
		fmt.Fprintln(w, text)
	}
	if s.CutByBudget > 0 {
		fmt.Fprintf(w, "%s rendered in part or not at all: a budget was used up\n",
			term.Count(s.CutByBudget, "page", "pages"))
	}
	if s.Shells > 0 {
		fmt.Fprintln(w, term.Count(s.Shells, "page likely needs scripts", "pages likely need scripts"))
	}
}

// refusals lists what no page may request, after a colon; empty: nothing.
func refusals(s *answer.Stats) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(s.Refusals)) {
		all = append(all, term.Commas(s.Refusals[kind])+" "+kind)
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}

// printStates prints the pages by state, by what came instead of a page, and by class.
func printStates(w io.Writer, s *answer.Stats) error {
	fmt.Fprintln(w)
	t := term.NewTable(w)
	t.Row("state", "pages")
	for _, state := range schema.States() {
		if n := s.ByState[state.String()]; n > 0 {
			t.Row(state, term.Commas(n))
		}
	}
	titled := false
	for _, a := range schema.Answers() {
		n := s.ByAnswer[a.String()]
		if n > 0 && !titled {
			t.Row("\ninstead of a page", "pages")
			titled = true
		}
		if n > 0 {
			t.Row(a, term.Commas(n))
		}
	}
	t.Row("\nclass", "pages")
	for class := range schema.ClassCount {
		if n := s.ByClass[class.String()]; n > 0 {
			t.Row(class, term.Commas(n))
		}
	}
	return t.Flush()
}

// printRun prints a run that no process is working on.
func printRun(w io.Writer, run *answer.StatsRun) {
	why := ""
	if run.Reason != "" {
		why = " (" + term.Clean(run.Reason, 200) + ")"
	}
	if run.Captured != "" {
		fmt.Fprintf(w, "run #%d, an import of archives, %s%s: %s, captured %s\n", run.ID, run.Status, why,
			term.Count(run.Pages, "page", "pages"), run.Captured)
		return
	}
	fmt.Fprintf(w, "run #%d %s%s: %s in %s\n", run.ID, run.Status, why,
		Visited(run.Pages), term.Gap(Duration(run.Seconds).Round(time.Second/10)))
}

func printDepths(w io.Writer, depths []answer.DepthCount) error {
	fmt.Fprintln(w)
	t := term.NewTable(w)
	t.Row("depth", "pages", "processed")
	for _, d := range depths {
		name := "none"
		if d.Depth != nil {
			name = fmt.Sprint(*d.Depth)
		}
		t.Row(name, term.Commas(d.Pages), term.Commas(d.Processed))
	}
	return t.Flush()
}

// printSlow prints the hosts that take longest.
func printSlow(w io.Writer, s *answer.Stats) error {
	if len(s.Slow) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := term.NewTable(w)
	t.Row("host", "missing", "to visit", "delay", "ETA", "coverage")
	for _, h := range s.Slow {
		eta := "-"
		if h.ETA != nil && *h.ETA > 0 {
			eta = seconds(*h.ETA)
		}
		again := ""
		if s.Live != nil {
			again = againText(h.AgainAt)
		}
		t.Row(term.ShownHost(h.Domain, 60), term.Commas(h.KnownMissing), term.Commas(h.ToVisit),
			term.Gap(h.Rest.Round(time.Millisecond)), eta, term.Clean(h.Coverage, 100)+again)
	}
	if n := s.SlowTotal - len(s.Slow); n > 0 {
		t.Row("and " + term.Commas(n) + " more (--limit)")
	}
	return t.Flush()
}
