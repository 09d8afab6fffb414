package show

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema"
)

// Page prints what is known about a URL, with the links to it in a place; empty: in any.
func Page(w io.Writer, in *answer.Page, place string) error {
	fmt.Fprintln(w, term.ShownHost(in.URL, 2048))
	t := term.NewTable(w)
	if len(in.Steps) > 1 || in.Input != in.URL {
		t.Row("  as written", term.Clean(in.Input, 2048))
		for _, s := range in.Steps {
			t.Row("    "+s.Step, term.Clean(s.Result, 2048))
		}
	}
	t.Row("  class", withRule(in.Class, in.ClassRule))
	if !in.Known {
		if in.Rule != in.ClassRule {
			t.Row("  refused by", term.Clean(in.Rule, 200))
		}
		if in.Robots != nil {
			t.Row("  robots.txt", robotsText(in))
		}
		t.Row("  known", notKnown(in.Archives, "no: no page that was visited links here"))
		return t.Flush()
	}
	p := in.KnownPage
	printFacts(t, in)
	if err := t.Flush(); err != nil {
		return err
	}
	printWays(w, p)
	printLinksIn(w, &p.LinksIn, place)
	printLinksOut(w, &p.LinksOut)
	return printVisits(w, p)
}

// notKnown returns the message for something that is not on the map: that only archives contain it or, if none does,
// otherwise.
func notKnown(archives []schema.RunID, otherwise string) string {
	if len(archives) == 0 {
		return otherwise
	}
	runs := make([]string, len(archives))
	for i, run := range archives {
		runs[i] = fmt.Sprintf("#%d", run)
	}
	return "only in the archives of run " + strings.Join(runs, ", ")
}

func withRule(class, rule string) string {
	if rule == "" {
		return class
	}
	return class + " (" + term.Clean(strings.TrimPrefix(rule, class+" "), 200) + ")"
}

func printFacts(t term.Table, in *answer.Page) {
	p := in.KnownPage
	t.Row("  state", stateText(in))
	if text := waitingText(&p.Obstacle); text != "" {
		t.Row("  waits for", text)
	}
	if p.Answered != nil {
		t.Row("  answer", p.Answered.Answer+": "+ruleText(p.Answered))
	}
	if p.Probe != nil {
		t.Row("  compared with", probeText(p.Probe))
	}
	depth := "none"
	if p.Depth != nil {
		depth = fmt.Sprint(*p.Depth)
	}
	if p.Seed {
		depth += " (a seed)"
	}
	t.Row("  depth", depth)
	if p.Own != nil && !*p.Own {
		t.Row("  named by", "other hosts only")
	}
	if p.Title != "" {
		t.Row("  title", term.Clean(p.Title, 300))
	}
	if p.PageType != "" {
		t.Row("  page type", term.Clean(p.PageType, 100))
	}
	for _, f := range p.Facts {
		t.Row("  "+term.Clean(f.Name, 60), term.Clean(f.Value, 300))
	}
	printTrouble(t, in)
	for _, form := range p.Forms {
		t.Row("  seen as", term.ShownHost(form, 2048))
	}
	for i, to := range p.Redirects {
		leads := "  leads to"
		if to == in.URL || slices.Contains(p.Redirects[:i], to) {
			leads = "  back to"
		}
		t.Row(leads, term.ShownHost(to, 2048))
	}
	met := fmt.Sprintf("%s in run #%d", p.DiscoveredAt.Format(time.RFC3339), p.FirstRun)
	if p.Referrer != "" {
		met += ", on " + term.ShownHost(p.Referrer, 2048)
	}
	t.Row("  first met", met)
}

// ruleText says by which rule an answer was recognised.
func ruleText(a *answer.Answered) string {
	text := fmt.Sprintf("%s (rule %s", a.Sign, term.Clean(a.Rule, 60))
	if a.Date != "" {
		text += " of " + a.Date + "; " + a.Source
	}
	return text + ")"
}

// probeText says what a host answered to a request for a page that does not exist.
func probeText(p *answer.MissingProbe) string {
	parts := []string{term.ShownHost(p.URL, 300) + ":"}
	switch {
	case p.Wall:
		parts = append(parts, "a wall")
	case p.Status == 0:
		parts = append(parts, "no answer")
	default:
		parts = append(parts, fmt.Sprint(p.Status))
	}
	if p.Target != "" {
		parts = append(parts, "to "+term.ShownHost(p.Target, 300))
	}
	if p.Title != "" {
		parts = append(parts, strconv.Quote(term.Clean(p.Title, 200)))
	}
	if p.Scripts {
		parts = append(parts, "(needs scripts)")
	}
	if p.At != nil {
		parts = append(parts, "at "+p.At.Format(time.RFC3339))
	}
	return strings.Join(parts, " ")
}

// stateText says which state a page has, and why.
func stateText(in *answer.Page) string {
	p := in.KnownPage
	if p.Fetching != nil {
		return p.State + ", since " + p.Fetching.Format(time.RFC3339)
	}
	if p.Error == "" {
		return p.State
	}
	text := p.State + ": " + term.Clean(p.Error, 300)
	if p.Rule != p.Error && p.Rule != in.ClassRule {
		text += " (" + term.Clean(p.Rule, 256) + ")"
	}
	return text
}

// printTrouble prints the verdict of robots.txt, and the host's trouble.
func printTrouble(t term.Table, in *answer.Page) {
	trouble := term.Clean(in.Trouble, 300) + againText(in.AgainAt)
	if why, robots := strings.CutPrefix(trouble, "robots.txt "); robots && in.Robots == nil {
		t.Row("  robots.txt", why)
		return
	}
	t.Row("  robots.txt", robotsText(in))
	if trouble != "" {
		t.Row("  host", trouble)
	}
}

