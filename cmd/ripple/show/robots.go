package show

import (
	"fmt"
	"io"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// Robots prints a verdict of robots.txt and the line that decides.
func Robots(w io.Writer, v answer.RobotsVerdict) error {
	word := "disallowed"
	if v.Allowed {
		word = "allowed"
	}
	t := term.NewTable(w)
	t.Row(word, term.ShownHost(v.URL, 2048))
	if v.Line > 0 {
		t.Row("rule", term.Clean(v.Rule, 256))
		t.Row("line", v.Line)
	} else {
		t.Row("why", v.Why)
	}
	group := "no group applies"
	if v.Group != "" {
		group = fmt.Sprintf("the group for %q applies", v.Group)
	}
	t.Row("agent", fmt.Sprintf("%s (%s)", term.Clean(v.Agent, 100), group))
	if v.CrawlDelay > 0 {
		t.Row("delay", term.Gap(time.Duration(v.CrawlDelay*float64(time.Second))))
	}
	if v.WebPage {
		t.Row("note", "robots.txt is a web page; the rules in it hold")
	}
	if v.Preferences != "" {
		t.Row("use", term.Clean(v.Preferences, 1000))
	}
	for _, s := range v.Statements {
		note := "elsewhere"
		switch {
		case s.Applies:
			note = "applies"
		case !v.Allowed:
			note = "not requested"
		}
		t.Row(fmt.Sprintf("line %d", s.Line), fmt.Sprintf("%s: %s", note, term.Clean(s.Written, 600)))
	}
	if v.FetchedAt != nil {
		t.Row("copy", fmt.Sprintf("of %s, status %d", v.FetchedAt.Format(time.RFC3339), v.Status))
	}
	return t.Flush()
}
