package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

type robotsOptions struct {
	agent string
	file  string
	json  bool
}

func (o *robotsOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.agent, "agent", "", "judge for the crawler `NAME` (default: crawler-name of the configuration)")
	f.StringVar(&o.file, "file", "", "read robots.txt from `FILE`; no state is needed (\"-\": stdin)")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newRobotsCommand(a *app) *cobra.Command {
	var opts robotsOptions
	cmd := &cobra.Command{
		Use:   "robots URL",
		Short: "Show what robots.txt says about a URL, and on which line",
		Long: `Show whether robots.txt allows a URL, and which line decides. It reads a file, or
the copy kept by the last crawl; no server is asked. The exit code is 0 if the URL is
allowed, 1 if it is not, and 2 if there is no verdict.`,
		Example: `  ripple robots https://example.com/search?q=a
  ripple robots https://example.com/a --file robots.txt --agent SumiRipple
  curl -s https://example.com/robots.txt | ripple robots https://example.com/a --file - --agent SumiRipple`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runRobots(cmd.Context(), a, opts, args[0]) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

// A robotsVerdict is what robots.txt decides for a URL.
type robotsVerdict struct {
	URL        string     `json:"url,omitempty"`
	Agent      string     `json:"agent"`
	Group      string     `json:"group"` // that applies; empty: none
	Allowed    bool       `json:"allowed"`
	Rule       string     `json:"rule"` // the line as written; empty: no rule matches
	Line       int        `json:"line"`
	Why        string     `json:"why,omitempty"` // where no line decides
	Status     int        `json:"status_code,omitempty"`
	FetchedAt  *time.Time `json:"robots_fetched_at,omitempty"`
	CrawlDelay float64    `json:"crawl_delay_seconds"`
}

func runRobots(ctx context.Context, a *app, opts robotsOptions, raw string) error {
	var v robotsVerdict
	var err error
	if opts.file != "" {
		v, err = robotsOfFile(opts, &a.named, raw)
	} else {
		v, err = robotsOfState(ctx, a, opts, raw)
	}
	if err != nil {
		return term.NoVerdict(err)
	}
	if opts.json {
		err = term.PrintJSON(a.stdout, v)
	} else {
		err = printRobots(a.stdout, v)
	}
	if err == nil && !v.Allowed {
		return term.ErrQuiet
	}
	return err
}

// robotsOfFile decides by a file that is given.
func robotsOfFile(opts robotsOptions, files *statefile.Target, raw string) (robotsVerdict, error) {
	agent, rules, err := askerOf(opts.agent, files)
	if err != nil {
		return robotsVerdict{}, err
	}
	u, err := parseURL(rules, raw)
	if err != nil {
		return robotsVerdict{}, err
	}
	text, err := readRobots(opts.file)
	if err != nil {
		return robotsVerdict{}, term.Hint(err, "name a robots.txt with --file")
	}
	return decide(robots.Parse(text, agent), agent, u.Form), nil
}

func readRobots(path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	return io.ReadAll(io.LimitReader(f, robots.MaxBytes))
}

// askerOf is the crawler that rules are read for, the one named or that of a configuration, and how it
// reads URLs.
func askerOf(name string, files *statefile.Target) (string, *weburl.Rules, error) {
	path := files.ConfigOrDefault()
	switch _, err := os.Stat(path); {
	case name != "" && files.Config == "":
		rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
		return name, rules, err
	case files.Config == "" && err != nil:
		return "", nil, term.Usage("for which crawler? name it with --agent, or its configuration with --config")
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return "", nil, err
	}
	return cmp.Or(name, cfg.UserAgent.CrawlerName), cfg.Rules(), nil
}

// robotsOfState decides by the copy that a crawl took.
func robotsOfState(ctx context.Context, a *app, opts robotsOptions, raw string) (robotsVerdict, error) {
	r, err := a.read(ctx)
	if err != nil {
		return robotsVerdict{}, err
	}
	defer r.Close()
	u, err := parseURL(r.Config().Rules(), raw)
	if err != nil {
		return robotsVerdict{}, err
	}
	v, ok, err := inspector{r}.robots(u.Host(), u.Form, opts.agent)
	if err == nil && !ok {
		err = term.Hint(fmt.Errorf("there is no copy of robots.txt of %s", term.ShownHost(u.Host(), 253)),
			"read a file with --file, or crawl the host")
	}
	return v, err
}

// robots decides by the copy of a host's robots.txt, if there is one.
func (r inspector) robots(host, form, agent string) (robotsVerdict, bool, error) {
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
		return robotsVerdict{}, false, err
	}
	v := decide(robots.Parse(kept.Text, agent), agent, form)
	v.Status, v.FetchedAt = kept.Status, timeOrNull(kept.At)
	if kept.Text == nil && kept.Status/100 != 2 {
		v.Why = fmt.Sprintf("there is no robots.txt (%d)", kept.Status)
	}
	return v, true, nil
}

func decide(rules *robots.Rules, agent, form string) robotsVerdict {
	v := rules.Check(weburl.PathQuery(form))
	delay, _ := rules.CrawlDelay()
	out := robotsVerdict{
		URL: form, Agent: agent, Group: rules.Agent(), Allowed: v.Allowed, Rule: v.Rule, Line: v.Line,
		CrawlDelay: delay.Seconds(),
	}
	if v.Line == 0 {
		out.Why = "no rule matches"
	}
	return out
}

func printRobots(w io.Writer, v robotsVerdict) error {
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
	group := "no group speaks to it"
	if v.Group != "" {
		group = fmt.Sprintf("the group of %q holds", v.Group)
	}
	t.Row("agent", fmt.Sprintf("%s (%s)", term.Clean(v.Agent, 100), group))
	if v.CrawlDelay > 0 {
		t.Row("delay", term.Gap(time.Duration(v.CrawlDelay*float64(time.Second))))
	}
	if v.FetchedAt != nil {
		t.Row("copy", fmt.Sprintf("of %s, status %d", v.FetchedAt.Format(time.RFC3339), v.Status))
	}
	return t.Flush()
}

// parseURL reads a URL that a person wrote.
func parseURL(rules *weburl.Rules, raw string) (weburl.URL, error) {
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

// completed is what a person wrote, with the scheme if it begins with a host: a name with
// a dot in it, and perhaps a port.
func completed(raw string) string {
	authority, _, _ := strings.Cut(raw, "/")
	host, port, _ := strings.Cut(authority, ":")
	if strings.Contains(host, ".") && strings.Trim(port, "0123456789") == "" {
		return "https://" + raw
	}
	return raw
}
