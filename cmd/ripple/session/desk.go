package session

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// openDesk opens the desk that the crawl serves itself, and reports its address. Without an address it does nothing.
func (w *walk) openDesk(listen string) error {
	cfg := w.cfg.Load()
	monitor := cfg.Monitor
	monitor.Listen = cmp.Or(listen, monitor.Listen)
	if monitor.Listen == "" {
		return nil
	}
	d, err := serve.OpenDesk(cfg.State.Path, w.path, monitor, w.log)
	if err != nil {
		return err
	}
	w.desk = d
	return tellDesk(w.voice, d)
}

// tellDesk reports the address at which a browser enters a desk, valid once, and the address for
// programs.
func tellDesk(v *term.Voice, d *desk.Desk) error {
	entrance, err := d.Entrance()
	if err == nil {
		v.Tell(term.Event("desk", "for programs: "+d.Programs()+"\nthe desk is at "+entrance, "address", entrance, "api",
			d.Programs()))
	}
	return err
}

// serveDesk starts the desk, if there is one. end stops it and returns when its clients have received the last
// events.
func (w *walk) serveDesk() (end func() error) {
	var g errgroup.Group
	ctx, cancel := context.WithCancel(context.Background())
	if w.desk != nil {
		g.Go(func() error { return w.desk.Serve(ctx) })
	}
	return func() error {
		cancel()
		return g.Wait()
	}
}
