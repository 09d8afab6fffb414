package show

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Host prints what is known about a host, with the hosts that link to it by links in a place; empty: in
// any. limit is the maximum length of its lists.
func Host(w io.Writer, d *answer.Host, place string, limit int) error {
	fmt.Fprintln(w, term.ShownHost(d.Domain, 253))
	t := term.NewTable(w)
	t.Row("  class", withRule(d.Class, d.Rule))
	if len(d.Origin) > 0 {
		t.Row("  origin", strings.Join(term.ShownHosts(d.Origin), ", "))
	}
	t.Row("  site", term.ShownHost(d.Site, 253))
	printNoted(d, t)
	if !d.Met {
		t.Row("  known", notKnown(d.Archives, "no: no page that was visited links to the host"))
		if len(d.Near) > 0 {
			t.Row("  did you mean", strings.Join(term.ShownHosts(d.Near), ", "))
		}
		return t.Flush()
	}
	printHostFacts(d.KnownHost, t, d.Visitable)
	if err := t.Flush(); err != nil {
		return err
	}
	printHostRobots(d.KnownHost, w, limit)
	printHostLinks(d.KnownHost, w, place)
	return printHostTables(d.KnownHost, w, place)
}

// printNoted prints what people decided and noted about the host.
func printNoted(d *answer.Host, t term.Table) {
	if len(d.Tags) > 0 {
		t.Row("  tags", term.Clean(strings.Join(d.Tags, ", "), 300))
	}
	if d.Note != "" {
		t.Row("  note", term.Clean(d.Note, 300))
	}
	if d.Later {
		t.Row("  suggested", "not for now, by decision")
	}
}

func printHostFacts(k *answer.KnownHost, t term.Table, visitable bool) {
	if k.Title != "" {
		t.Row("  title", term.Clean(k.Title, 300))
	}
	t.Row("  coverage", term.Clean(k.Coverage, 300))
	if k.KnownMissing > 0 {
		t.Row("  missing", term.Count(k.KnownMissing, "page", ""))
	}
	if k.Shells > 0 {
		t.Row("  scripts", fmt.Sprintf("%s of %s likely need them", term.Commas(k.Shells), term.Count(k.HTML, "page", "")))
	}
	if k.TimedOut > 0 || k.TriedOnce > 0 {
		t.Row("  out of time", fmt.Sprintf("the scripts of %s; %s tried once, as others ran out of time",
			term.Count(k.TimedOut, "page", ""), term.Commas(k.TriedOnce)))
	}
	if h := k.Hands; h != nil {
		t.Row("  changed hands", "likely: its front page has nothing in common with what it was")
		t.Row(fmt.Sprintf("    run #%d", h.Before.Run), term.Clean(h.Before.String(), 300))
		t.Row(fmt.Sprintf("    run #%d", h.After.Run), term.Clean(h.After.String(), 300))
	}
	if k.Wall == survey.WallSuspected {
		t.Row("  wall", "suspected: nearly all of its pages show the same few words and lead nowhere on the host")
	}
	for _, a := range k.Answered {
		if a.Answer == schema.AnswerParked.String() {
			t.Row("  for sale", ruleText(&a))
		} else {
			t.Row("  wall", fmt.Sprintf("met by %s; %s", term.Count(k.WalledPages, "page", ""), ruleText(&a)))
		}
	}
	if k.Probe != nil {
		manner := k.MissingPages
		if k.SoftPages > 0 {
			manner += fmt.Sprintf(" (%s)", term.Count(k.SoftPages, "page", ""))
		}
		t.Row("  not found", manner+"; "+probeText(k.Probe))
	}
	for i, said := range strings.Split(k.Preferences, "\n") {
		if i == 0 && said != "" {
			t.Row("  preferences", term.Clean(said, 300))
		} else if said != "" {
			t.Row("", term.Clean(said, 300))
		}
	}
	if text := waitingText(&k.Obstacle); text != "" {
		t.Row("  waits for", text)
	}
	if k.Trouble != "" {
		t.Row("  trouble", term.Clean(k.Trouble, 300)+hostAgain(k))
	}
	if visitable && !k.Imported {
		t.Row("  next request", hostNext(k))
		t.Row("  delay", hostDelay(k))
		t.Row("  budget", fmt.Sprintf("%s of %s in run #%d (%s)", term.Commas(k.BudgetUsed),
			term.Count(k.Budget, "request", ""), k.Run, k.BudgetKey))
	}
	if k.RateLimited > 0 {
		t.Row("  asked to wait", fmt.Sprintf("%s in run #%d (429, or 503 with Retry-After)",
			term.Count(k.RateLimited, "answer", ""), k.Run))
	}
	if !k.Imported || k.Requests > 0 {
		t.Row("  all runs", fmt.Sprintf("%s of every kind, %s visited", term.Count(k.Requests, "request", ""),
			term.Count(k.Visits, "page", "")))
	}
	t.Row("  pages", hostPages(k))
	if len(k.ByDepth) > 0 {
		t.Row("  depth", hostDepths(k))
	}
}

// hostAgain says when a trouble is over.
func hostAgain(k *answer.KnownHost) string {
	if k.Again == nil {
		return ""
	}
	return ", again " + hostMoment(k, *k.Again)
}

