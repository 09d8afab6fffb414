package main

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
)

// openDesk opens the desk that the crawl serves itself, and tells its address; without
// one that is named it does nothing.
func (w *walk) openDesk(listen string) error {
	cfg := w.cfg.Load()
	monitor := cfg.Monitor
	monitor.Listen = cmp.Or(listen, monitor.Listen)
	if monitor.Listen == "" {
		return nil
	}
	d, err := openDesk(cfg.State.Path, w.path, monitor, w.log)
	if err != nil {
		return err
	}
	w.desk = d
	w.voice.tell(remark{"the desk is at " + d.Address(), "desk", []any{"address", d.Address()}})
	return nil
}

// serveDesk has the desk answer, if there is one, until end is called, which returns when
// whoever looks on was told what came last.
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
