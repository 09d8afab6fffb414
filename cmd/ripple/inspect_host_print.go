package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// printDossier shows a person what is known of a host; limit bounds its lists.
func printDossier(w io.Writer, d *dossier, limit int) error {
	fmt.Fprintln(w, shownHost(d.Domain, 253))
	t := newTable(w)
	t.row("  class", withRule(d.Class, d.Rule))
	if len(d.Origin) > 0 {
		t.row("  origin", strings.Join(shownHosts(d.Origin), ", "))
	}
	t.row("  site", shownHost(d.Site, 253))
	d.printNoted(t)
	if !d.Known {
		t.row("  known", "no: no page that was visited links to the host")
		return t.Flush()
	}
	d.printFacts(t, d.visitable)
	if err := t.Flush(); err != nil {
		return err
	}
	d.printRobots(w, limit)
	d.printLinks(w)
	return d.printTables(w)
}

// printNoted shows what people decided and noted of it.
func (d *dossier) printNoted(t table) {
	if len(d.Tags) > 0 {
		t.row("  tags", clean(strings.Join(d.Tags, ", "), 300))
	}
	if d.Note != "" {
		t.row("  note", clean(d.Note, 300))
	}
	if d.Later {
		t.row("  suggested", "not for now, as was decided")
	}
}

func (k *knownHost) printFacts(t table, visitable bool) {
	if k.Title != "" {
		t.row("  title", clean(k.Title, 300))
	}
	t.row("  coverage", clean(k.Coverage, 300))
	if k.Missing > 0 {
		t.row("  missing", count(k.Missing, "page", ""))
	}
	if k.Shells > 0 {
		t.row("  scripts", fmt.Sprintf("%s of %s likely need them", commas(k.Shells), count(k.HTML, "page", "")))
	}
	if text := k.waiting.text(); text != "" {
		t.row("  waits for", text)
	}
	if k.Trouble != "" {
		t.row("  trouble", clean(k.Trouble, 300)+k.again())
	}
	if visitable {
		t.row("  asked next", k.next())
		t.row("  delay", k.delay())
		t.row("  budget", fmt.Sprintf("%s of %s in run #%d (%s)", commas(k.BudgetUsed),
			count(k.Budget, "request", ""), k.Run, k.budgetKey))
	}
	if k.RateLimited > 0 {
		t.row("  asked for rest", fmt.Sprintf("%s in run #%d (429, or 503 with Retry-After)",
			count(k.RateLimited, "answer", ""), k.Run))
	}
	t.row("  all runs", fmt.Sprintf("%s, %s visited", count(k.Requests, "request", ""), count(k.Visits, "page", "")))
	t.row("  pages", k.pages())
	if len(k.ByDepth) > 0 {
		t.row("  depth", k.depths())
	}
}

// again says when a trouble is over.
func (k *knownHost) again() string {
	if k.Again == nil {
		return ""
	}
	return ", again " + k.moment(*k.Again)
}

// next says when the host may be asked next.
func (k *knownHost) next() string {
	switch {
	case k.Trouble != "" && k.Again == nil, k.BudgetUsed >= k.Budget:
		return "by the next run"
	case k.Again != nil:
		return k.moment(*k.Again)
	case k.Next == nil && !k.open:
		return "at any time: it was never asked"
	case k.Next == nil:
		return k.moment(time.Time{})
	}
	return k.moment(*k.Next)
}

// moment is a time as it lies before a person.
func (k *knownHost) moment(at time.Time) string {
	if rest := time.Until(at); rest > 0 {
		return fmt.Sprintf("in %s (%s)", span(rest), at.Format(time.RFC3339))
	}
	if k.open {
		return "as soon as no request to it is open, which the state does not tell"
	}
	return "at any time"
}