// hostNext says when the host may be requested next.
func hostNext(k *answer.KnownHost) string {
	switch {
	case k.Trouble != "" && k.Again == nil, k.BudgetUsed >= k.Budget:
		return "in the next run"
	case k.Again != nil:
		return hostMoment(k, *k.Again)
	case k.Next == nil && !k.Open:
		return "at any time: it was never requested"
	case k.Next == nil:
		return hostMoment(k, time.Time{})
	}
	return hostMoment(k, *k.Next)
}

// hostMoment formats a time relative to now.
func hostMoment(k *answer.KnownHost, at time.Time) string {
	if rest := time.Until(at); rest > 0 {
		return fmt.Sprintf("in %s (%s)", term.Span(rest), at.Format(time.RFC3339))
	}
	if k.Open {
		return "as soon as no request to it is open, which the state file does not show"
	}
	return "at any time"
}

// hostDelay says which delay is promised between two requests, and why.
func hostDelay(k *answer.KnownHost) string {
	text := term.Gap(time.Duration(k.DelayMS) * time.Millisecond)
	var why []string
	if k.CrawlMS > 0 {
		why = append(why, "Crawl-delay "+term.Gap(time.Duration(k.CrawlMS)*time.Millisecond))
	}
	if k.Timeouts > 0 {
		why = append(why, "doubled by "+term.Count(k.Timeouts, "time-out", "")+" in a row")
	}
	if k.AnswerMS > 0 {
		why = append(why, "answers in "+term.Gap(time.Duration(k.AnswerMS)*time.Millisecond))
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text
}

func hostPages(k *answer.KnownHost) string {
	var states []string
	for _, state := range schema.States() {
		if n := k.ByState[state.String()]; n > 0 {
			states = append(states, term.Commas(n)+" "+state.String())
		}
	}
	text := term.Commas(k.Known) + " known"
	if len(states) > 0 {
		text += ": " + strings.Join(states, ", ")
	}
	return text
}

func hostDepths(k *answer.KnownHost) string {
	var parts []string
	for _, d := range k.ByDepth {
		name := "none"
		if d.Depth != nil {
			name = fmt.Sprint(*d.Depth)
		}
		parts = append(parts, name+": "+term.Count(d.Pages, "page", ""))
	}
	return strings.Join(parts, ", ")
}

func printHostRobots(k *answer.KnownHost, w io.Writer, limit int) {
	switch none := k.Robots.Status == 0 && k.Robots.FetchedAt == nil; {
	case none && k.Imported:
		return
	case none:
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
	fmt.Fprintf(w, "\nrobots.txt: %s (%d, %s)\n", term.Count(len(lines), "line", ""), k.Robots.Status,
		k.Robots.FetchedAt.Format(time.RFC3339))
	for i, line := range lines[:min(len(lines), limit)] {
		fmt.Fprintf(w, "  %4d  %s\n", i+1, term.Clean(string(line), 200))
	}
	if more := len(lines) - limit; more > 0 {
		fmt.Fprintf(w, "  and %s more (--limit)\n", term.Commas(more))
	}
}

func printHostLinks(k *answer.KnownHost, w io.Writer, place string) {
	l := k.LinkedFrom
	fmt.Fprintf(w, "\nlinked from%s: %s, %s\n", chosenPlace(place), term.Count(l.Hosts, "host", ""),
		term.Count(l.Pages, "page", ""))
	if len(l.Places) > 1 {
		printPlaces(w, l.Places)
	}
	for _, from := range l.From {
		name := term.ShownHost(from.Domain, 253)
		if from.Origin != "" {
			name += " (origin " + term.ShownHost(from.Origin, 253) + ")"
		}
		links := term.Count(from.Links, "link", "")
		if from.Editorial > 0 && from.Editorial < from.Links {
			links += ", " + term.Commas(from.Editorial) + " in the text"
		}
		fmt.Fprintf(w, "  %s: %s\n    %s -> %s  %s\n", name, links, term.ShownHost(from.From, 300),
			term.ShownHost(from.To, 300), placed(from.Anchor, from.Place))
	}
	if more := l.Hosts - len(l.From); more > 0 {
		fmt.Fprintf(w, "  and %s more (--limit)\n", term.Commas(more))
	}
}

func printHostTables(k *answer.KnownHost, w io.Writer, place string) error {
	t := term.NewTable(w)
	if len(k.Busiest) > 0 {
		t.Row("\nbusiest pages"+chosenPlace(place), "links in", "state", "title")
	}
	for _, p := range k.Busiest {
		t.Row("  "+term.ShownHost(p.URL, 200), term.Commas(p.In), p.State, term.Clean(p.Title, 100))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(k.Errors) > 0 {
		t.Row("\nerrors", "pages")
	}
	for _, e := range k.Errors {
		t.Row("  "+term.Clean(e.Error, 100), term.Commas(e.Pages))
	}
	if err := t.Flush(); err != nil || len(k.Runs) == 0 {
		return err
	}
	t.Row("\nruns", "oldest visit", "visited", "kept", "processed", "requests")
	for _, run := range k.Runs {
		t.Row(fmt.Sprintf("  #%d", run.Run), run.First.Format(time.RFC3339), term.Commas(run.Visited), term.Commas(run.Kept),
			term.Commas(run.Processed), term.Commas(run.Requests))
	}
	return t.Flush()
}
