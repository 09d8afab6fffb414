package serve

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// OpenDesk opens the desk of a state file. cfg is the path of its configuration; empty: none.
func OpenDesk(path, cfg string, m config.Monitor, log *slog.Logger) (*desk.Desk, error) {
	reader := &desk.Reader{Command: func(socket string) (*exec.Cmd, error) { return readerCommand(path, socket) }}
	live := &LiveCrawl{Client: &control.Client{State: path}, reader: reader}
	side := &deskSide{live, newDeciding(cfg)}
	d, err := desk.Listen(desk.Options{
		Monitor: m, Routes: deskRoutes(side), Live: live, Reader: reader, Exports: deskExports(path), Metrics: live.metrics,
		Version: term.ThisBuild().Version, Log: log,
	})
	if err != nil {
		return nil, term.Usage("%v", err)
	}
	return d, nil
}

// MayServe returns an error for a file that Ripple did not write, and for a folder without state
// files. The first question finds out which of those files are shards.
func MayServe(path string) error {
	if err := statefile.MustExist(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return statefile.Advise(path, fmt.Errorf("%s: %w", term.Shown(path), statefile.WithoutPath(err)))
	}
	bolt, err := statefile.HasMark(path)
	switch {
	case err != nil:
		return statefile.Advise(path, fmt.Errorf("%s: %w", term.Shown(path), err))
	case info.Mode().IsRegular() && !bolt:
		return statefile.Advise(path, fmt.Errorf("%s: %w", term.Shown(path), kv.ErrForeign))
	case info.IsDir():
		entries, err := os.ReadDir(path)
		file := func(e os.DirEntry) bool { return statefile.IsBolt(filepath.Join(path, e.Name())) }
		if err == nil && !slices.ContainsFunc(entries, file) {
			return statefile.NoShards(path)
		}
		return err
	}
	return nil
}
