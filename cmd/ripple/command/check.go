package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// wall is why a page behind a wall was not checked.
const wall = "the server wants proof that it answers a browser"

type checkOptions struct {
	brokenForm
	maxPages int
	contact  string
}

func newCheckCommand(a *app) *cobra.Command {
	var opts checkOptions
	cmd := &cobra.Command{
		Use:   "check URL...",
		Short: "Find the broken links of a site, without a configuration",
		Long: `Crawl the site of each URL to the end, request each page elsewhere that it links to
once, and print broken links as they are found. On pages of the site itself, the
fragments of links (#id) are checked as well. robots.txt is obeyed, and each host gets
one request a second at most, as in "ripple crawl".

The state is kept in a temporary folder, which is removed at the end. With --state it is
kept, an interrupted check is resumed by the same command, and "ripple broken",
"inspect" and "serve" answer questions about it. With --config the settings of a
configuration apply, such as [network], [user-agent], [politeness] and its blacklist,
but not its origins.

The exit code is 0 if nothing is broken, 1 if there are broken links, 2 after wrong use,
and 3 if none was found and the check is not complete: --max-pages was reached, a host
asks Ripple to wait for too long, the site could not be read, or a page of it is behind
a wall. Pages elsewhere behind a wall are listed apart, and skipped tests with --junit.
They do not change the exit code; nor do pages that robots.txt forbids, or whose servers
ask for payment.`,
		Example: "  ripple check https://example.com/\n" +
			"  ripple check example.com --contact me@example.com --csv > broken.csv\n" +
			"  ripple check https://example.com/ --state check.bolt --max-pages 500\n" +
			"  ripple check https://example.com/ --junit > links.xml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&opts.maxPages, "max-pages", 10_000,
		"visit at most `N` pages, those elsewhere included; 0: no limit")
	cmd.Flags().StringVar(&opts.contact, "contact", "",
		"tell servers who is responsible: a `URL|EMAIL`; sites may block crawlers\nthat name nobody")
	return cmd
}

func runCheck(ctx context.Context, a *app, opts checkOptions, args []string) error {
	if err := opts.check(); err != nil {
		return err
	}
	if opts.maxPages < 0 {
		return term.Usage("--max-pages is %d; it must be 0 or more", opts.maxPages)
	}
	urls, err := sitesOf(args)
	if err != nil {
		return err
	}
	found := io.Writer(a.stdout)
	if opts.csv || opts.json || opts.junit {
		found = nil
	}
	r, err := session.Check(ctx, a.Voice, found, session.CheckOptions{
		Config: a.named.Config, URLs: urls, State: a.named.State, MaxPages: opts.maxPages, Contact: opts.contact,
	})
	if r != nil {
		err = errors.Join(err, opts.print(a, r))
	}
	var sig term.SignalError
	switch {
	case err != nil && (term.IsUserError(err) || errors.As(err, &sig)):
		return err
	case err != nil:
		return term.Unfinished(err)
	case len(r.Links) > 0:
		return term.ErrQuiet
	case len(r.Unread) > 0:
		return term.Unfinished(fmt.Errorf("there was nothing to check: %s", strings.Join(r.Unread, "; ")))
	case r.Waiting+r.Resting+r.Walled > 0:
		return term.Unfinished(errors.New("the check is not complete"))
	}
	return nil
}

// sitesOf returns the canonical forms of the URLs of a check.
func sitesOf(args []string) (urls []string, err error) {
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		return nil, err
	}
	for _, raw := range args {
		if _, err := os.Stat(raw); err == nil {
			return nil, term.Usage("%s is a file, not a URL; name a configuration with --config", term.Shown(raw))
		}
		switch scheme, rest, found := strings.Cut(raw, "://"); {
		case found && strings.EqualFold(scheme, "http"):
			return nil, term.Usage("%s: Ripple requests pages over https only; write https://%s", term.Clean(raw, 200),
				term.Clean(rest, 200))
		case found && strings.Contains(firstPart(rest), "@"), !found && strings.Contains(firstPart(raw), "@"):
			return nil, term.Usage("a URL with a user name or password cannot be checked; write it without")
		}
		u, err := answer.ParseURL(rules, raw)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(urls, u.Form) {
			urls = append(urls, u.Form)
		}
	}
	return urls, nil
}

// firstPart returns what precedes the path, query and fragment of a URL without a scheme.
func firstPart(s string) string {
	if i := strings.IndexAny(s, "/?#\\"); i >= 0 {
		return s[:i]
	}
	return s
}

// print prints the result: broken links for programs, or what was not printed while they were found.
func (o *checkOptions) print(a *app, r *session.Checked) error {
	written, err := o.forPrograms(a.stdout, r.Links, r.Skipped)
	groups := broken.ByTarget(r.Links)
	several := groups // the first ones
	if i := slices.IndexFunc(groups, func(g broken.Group) bool { return len(g.Links) == 1 }); i >= 0 {
		several = groups[:i]
	}
	if !written && err == nil && len(several) > 0 {
		fmt.Fprintln(a.stdout, "\nlinked from several pages:")
		err = show.BrokenTargets(a.stdout, several, int(o.limit))
	}
	if !written && err == nil {
		err = printWalled(a.stdout, r.Skipped, int(o.limit))
	}
	if err != nil {
		return err
	}
	text := "no broken links"
	if n := len(r.Links); n > 0 {
		text = fmt.Sprintf("%s to %s", term.Count(n, "broken link", ""), term.Count(len(groups), "target", ""))
	}
	a.Voice.Tell(term.Event("checked", fmt.Sprintf("%s among %s on %s", text, term.Count(r.Total, "link", ""),
		term.Count(r.Pages, "page", "")), "broken", len(r.Links), "targets", len(groups), "links", r.Total, "pages", r.Pages))
	for _, rest := range []struct {
		n             int
		one, many, of string
	}{
		{r.Forbidden, "page was not requested:", "pages were not requested:", "robots.txt forbids it"},
		{r.Unpaid, "page was not read:", "pages were not read:", "the server asks for payment"},
		{r.Walled, "page of the site was not read:", "pages of the site were not read:", wall},
		{r.Outside, "page was not checked:", "pages were not checked:", wall},
		{r.Resting, "page was not checked:", "pages were not checked:", "the host asks Ripple to wait"},
		{r.Waiting, "page was not checked:", "pages were not checked:", o.whyCut(r)},
		{r.Unknown, "fragment was not checked:", "fragments were not checked:",
			"the ids of the page were not read, or are too many"},
		{r.Earlier, "page was visited before the check was resumed:", "pages were visited before the check was resumed:",
			"a power cut took the fragments of their links"},
	} {
		if rest.n > 0 {
			a.Voice.Tell(term.Event("not checked", "  "+term.Count(rest.n, rest.one, rest.many)+" "+rest.of, "count", rest.n,
				"reason", rest.of))
		}
	}
	return nil
}

// whyCut says why pages wait, and how to visit them.
func (o *checkOptions) whyCut(r *session.Checked) string {
	if !r.MaxPages {
		return "the check was stopped; with --state, the same command resumes it"
	}
	return fmt.Sprintf("--max-pages is %d; a larger one checks more", o.maxPages)
}
