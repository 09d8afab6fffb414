package main

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
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// A format is one way to write a survey down. Another one is one more entry in
// formats; one that shows the graph is one more in package graph. The desk offers
// what has an offer.
type format struct {
	flag  string // of "ripple export"; empty: only the configuration names it
	usage string
	key   string // in the configuration; empty: only the flag names it
	path  func(*config.Config) string
	atEnd bool          // belongs to the end of a run: "ripple export" writes it only if its flag names it
	grows bool          // is a folder that stays, and gets more files
	state bool          // is a state file
	graph *graph.Format // shows the graph that flags select; nil: it does not
	noun  string        // what it writes: "a SQLite database"; empty: it has no name
	offer desk.Format   // at the desk; zero: none

	// check reports why a target must not be replaced, with [atomicfile.ErrForeign] if
	// Ripple did not write it.
	check func(path string, force bool) error
	write func(ctx context.Context, path string, s *survey.Survey, opts exportOptions) error
}

func formats() []format {
	return append([]format{
		{
			flag: "sqlite", usage: "write a SQLite database to `FILE`", noun: "a SQLite database",
			key: "[output] database-path", path: func(c *config.Config) string { return c.Output.DatabasePath },
			offer: desk.Format{
				Name: "sqlite", Title: "SQLite", Ending: ".db",
				For: "every page, link and figure, for questions in SQL",
			},
			check: replaceable(sqlite.IsOurs),
			write: func(ctx context.Context, path string, s *survey.Survey, opts exportOptions) error {
				s, err := opts.graph.survey(s)
				if err != nil {
					return err
				}
				return sqlite.Write(ctx, path, s, sqlite.Options{
					Check: opts.check, Force: opts.force, Progress: opts.progress, Counted: opts.graph.opts.Counted,
				})
			},
		},
		{
			key: "[output] summary-path", path: func(c *config.Config) string { return c.Output.SummaryPath },
			noun:  "a summary",
			offer: desk.Format{Name: "summary", Title: "Summary", For: "Markdown, to be cited", Ending: ".md"},
			check: replaceable(isOurSummary),
			write: func(ctx context.Context, path string, s *survey.Survey, opts exportOptions) error {
				return atomicfile.Stream(ctx, path,
					func(w io.Writer) error { return summary.Write(w, s, term.ThisBuild().Version, opts.graph.opts.Counted) })
			},
		},
		{
			flag: "report", usage: "write the report of the run as JSON to `FILE`",
			atEnd: true, key: "[monitor] report-path",
			path:  func(c *config.Config) string { return c.Monitor.ReportPath },
			noun:  "a report",
			check: replaceable(func(head []byte) bool { return bytes.HasPrefix(head, []byte("{\n  \"ripple\":")) }),
			write: func(ctx context.Context, path string, s *survey.Survey, _ exportOptions) error {
				return atomicfile.Stream(ctx, path, func(w io.Writer) error { return answer.WriteReport(w, s) })
			},
		},
		pagesFormat(),
	}, graphFormats()...)
}

// replaceable checks a target that is a file, by how it begins.
func replaceable(ours func(head []byte) bool) func(string, bool) error {
	return func(path string, force bool) error { return atomicfile.CheckFile(path, force, ours) }
}

func isOurSummary(head []byte) bool {
	return bytes.HasPrefix(head, []byte("# Sumi-Ripple Crawl Summary"))
}

// writeOutputs writes what the configuration names, and returns the paths.
func writeOutputs(ctx context.Context, s *survey.Survey, cfg *config.Config) ([]string, error) {
	var written []string
	opts := exportOptions{graph: newGraphOptions()}
	for _, f := range formats() {
		if f.path == nil || f.path(cfg) == "" {
			continue
		}
		path := f.path(cfg)
		if err := f.write(ctx, path, s, opts); err != nil {
			return written, fmt.Errorf("%s: %w", f.key, err)
		}
		written = append(written, path)
	}
	return written, nil
}

// refuseOutputs reports outputs that could not be written when a crawl of hours
// is over: without a folder that can be written into, or in the place of what Ripple did not write.
func refuseOutputs(cfg *config.Config) error {
	for _, f := range formats() {
		if f.path == nil || f.path(cfg) == "" {
			continue
		}
		if err := f.refuse(f.path(cfg), false); err != nil {
			return term.WrongConfig(fmt.Errorf("%s: %w", f.key, err))
		}
	}
	return nil
}

// refuse reports why a target cannot be written, or must not be.
func (f *format) refuse(path string, force bool) error {
	if f.grows || f.graph != nil && f.graph.Folder() {
		path = filepath.Clean(path) // what ends in a slash has no folder around it
	}
	dir := filepath.Dir(disk.Behind(path))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s; create it", term.Shown(dir))
	}
	if !f.state && statefile.IsBolt(path) && !statefile.IsForeign(path) {
		return fmt.Errorf("%s is a state file, which no output replaces; name another file", term.Shown(path))
	}
	err := f.check(path, force)
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

// refuseNamed is refuse for a target that the command line names, and that --force
// may replace.
func (f *format) refuseNamed(path string, force bool) error {
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
