package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A format is one way to write a survey down. Another format is one more entry
// in formats.
type format struct {
	flag  string // of "ripple export"; empty: only the configuration names it
	usage string
	key   string // in the configuration; empty: only the flag names it
	path  func(*config.Config) string
	atEnd bool                   // belongs to the end of a run: "ripple export" leaves it out
	ours  func(head []byte) bool // whether a file that begins so was written by Ripple
	write func(ctx context.Context, path string, s *survey.Survey, opts exportOptions) error
}

func formats() []format {
	return []format{
		{
			flag: "sqlite", usage: "write a SQLite database to `FILE`",
			key: "[output] database-path", path: func(c *config.Config) string { return c.Output.DatabasePath },
			ours: isOurDatabase,
			write: func(ctx context.Context, path string, s *survey.Survey, opts exportOptions) error {
				return sqlite.Write(ctx, path, s, sqlite.Options{Check: opts.check, Force: opts.force})
			},
		},
		{
			key: "[output] summary-path", path: func(c *config.Config) string { return c.Output.SummaryPath },
			ours: func(head []byte) bool { return bytes.HasPrefix(head, []byte(summaryTitle)) },
			write: func(_ context.Context, path string, s *survey.Survey, _ exportOptions) error {
				return writeWhole(path, func(w io.Writer) error { return summary.Write(w, s, thisBuild().Version) })
			},
		},
		{
			atEnd: true, key: "[monitor] report-path", path: func(c *config.Config) string { return c.Monitor.ReportPath },
			ours: func(head []byte) bool { return bytes.HasPrefix(head, []byte("{\n  \"ripple\":")) },
			write: func(_ context.Context, path string, s *survey.Survey, _ exportOptions) error {
				return writeWhole(path, func(w io.Writer) error { return writeReport(w, s) })
			},
		},
	}
}

const summaryTitle = "# Sumi-Ripple Crawl Summary"

// isOurDatabase looks for the application id in the header of a SQLite file.
func isOurDatabase(head []byte) bool {
	return len(head) >= 72 && bytes.HasPrefix(head, []byte("SQLite format 3\x00")) &&
		binary.BigEndian.Uint32(head[68:]) == sqlite.ApplicationID
}

// writeOutputs writes what the configuration names, and returns the paths.
func writeOutputs(ctx context.Context, s *survey.Survey, cfg *config.Config) ([]string, error) {
	var written []string
	for _, f := range formats() {
		if f.path == nil || f.path(cfg) == "" {
			continue
		}
		path := f.path(cfg)
		if err := f.write(ctx, path, s, exportOptions{}); err != nil {
			return written, fmt.Errorf("%s: %w", f.key, err)
		}
		written = append(written, path)
	}
	return written, nil
}

// refuseOutputs reports outputs that could not be written when a crawl of hours
// is over: without their folder, or in the place of what Ripple did not write.
func refuseOutputs(cfg *config.Config) error {
	for _, f := range formats() {
		if f.path == nil || f.path(cfg) == "" {
			continue
		}
		if err := f.refuse(f.path(cfg)); err != nil {
			return fmt.Errorf("%s: %w (%w)", f.key, err, errConfig)
		}
	}
	return nil
}

// refuse reports why a file cannot be written, or must not be.
func (f *format) refuse(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s; create it", shown(dir))
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is no file that can be replaced", shown(path))
	}
	if !f.ours(head[:n]) {
		return fmt.Errorf("%s exists and was not written by Ripple; move it away or name another file", shown(path))
	}
	return nil
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer f.Cleanup() // nothing is left of it once it has its name
	if err := write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
