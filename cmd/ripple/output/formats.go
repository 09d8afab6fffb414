package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/changes"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// A Format is one kind of output. A new one is an entry in formats; one that shows the graph is an
// entry in package graph. The desk offers formats that have an Offer.
type Format struct {
	Flag  string // of "ripple export"; empty: only the configuration can name it
	usage string
	Key   string // in the configuration; empty: only the flag can name it
	Path  func(*config.Config) string
	AtEnd bool          // is made at the end of a run; "ripple export" writes it only if its flag names it
	grows bool          // is a folder that is kept, and grows
	State bool          // is a state file
	Graph *graph.Format // shows the graph that flags select; nil: it does not
	Noun  string        // what it is: "a SQLite database"; empty: it has no name
	Offer desk.Format   // at the desk; zero: none

	// Check returns why a target must not be replaced. The error is [atomicfile.ErrForeign] if
	// Ripple did not write it.
	Check func(path string, force bool) error
	Write func(ctx context.Context, path string, s *survey.Survey, opts Options) error
}

// Formats returns the table of outputs.
func Formats() []Format {
	return append([]Format{
		{
			Flag: "sqlite", usage: "write a SQLite database to `FILE`", Noun: "a SQLite database",
			Key: "[output] database-path", Path: func(c *config.Config) string { return c.Output.DatabasePath },
			Offer: desk.Format{
				Name: "sqlite", Title: "SQLite", Ending: ".db",
				For: "every page, link and figure, for questions in SQL",
			},
			Check: Replaceable(sqlite.IsOurs),
			Write: func(ctx context.Context, path string, s *survey.Survey, opts Options) error {
				s, err := opts.Graph.survey(s)
				if err != nil {
					return err
				}
				return sqlite.Write(ctx, path, s, sqlite.Options{
					Check: opts.check, Force: opts.Force, Progress: opts.progress, Counted: opts.Graph.opts.Counted,
				})
			},
		},
		{
			Key: "[output] summary-path", Path: func(c *config.Config) string { return c.Output.SummaryPath },
			Noun:  "a summary",
			Offer: desk.Format{Name: "summary", Title: "Summary", For: "Markdown, to be cited", Ending: ".md"},
			Check: Replaceable(IsOurSummary),
			Write: func(ctx context.Context, path string, s *survey.Survey, opts Options) error {
				return atomicfile.Stream(ctx, path,
					func(w io.Writer) error { return summary.Write(w, s, term.ThisBuild().Version, opts.Graph.opts.Counted) })
			},
		},
		{
			Flag: "report", usage: "write the report of the run as JSON to `FILE`",
			AtEnd: true, Key: "[monitor] report-path",
			Path:  func(c *config.Config) string { return c.Monitor.ReportPath },
			Noun:  "a report",
			Check: Replaceable(func(head []byte) bool { return bytes.HasPrefix(head, []byte("{\n  \"ripple\":")) }),
			Write: func(ctx context.Context, path string, s *survey.Survey, _ Options) error {
				return atomicfile.Stream(ctx, path, func(w io.Writer) error { return answer.WriteReport(w, s) })
			},
		},
		pagesFormat(), waczFormat(),
	}, graphFormats()...)
}

// Replaceable returns a check of a target that is a file, by its beginning.
func Replaceable(ours func(head []byte) bool) func(string, bool) error {
	return func(path string, force bool) error { return atomicfile.CheckFile(path, force, ours) }
}

func IsOurSummary(head []byte) bool {
	return bytes.HasPrefix(head, []byte("# Sumi-Ripple Crawl Summary"))
}

// WriteAll writes the files that the configuration names, and returns their paths.
func WriteAll(ctx context.Context, s *survey.Survey, cfg *config.Config) ([]string, error) {
	var written []string
	opts := Options{Graph: NewGraphOptions()}
	for _, f := range Formats() {
		if f.Path == nil || f.Path(cfg) == "" {
			continue
		}
		path := f.Path(cfg)
		if err := f.Write(ctx, path, s, opts); err != nil {
			return written, fmt.Errorf("%s: %w", f.Key, err)
		}
		written = append(written, path)
	}
	return written, nil
}

// Refuse reports outputs that could not be written at the end of a long crawl: their folder is
// missing or not writable, or something is there that Ripple did not write.
func Refuse(cfg *config.Config) error {
	for _, f := range Formats() {
		if f.Path == nil || f.Path(cfg) == "" {
			continue
		}
		if err := f.refuse(f.Path(cfg), false); err != nil {
			return term.WrongConfig(fmt.Errorf("%s: %w", f.Key, err))
		}
	}
	return nil
}

// refuse returns why a target cannot or must not be written.
func (f *Format) refuse(path string, force bool) error {
	if f.grows || f.Graph != nil && f.Graph.Folder() {
		path = filepath.Clean(path) // a trailing slash would hide the parent folder
	}
	dir := filepath.Dir(disk.Behind(path))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s; create it", term.Shown(dir))
	}
	if !f.State && statefile.IsBolt(path) && !statefile.IsForeign(path) {
		return fmt.Errorf("%s is a state file, which no output replaces; name another file", term.Shown(path))
	}
	err := f.Check(path, force)
	if errors.Is(err, atomicfile.ErrForeign) {
		return f.foreign(path, err)
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil && f.grows {
		dir = path
	}
	if err := statefile.MayWrite(dir); err != nil {
		return fmt.Errorf("%w; make it writable or name another", err)
	}
	return nil
}

// RefuseNamed is refuse for a target on the command line, which --force may replace.
func (f *Format) RefuseNamed(path string, force bool) error {
	if path == "-" {
		return term.Usage("\"-\" does not mean stdout here; name a file, or write ./- for one of that name")
	}
	err := f.refuse(path, force)
	var foreign *foreignError
	if errors.As(err, &foreign) {
		return term.Usage("%s", foreign.named())
	}
	if err != nil {
		return term.Usage("%v", err)
	}
	return nil
}

// ChangesFormat returns the format of --gexf of "ripple diff".
func ChangesFormat() Format {
	return Format{Check: Replaceable(changes.IsOurs), Noun: "a GEXF file of changes"}
}
