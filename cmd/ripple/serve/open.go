package serve

import (
	"log/slog"
	"os/exec"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
)

// OpenDesk opens the desk of a state file, which a configuration names; empty: none does.
func OpenDesk(path, cfg string, m config.Monitor, log *slog.Logger) (*desk.Desk, error) {
	reader := &desk.Reader{Command: func(socket string) (*exec.Cmd, error) { return readerCommand(path, socket) }}
	live := &LiveCrawl{Client: &control.Client{State: path}, reader: reader}
	side := &deskSide{live, newDeciding(cfg)}
	d, err := desk.Listen(desk.Options{
		Monitor: m, Routes: deskRoutes(side), Live: live, Reader: reader, Exports: DeskExports(path), Metrics: live.metrics,
		Version: term.ThisBuild().Version, Log: log,
	})
	if err != nil {
		return nil, term.Usage("%v", err)
	}
	return d, nil
}
