package command

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A brokenForm is the form in which broken links are printed.
type brokenForm struct {
	csv, json, junit bool
	limit            term.Limit
	archived         []string // indexes of web archives
}

func (o *brokenForm) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.csv, "csv", false, "print CSV, one row for each link")
	f.BoolVar(&o.json, "json", false, "print JSON, one object for each link")
	f.BoolVar(&o.junit, "junit", false, "print a JUnit report, one failed test for each target")
	term.AddLimit(f, &o.limit, 5, "pages that link to a target")
}

func (o *brokenForm) check() error {
	switch {
	case o.csv && o.json:
		return term.Usage("--csv and --json exclude each other; use one of them")
	case o.junit && (o.csv || o.json):
		return term.Usage("--junit excludes --csv and --json; use one of them")
	}
	return nil
}

// forPrograms writes broken links, and after them those to walled pages, in the chosen form for programs. It returns
// false if none was chosen.
func (o *brokenForm) forPrograms(w io.Writer, links, walled []broken.Link) (bool, error) {
	all, archived := slices.Concat(links, walled), len(o.archived) > 0
	switch {
	case o.csv:
		return true, answer.WriteBroken(answer.NewCSVRows(w, answer.BrokenColumns(archived)), all, archived)
	case o.json:
		return true, answer.WriteBroken(answer.NewJSONRows(w, answer.BrokenColumns(archived)), all, archived)
	case o.junit:
		return true, answer.WriteJUnit(w, broken.ByTarget(links), broken.ByTarget(walled), int(o.limit))
	}
	return false, nil
}

type brokenOptions struct {
	brokenForm
	by     string
	origin string
	only   string
}

func newBrokenCommand(a *app) *cobra.Command {
	var opts brokenOptions
	cmd := &cobra.Command{
		Use:   "broken",
		Short: "List the links that lead nowhere",
		Long: `List the links whose target is dead, has failed or cannot be reached: each target once,
with the number of pages that link to it and the first of them with their anchors. The
target that most pages link to comes first. A page with a status of success that shows
what its host shows for pages that do not exist is broken, too (soft404). A page that
robots.txt forbids is not known to be broken. Nor is one that shows a wall to crawlers;
such pages are listed last. The exit code is 1 if there are any broken links.

With --archived each target is listed with the capture that is nearest in time to the
visit that found it broken, if the index of a web archive has one of a page (not of an
error). --csv and --json then have the columns archived_at, archived_url, archived_file
and archived_offset.

"ripple check URL" finds them on a site without a configuration.`,
		Example: "  ripple broken\n  ripple broken --by origin --only dead_link\n" +
			"  ripple broken --origin example.org --csv > july.csv\n" +
			"  grep -vxFf june.csv july.csv   # what is new since the list of June\n" +
			"  ripple broken --junit > broken.xml\n" +
			"  ripple broken --archived my-archive.cdxj",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBroken(cmd.Context(), a, opts) },
	}
	cmd.Flags().StringVar(&opts.by, "by", "target", "group the links by `target|origin`")
	cmd.Flags().StringVar(&opts.origin, "origin", "", "only links on pages of the origin `DOMAIN`")
	cmd.Flags().StringVar(&opts.only, "only", "", "only links to `dead_link|failed|unreachable|soft404` pages")
	opts.addFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&opts.archived, "archived", nil,
		"look for captures of the targets in the CDXJ index `FILE`, plain or gzip;\nmay be repeated")
	return cmd
}

func runBroken(ctx context.Context, a *app, opts brokenOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := opts.hasOrigin(r.Survey); err != nil {
		return err
	}
	var walled []broken.Link
	links, err := term.Finding(a.Voice, "looking for broken links", func() (links []broken.Link, err error) {
		links, walled, err = broken.Find(r.Survey)
		return links, err
	})
	if err != nil {
		return err
	}
	chosen := broken.Choice{Origin: opts.origin, State: opts.only}
	links, walled = chosen.Of(links), chosen.OfWalled(walled)
	if err := findCaptures(ctx, a.Voice, r.Survey, opts.archived, slices.Concat(links, walled)); err != nil {
		return err
	}
	written, err := opts.forPrograms(a.stdout, links, walled)
	if !written && err == nil {
		err = opts.print(a, r.Survey, links, walled)
	}
	if err == nil && len(links) > 0 {
		return term.ErrQuiet
	}
	return err
}

// print prints broken links for people, and apart from them the walled targets.
func (o *brokenOptions) print(a *app, s *survey.Survey, links, walled []broken.Link) (err error) {
	switch {
	case len(links) == 0:
		err = toldNone(a.Voice, s)
	case o.by == "origin":
		err = show.Broken(a.stdout, links)
	default:
		err = show.BrokenTargets(a.stdout, broken.ByTarget(links), int(o.limit))
	}
	if err != nil {
		return err
	}
	return printWalled(a.stdout, walled, int(o.limit))
}

// printWalled prints the targets that show a wall, if there are any.
func printWalled(w io.Writer, walled []broken.Link, limit int) error {
	if len(walled) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\nnot known to be broken, because they show a wall to crawlers:\n"); err != nil {
		return err
	}
	return show.BrokenTargets(w, broken.ByTarget(walled), limit)
}

func (o *brokenOptions) check() error {
	if o.by != "target" && o.by != "origin" {
		return term.Usage("--by is %q; it must be \"target\" or \"origin\"", term.Clean(o.by, 40))
	}
	switch o.only {
	case "", schema.DeadLink.String(), schema.Failed.String(), schema.Unreachable.String(), schema.AnswerSoft404.String():
	default:
		return term.Usage("--only is %q; it must be \"dead_link\", \"failed\", \"unreachable\" or \"soft404\"",
			term.Clean(o.only, 40))
	}
	return o.brokenForm.check()
}

// hasOrigin returns an error if there is no origin of the chosen name.
func (o *brokenOptions) hasOrigin(s *survey.Survey) error {
	var names []string
	for _, origin := range s.Scope().Origins() {
		if origin.Name == o.origin {
			return nil
		}
		names = append(names, origin.Name)
	}
	if o.origin == "" {
		return nil
	}
	const most = 10
	more := ""
	if len(names) > most {
		names, more = names[:most], ", ..."
	}
	return term.Usage("there is no origin %s; the origins are %s%s", term.Shown(term.Clean(o.origin, 253)),
		term.Clean(strings.Join(names, ", "), 1000), more)
}

// toldNone reports that no link is broken, and how many links there are.
func toldNone(v *term.Voice, s *survey.Survey) error {
	counts, err := s.Counts()
	if err == nil {
		v.Say("no broken links among " + term.Commas(counts.Links))
	}
	return err
}
