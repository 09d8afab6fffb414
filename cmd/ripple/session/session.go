package session

import (
	"context"
	"log/slog"
	"os"
	"os/signal"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/crawl/meter"
)

// A session is what all crawls of this process share.
type session struct {
	voice  *term.Voice
	log    *slog.Logger
	path   string // of the configuration
	shared *crawl.Shared
	meter  *meter.Meter
	stop   context.CancelCauseFunc // ends the session as a signal does
}

func newSession(v *term.Voice, path string, shared *crawl.Shared) *session {
	return &session{voice: v, log: v.Logger(), path: path, shared: shared, meter: newMeter()}
}

// newMeter returns the metrics of this process.
func newMeter() *meter.Meter {
	b := term.ThisBuild()
	return meter.New(meter.Build{Version: b.Version, Commit: b.Commit, Go: b.Go})
}

// obey follows the signals that only a crawl handles, until ctx is done. Signals that arrive before
// begun is closed are followed then.
func (s *session) obey(ctx context.Context, begun <-chan struct{}, report, reload func()) error {
	got := make(chan os.Signal, 4)
	ends := term.EndsWithTerminal()
	term.NotifyCrawl(got)
	defer signal.Stop(got)
	select {
	case <-begun:
	case <-ctx.Done():
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case signalled := <-got:
			switch {
			case !term.IsReload(signalled):
				report()
			case ends && !term.HasTerminal():
				if err := term.Terminate(); err != nil {
					return err
				}
			default:
				reload()
			}
		}
	}
}

// limitMemory sets the memory limit of the process, and tells the crawls.
func (s *session) limitMemory(m term.Memory) {
	m.Set(gctune.Crawl(s.shared.Crawls))
	s.shared.LimitMemory(m.Bytes)
}
