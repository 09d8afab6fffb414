package show

import (
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Status shows the status of a crawl: in place on a terminal, as log lines
// elsewhere.
type Status struct {
	screen *term.Screen
	log    *slog.Logger
	inTerm bool
	facts  bool // log lines are for programs
	told   time.Time
}

// NewStatus returns a status that is shown on a terminal, or else logged.
func NewStatus(v *term.Voice, log *slog.Logger) *Status {
	return &Status{
		screen: v.Stderr, log: log, told: time.Now(),
		facts: v.LogFormat == "json", inTerm: v.Stderr.Term && !v.Quiet && v.LogFormat == "text",
	}
}

// See shows the current status of a crawl.
func (v *Status) See(s census.Status) {
	answer.Tell(&s)
	if v.inTerm {
		v.screen.Show(StatusLines(&s))
		return
	}
	if time.Since(v.told) >= term.TellEvery {
		v.told = time.Now()
		attrs := []any{"status", s} // as in "ripple stats --json"
		if !v.facts {
			attrs = statusAttrs(&s)
		}
		v.log.Info("progress", attrs...)
	}
}

// End removes the status from the terminal.
func (v *Status) End() {
	if v.inTerm {
		v.screen.Show(nil)
	}
}

// StatusLines formats a status for people.
func StatusLines(s *census.Status) []string {
	head := fmt.Sprintf("run #%d · %s", s.RunID, seconds(s.Elapsed))
	if s.Depth >= 0 {
		head += fmt.Sprintf(" · depth %d of %d", s.Depth, s.MaxDepth)
	}
	waits := ""
	switch {
	case s.Condition.Cause != census.NoCause:
		head = s.Condition.Label + " · " + head
		waits = "  " + s.Waits
	case s.Condition.Name != "running":
		head += " · " + s.Condition.Label
	}
	lines := []string{head}
	if waits != "" {
		lines = append(lines, waits)
	}
	lines = append(lines,
		fmt.Sprintf("  pages   %s done · %s to visit%s%s", term.Commas(s.Pages), term.Commas(s.PagesToVisit), rateText(s),
			renderedText(s)),
		fmt.Sprintf("  asked   %s · %s fetching", term.Count(s.Requests, "request", ""), term.Commas(s.Fetching)),
		fmt.Sprintf("  hosts   %s active · %s waiting · %s suspended%s",
			term.Commas(s.Hosts.Active), term.Commas(s.Hosts.Waiting), term.Commas(s.Hosts.Suspended), givenUp(s.Hosts.GivenUp)),
	)
	if text := ErrorText(s.Errors); text != "" {
		lines = append(lines, "  errors  "+text)
	}
	if text := etaText(&s.Left); text != "" {
		lines = append(lines, "  ETA     "+text)
	}
	for _, text := range troubleLines(s) {
		lines = append(lines, "  trouble "+text)
	}
	if s.Waits != "" && waits == "" {
		lines = append(lines, "  "+s.Waits)
	}
	return lines
}

// rateText returns the rate; empty: nothing can be fetched.
func rateText(s *census.Status) string {
	if !s.Condition.Fetches {
		return ""
	}
	return fmt.Sprintf(" · %.1f/s", s.PagesPerSecond)
}

// renderedText says how many of the pages were rendered, and for how many that failed.
func renderedText(s *census.Status) (text string) {
	if s.Rendered > 0 {
		text = " · " + term.Commas(s.Rendered) + " rendered"
	}
	if s.Unrendered > 0 {
		text += " · " + term.Commas(s.Unrendered) + " not rendered"
	}
	return text
}

// troubleLines names the hosts that the crawl waits for, and why.
func troubleLines(s *census.Status) []string {
	var lines []string
	for _, t := range s.Troubles {
		lines = append(lines, term.ShownHost(t.Domain, 60)+": "+troubleText(&t))
	}
	if n := s.Troubled - len(lines); n > 0 && len(lines) > 0 {
		lines[len(lines)-1] += "; and " + term.Count(n, "further host", "")
	}
	return lines
}

// troubleText says why a crawl waits for a host, or has stopped waiting for it.
func troubleText(t *census.Trouble) string {
	switch {
	case t.Over:
		return term.Clean(t.Why, 200)
	case t.Held > 0:
		return answer.HeldText(term.Clean(t.Why, 200) + " " + seconds(t.Held) + " ago")
	case t.Silent > 0 && t.Why != "":
		return fmt.Sprintf("%s, requested again %s ago", term.Clean(t.Why, 200), seconds(t.Silent))
	case t.Silent > 0 && t.Robots:
		return "robots.txt was requested " + seconds(t.Silent) + " ago, no answer yet"
	case t.Silent > 0:
		return "requested " + seconds(t.Silent) + " ago, no answer yet"
	}
	return term.Clean(t.Why, 200) + ", again in " + answer.RestText(Duration(t.Again))
}

// Duration converts seconds; it returns the longest duration if they overflow.
func Duration(seconds float64) time.Duration {
	if n := seconds * float64(time.Second); n < math.MaxInt64 {
		return time.Duration(n)
	}
	return math.MaxInt64
}

func seconds(n float64) string { return term.Span(Duration(n)) }

func givenUp(n int) string {
	if n == 0 {
		return ""
	}
	return " · " + term.Commas(n) + " given up"
}

// ErrorText lists errors by kind, most frequent first.
func ErrorText(errors map[string]int) string {
	kinds := slices.Sorted(maps.Keys(errors))
	slices.SortStableFunc(kinds, func(a, b string) int { return errors[b] - errors[a] })
	var parts []string
	for _, kind := range kinds {
		if errors[kind] > 0 {
			parts = append(parts, errorWords(kind, errors[kind]))
		}
	}
	return strings.Join(parts, " · ")
}

// errorWords formats the number of errors of a kind.
func errorWords(kind string, n int) string {
	switch kind {
	case schema.ErrorDeadLink:
		return term.Count(n, "dead link", "")
	case schema.ErrorTimeout:
		return term.Count(n, "time-out", "")
	case schema.ErrorRefused:
		return term.Commas(n) + " refused"
	case schema.ErrorDenied:
		return term.Commas(n) + " denied by robots.txt"
	case schema.ErrorRobots:
		return term.Commas(n) + " without an available robots.txt"
	}
	words := strings.NewReplacer("_", " ", "dns", "DNS", "tls", "TLS").Replace(kind)
	switch words[strings.LastIndexByte(words, ' ')+1:] {
	case "error", "failure", "redirect", "response", "reset":
		return term.Count(n, words, "")
	}
	return term.Commas(n) + " " + words
}

// etaText says how long the known pages will take, and which hosts determine that.
func etaText(s *census.Left) string {
	if s.ETA <= 0 {
		return ""
	}
	text := answer.RestText(Duration(s.ETA))
	if s.ETA >= 1 {
		text = "about " + text
	}
	if s.ETALimit != "" {
		return text + ", when the crawl stops: " + s.ETALimit
	}
	var hosts []string
	for _, h := range s.ETAHosts {
		if h.Seconds >= s.ETA/2 {
			hosts = append(hosts, fmt.Sprintf("%s (%s to visit)", term.ShownHost(h.Domain, 60), term.Commas(h.ToVisit)))
		}
	}
	if len(hosts) > 0 {
		text += ": " + strings.Join(hosts, ", ")
	}
	return text
}

func statusAttrs(s *census.Status) []any {
	var attrs []any
	if s.Condition.Name != "running" {
		attrs = append(attrs, "condition", s.Condition.Label)
	}
	attrs = append(attrs,
		"run", s.RunID, "done", s.Pages, "to_visit", s.PagesToVisit,
		"rate", fmt.Sprintf("%.1f/s", s.PagesPerSecond),
		"fetching", s.Fetching, "active", s.Hosts.Active, "hosts_waiting", s.Hosts.Waiting,
		"suspended", s.Hosts.Suspended, "depth", s.Depth,
	)
	if s.Rendered > 0 || s.Unrendered > 0 {
		attrs = append(attrs, "rendered", s.Rendered, "not_rendered", s.Unrendered)
	}
	if text := ErrorText(s.Errors); text != "" {
		attrs = append(attrs, "errors", text)
	}
	if text := etaText(&s.Left); text != "" {
		attrs = append(attrs, "eta", text)
	}
	if lines := troubleLines(s); len(lines) > 0 {
		attrs = append(attrs, "trouble", strings.Join(lines, "; "))
	}
	if s.Waits != "" {
		attrs = append(attrs, "waits", s.Waits)
	}
	return attrs
}

// Visited formats the number of pages that a run has requested, whatever the answer.
func Visited(n int) string { return term.Count(n, "page", "pages") + " visited" }

// CutLine says that an origin's host was cut: how many of its pages were processed, how many were
// not, and which key limited it.
func CutLine(h *survey.HostReport) string {
	name := term.ShownHost(h.Host.Name, 253)
	why := h.Coverage
	if h.Budget != "" {
		why = h.Budget
	}
	missing := term.Commas(h.Waiting) + " waiting"
	if h.Waiting == 0 {
		missing = term.Commas(h.KnownMissing) + " missing"
	}
	switch {
	case h.KnownMissing == 0 && h.LinksOmitted > 0: // as its coverage says
		return fmt.Sprintf("%s: %s, %s", name, term.Count(h.Processed, "page", "pages"), term.Clean(why, 200))
	case h.LinksOmitted > 0:
		missing += ", " + term.Count(h.LinksOmitted, "link", "links") + " left out"
	}
	return fmt.Sprintf("%s: %s, %s (%s)", name, term.Count(h.Processed, "page", "pages"), missing, term.Clean(why, 200))
}

// SiteLine says that not all hosts of a site are recorded, and which key limits them.
func SiteLine(s answer.CutSite) string {
	return fmt.Sprintf("%s: %s, %s to further ones left out (%s)", term.ShownHost(s.Site, 253),
		term.Count(s.Hosts, "host", "hosts"), term.Count(s.Overflow, "link", "links"), s.Limit)
}

// KeptText says how many pages a new run keeps without a request: those younger than min-age, and
// those that their answers declared fresh for longer.
func KeptText(young, fresh int, age string) string {
	text := term.Count(young, "page younger than "+age+" is kept", "pages younger than "+age+" are kept")
	if fresh > 0 {
		text += ", and " + term.Count(fresh, "older one that its server calls", "older ones that their servers call") +
			" fresh"
	}
	return text
}
