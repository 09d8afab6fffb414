package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/robots"
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
the copy kept by the last crawl, and sends no request. The exit code is 0 if the URL is
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

func runRobots(ctx context.Context, a *app, opts robotsOptions, raw string) error {
	var v answer.RobotsVerdict
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
		err = show.Robots(a.stdout, v)
	}
	if err == nil && !v.Allowed {
		return term.ErrQuiet
	}
	return err
}

// robotsOfFile decides by a given robots.txt file.
func robotsOfFile(opts robotsOptions, files *statefile.Target, raw string) (answer.RobotsVerdict, error) {
	agent, rules, err := askerOf(opts.agent, files)
	if err != nil {
		return answer.RobotsVerdict{}, err
	}
	u, err := answer.ParseURL(rules, raw)
	if err != nil {
		return answer.RobotsVerdict{}, err
	}
	text, err := readRobots(opts.file)
	if err != nil {
		return answer.RobotsVerdict{}, term.Hint(err, "name a robots.txt with --file")
	}
	return answer.JudgeRobots(text, agent, u.Form), nil
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

// askerOf returns the crawler whose rules are read, the named one or that of a configuration, and
// the URL rules.
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

// robotsOfState decides by the copy that a crawl has stored.
func robotsOfState(ctx context.Context, a *app, opts robotsOptions, raw string) (answer.RobotsVerdict, error) {
	r, err := a.read(ctx)
	if err != nil {
		return answer.RobotsVerdict{}, err
	}
	defer r.Close()
	u, err := answer.ParseURL(r.Config().Rules(), raw)
	if err != nil {
		return answer.RobotsVerdict{}, err
	}
	v, ok, err := answer.Inspector{State: r}.AskRobots(u.Host(), u.Form, opts.agent)
	if err == nil && !ok {
		err = term.Hint(fmt.Errorf("there is no copy of robots.txt of %s", term.ShownHost(u.Host(), 253)),
			"read a file with --file, or crawl the host")
	}
	return v, err
}
