package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A RobotsVerdict is what robots.txt decides for a URL.
type RobotsVerdict struct {
	URL        string     `json:"url,omitempty"`
	Agent      string     `json:"agent"`
	Group      string     `json:"group"` // the group that applies; empty: none
	Allowed    bool       `json:"allowed"`
	Rule       string     `json:"rule"` // the line as written; empty: no rule matches
	Line       int        `json:"line"`
	Why        string     `json:"why,omitempty"` // if no line decides
	Status     int        `json:"status_code,omitempty"`
	FetchedAt  *time.Time `json:"robots_fetched_at,omitempty"`
	CrawlDelay float64    `json:"crawl_delay_seconds"`
	WebPage    bool       `json:"web_page"` // the file is HTML; its rules hold all the same

	Preferences string             `json:"preferences,omitempty"` // what the statements that apply say together
	Statements  []RobotsPreference `json:"statements,omitempty"`  // of the group, by line
}

// A RobotsPreference is a line of robots.txt about the use of pages.
type RobotsPreference struct {
	Line    int    `json:"line"`
	Written string `json:"written"`
	Applies bool   `json:"applies"` // to the URL; nothing is said about a URL that is not allowed
}

// AskRobots decides by the stored robots.txt of a host. The second result is false if there is
// none.
func (r Inspector) AskRobots(host, form, agent string) (RobotsVerdict, bool, error) {
	if agent == "" {
		agent = r.Config().UserAgent.CrawlerName
	}
	var kept schema.RobotsCopy
	ok := false
	err := r.Store.View(func(tx *kv.Tx) error {
		id, known, err := tx.Hosts.Lookup(host)
		if err != nil || !known {
			return err
		}
		kept, ok, err = tx.Hosts.Robots(id)
		return err
	})
	if err != nil || !ok {
		return RobotsVerdict{}, false, err
	}
	v := JudgeRobots(kept.Text, agent, form)
	v.Status, v.FetchedAt = kept.Status, timeOrNull(kept.At)
	if kept.Text == nil && kept.Status/100 != 2 {
		v.Why = fmt.Sprintf("there is no robots.txt (%d)", kept.Status)
	}
	return v, true, nil
}

// JudgeRobots returns what the text of a robots.txt decides for an agent and a URL.
func JudgeRobots(text []byte, agent, form string) RobotsVerdict {
	rules := robots.Parse(text, agent)
	v := rules.Check(weburl.PathQuery(form))
	delay, _ := rules.CrawlDelay()
	out := RobotsVerdict{
		URL: form, Agent: agent, Group: rules.Agent(), Allowed: v.Allowed, Rule: v.Rule, Line: v.Line,
		CrawlDelay: delay.Seconds(), WebPage: media.LooksLikeHTML(text),
	}
	if v.Line == 0 {
		out.Why = "no rule matches"
	}
	out.addStatements(rules, form)
	return out
}

// addStatements adds what robots.txt says about the use of pages.
func (v *RobotsVerdict) addStatements(rules *robots.Rules, form string) {
	var applying []robots.Statement
	if v.Allowed {
		applying = rules.Applying(weburl.PathQuery(form))
	}
	v.Preferences = preference.Applied(preference.Text(record.Statements(applying)...))
	for _, s := range rules.Statements() {
		one := record.Statements([]robots.Statement{s})
		v.Statements = append(v.Statements, RobotsPreference{
			Line: s.Line, Written: preference.Written(preference.Text(one...)), Applies: slices.Contains(applying, s),
		})
	}
}

// ParseURL parses a URL that a person typed.
func ParseURL(rules *weburl.Rules, raw string) (weburl.URL, error) {
	u, err := rules.Parse(completed(raw))
	switch {
	case err == nil:
		return u, nil
	case errors.Is(err, weburl.ErrTooLong):
		return u, term.Usage("%s: %v", term.Clean(raw, 100), err)
	}
	return u, term.Usage("%q is not a URL that can be crawled (%v); write it as https://example.com/page",
		term.Clean(raw, 200), err)
}

// completed adds the scheme to a typed URL that begins with a host: a name that contains a dot,
// with an optional port.
func completed(raw string) string {
	authority, _, _ := strings.Cut(raw, "/")
	host, port, _ := strings.Cut(authority, ":")
	if strings.Contains(host, ".") && strings.Trim(port, "0123456789") == "" {
		return "https://" + raw
	}
	return raw
}