// againText says when a host is requested again, unless it is not.
func againText(at *time.Time) string {
	if at == nil || time.Until(*at) <= 0 {
		return ""
	}
	return ", again in " + answer.RestText(time.Until(*at))
}

func robotsText(in *answer.Page) string {
	v := in.Robots
	switch {
	case v == nil && in.KnownPage != nil && in.Why == answer.RobotsAwaited:
		return "requested, no answer yet"
	case v == nil && in.KnownPage != nil && in.Imported:
		return "not requested: the run has read archives"
	case v == nil:
		return "not requested yet"
	case v.Line > 0 && v.Allowed:
		return fmt.Sprintf("allows it (line %d: %s)", v.Line, term.Clean(v.Rule, 200))
	case v.Line > 0:
		return fmt.Sprintf("forbids it (line %d: %s)", v.Line, term.Clean(v.Rule, 200))
	}
	return "allows it: " + v.Why
}

func printWays(w io.Writer, p *answer.KnownPage) {
	for _, way := range p.Paths {
		if len(way.Path) < 2 {
			continue
		}
		fmt.Fprintln(w)
		Path(w, way)
	}
}

func printLinksIn(w io.Writer, in *answer.LinksIn, place string) {
	fmt.Fprintf(w, "\nlinks in%s: %s\n", chosenPlace(place), term.Commas(in.Total))
	if len(in.Places) > 1 {
		printPlaces(w, in.Places)
	}
	links := make([]answer.PageLink, len(in.Links))
	for i, l := range in.Links {
		if links[i] = l.PageLink; l.SiteWide {
			links[i].Place += ", site-wide"
		}
	}
	printLinks(w, links, in.Total)
}

func printLinksOut(w io.Writer, out *answer.LinkList[answer.PageLink]) {
	fmt.Fprintf(w, "\nlinks out: %s\n", term.Commas(out.Total))
	printLinks(w, out.Links, out.Total)
	if out.Left > 0 {
		fmt.Fprintf(w, "  and %s left out\n", term.Count(out.Left, "link", "links"))
	}
}

// printLinks prints the first of the links of a page in one direction.
func printLinks(w io.Writer, links []answer.PageLink, total int) {
	t := term.NewTable(w)
	for _, l := range links {
		text := linkText(l.Kind, l.Rel, l.Place, l.Anchor)
		if l.Rendered {
			text += " by scripts"
		}
		t.Row("  "+term.ShownHost(l.URL, 200), l.State, text)
	}
	_ = t.Flush() // writing to a builder cannot fail
	if n := total - len(links); n > 0 {
		fmt.Fprintf(w, "  and %s more (--limit)\n", term.Commas(n))
	}
}

func printVisits(w io.Writer, p *answer.KnownPage) error {
	fmt.Fprintf(w, "\nvisits: %s\n", term.Commas(len(p.Visits)+p.OlderVisits))
	t := term.NewTable(w)
	for _, v := range p.Visits {
		t.Row(fmt.Sprintf("  run #%d", v.Run), v.At.Format(time.RFC3339), v.State, visitText(v))
	}
	if p.OlderVisits > 0 {
		t.Row(fmt.Sprintf("  and %s older", term.Commas(p.OlderVisits)))
	}
	return t.Flush()
}

func visitText(v answer.Visit) string {
	var parts []string
	if v.Kept {
		parts = append(parts, "kept, without a request")
	}
	if v.Answer != "" {
		parts = append(parts, fmt.Sprintf("a wall (%d, %s)", v.AnswerCode, term.Clean(v.AnswerRule, 60)))
	}
	switch {
	case v.Answer != "" && v.State != "failed":
		parts = append(parts, "so an earlier visit counts")
		fallthrough
	case v.Kept:
		return strings.Join(parts, ", ")
	}
	if v.Status != 0 {
		parts = append(parts, fmt.Sprint(v.Status))
	}
	if v.Error != "" {
		parts = append(parts, term.Clean(v.Error, 200))
	}
	if v.ContentType != "" {
		parts = append(parts, term.Clean(v.ContentType, 80))
	}
	if v.Length >= 0 && v.Status != 0 {
		parts = append(parts, term.Count(int(v.Length), "byte", "bytes"))
	}
	if v.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%s, %d ms", term.Count(v.Requests, "request", "requests"), v.ResponseMS))
	}
	if v.NoIndex {
		parts = append(parts, "noindex")
	}
	if v.NoFollow {
		parts = append(parts, "nofollow")
	}
	if v.Preferences != "" {
		parts = append(parts, term.Clean(v.Preferences, 200))
	}
	if v.Unchanged {
		parts = append(parts, "unchanged")
	}
	if v.Rendered != "" {
		parts = append(parts, fmt.Sprintf("rendered with %s: %s",
			term.Count(v.RenderAsked, "request", "requests"), v.Rendered))
	} else if v.Shell != "" {
		parts = append(parts, "likely needs scripts: "+v.Shell)
	}
	return strings.Join(parts, ", ")
}

// waitingText says what the page waits for; empty: nothing.
func waitingText(w *answer.Obstacle) string {
	if w.Why == "" {
		return ""
	}
	text := term.Clean(w.Why, 300)
	if w.Since != nil {
		text += ", since " + w.Since.Format(time.RFC3339)
	}
	return text + againText(w.Until)
}
