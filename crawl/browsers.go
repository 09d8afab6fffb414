package crawl

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/config"
)

// browsers are the renderers of a process. Crawls with the same browser options share one renderer,
// and render at most as many pages at a time, together, as it has browsers. The zero value is
// ready.
type browsers struct {
	mu   sync.Mutex
	open map[render.Options]*sharedRenderer

	keeping sync.Mutex
	kept    ring.Renderer // by keep; nil: none
}

// An opener opens the renderer for a configuration.
type opener = func(context.Context, *config.Config) (ring.Renderer, error)

// A sharedRenderer is a renderer with the number of its users.
type sharedRenderer struct {
	renderer ring.Renderer
	seats    *semaphore.Weighted
	users    int
}

// A lentRenderer is one user's handle of a shared renderer.
type lentRenderer struct {
	ring.Renderer
	leave func() error
}

// Close returns the renderer. The last user to do so closes it.
func (r *lentRenderer) Close() error { return r.leave() }

// lend returns the renderer for a configuration, and the seats that its users share.
func (b *browsers) lend(ctx context.Context, cfg *config.Config, open opener) (ring.Renderer, *semaphore.Weighted,
	error) {
	key := browserOptions(cfg)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.open[key]
	if r == nil {
		renderer, err := open(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		r = &sharedRenderer{renderer: renderer, seats: semaphore.NewWeighted(int64(key.Browsers))}
		if b.open == nil {
			b.open = map[render.Options]*sharedRenderer{}
		}
		b.open[key] = r
	}
	r.users++
	return &lentRenderer{r.renderer, sync.OnceValue(func() error { return b.left(key) })}, r.seats, nil
}

// keep keeps the renderer of a configuration open, in place of the one kept before.
func (b *browsers) keep(ctx context.Context, cfg *config.Config, open opener) (err error) {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	var next ring.Renderer
	if cfg.Render.Mode != config.RenderOff {
		if next, _, err = b.lend(ctx, cfg, open); err != nil {
			return err
		}
	}
	before := b.kept
	if b.kept = next; before != nil {
		return before.Close()
	}
	return nil
}

func (b *browsers) leave() error {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	if b.kept == nil {
		return nil
	}
	defer func() { b.kept = nil }()
	return b.kept.Close()
}

func (b *browsers) left(key render.Options) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.open[key]
	if r.users--; r.users > 0 {
		return nil
	}
	delete(b.open, key)
	return r.renderer.Close()
}

// openBrowser opens the browsers of a configuration, unless ctx ends before they are open.
// Afterwards they outlive ctx, so that pages which are being rendered when a crawl is stopped can
// finish.
func openBrowser(ctx context.Context, cfg *config.Config) (ring.Renderer, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	early := context.AfterFunc(ctx, end)
	r, err := render.Open(life, browserOptions(cfg))
	if early() && err == nil {
		return r, nil
	}
	end()
	if r != nil {
		err = r.Close()
	}
	return nil, cmp.Or(context.Cause(ctx), err)
}

func browserOptions(cfg *config.Config) render.Options {
	return render.Options{
		Path: cfg.Render.Browser, Browsers: cfg.Render.Browsers(), NoSandbox: !cfg.Render.Sandbox,
		UserAgent: cfg.UserAgentString(), MaxDOM: cfg.Content.MaxResponseBytes,
	}
}