// delay says what is promised between two requests, and why.
func (k *knownHost) delay() string {
	text := gap(time.Duration(k.DelayMS) * time.Millisecond)
	var why []string
	if k.CrawlMS > 0 {
		why = append(why, "Crawl-delay "+gap(time.Duration(k.CrawlMS)*time.Millisecond))
	}
	if k.Timeouts > 0 {
		why = append(why, "doubled by "+count(k.Timeouts, "time-out", "")+" in a row")
	}
	if k.AnswerMS > 0 {
		why = append(why, "answers in "+gap(time.Duration(k.AnswerMS)*time.Millisecond))
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text
}

func (k *knownHost) pages() string {
	var states []string
	for _, state := range schema.States() {
		if n := k.ByState[state.String()]; n > 0 {
			states = append(states, commas(n)+" "+state.String())
		}
	}
	text := commas(k.Pages) + " known"
	if len(states) > 0 {
		text += ": " + strings.Join(states, ", ")
	}
	return text
}

func (k *knownHost) depths() string {
	var parts []string
	for _, d := range k.ByDepth {
		name := "none"
		if d.Depth != nil {
			name = fmt.Sprint(*d.Depth)
		}
		parts = append(parts, name+": "+count(d.Pages, "page", ""))
	}
	return strings.Join(parts, ", ")
}

func (k *knownHost) printRobots(w io.Writer, limit int) {
	switch {
	case k.Robots.Status == 0 && k.Robots.FetchedAt == nil:
		fmt.Fprint(w, "\nrobots.txt: there is no copy\n")
		return
	case len(k.Robots.Text) == 0:
		what := "none"
		if k.Robots.Status/100 == 2 {
			what = "empty"
		}
		fmt.Fprintf(w, "\nrobots.txt: %s (%d, %s)\n", what, k.Robots.Status, k.Robots.FetchedAt.Format(time.RFC3339))
		return
	}
	lines := bytes.Split(bytes.TrimRight([]byte(k.Robots.Text), "\r\n"), []byte("\n"))
	fmt.Fprintf(w, "\nrobots.txt: %s (%d, %s)\n", count(len(lines), "line", ""), k.Robots.Status,
		k.Robots.FetchedAt.Format(time.RFC3339))
	for i, line := range lines[:min(len(lines), limit)] {
		fmt.Fprintf(w, "  %4d  %s\n", i+1, clean(string(line), 200))
	}
	if more := len(lines) - limit; more > 0 {
		fmt.Fprintf(w, "  and %s more (--limit)\n", commas(more))
	}
}

func (k *knownHost) printLinks(w io.Writer) {
	l := k.LinkedFrom
	fmt.Fprintf(w, "\nlinked from: %s, %s\n", count(l.Hosts, "host", ""), count(l.Pages, "page", ""))
	for _, from := range l.From {
		name := shownHost(from.Domain, 253)
		if from.Origin != "" {
			name += " (origin " + shownHost(from.Origin, 253) + ")"
		}
		fmt.Fprintf(w, "  %s: %s\n    %s -> %s  %s\n", name, count(from.Links, "link", ""), shownHost(from.From, 300),
			shownHost(from.To, 300), placed(from.Anchor, from.Place))
	}
	if more := l.Hosts - len(l.From); more > 0 {
		fmt.Fprintf(w, "  and %s more (--limit)\n", commas(more))
	}
}

func (k *knownHost) printTables(w io.Writer) error {
	t := newTable(w)
	if len(k.Busiest) > 0 {
		t.row("\nbusiest pages", "links in", "state", "title")
	}
	for _, p := range k.Busiest {
		t.row("  "+shownHost(p.URL, 200), commas(p.In), p.State, clean(p.Title, 100))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(k.Errors) > 0 {
		t.row("\nerrors", "pages")
	}
	for _, e := range k.Errors {
		t.row("  "+clean(e.Error, 100), commas(e.Pages))
	}
	if err := t.Flush(); err != nil || len(k.Runs) == 0 {
		return err
	}
	t.row("\nruns", "oldest visit", "visited", "kept", "processed", "requests")
	for _, run := range k.Runs {
		t.row(fmt.Sprintf("  #%d", run.Run), run.First.Format(time.RFC3339), commas(run.Visited), commas(run.Kept),
			commas(run.Processed), commas(run.Requests))
	}
	return t.Flush()
}
