package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

const (
	// How long a page may take on the clock on the wall, and a browser to start.
	patience = time.Minute
	// MemoryLimit is the largest memory of a browser, in bytes: what its processes hold
	// alone, and their shares of what they hold together.
	MemoryLimit = 400 << 20
	// A browser renders so many pages, then a new one takes its place.
	pagesPerBrowser = 200
)

// A Renderer renders pages in browsers of its own, one page at a time in each. A browser
// that is killed, hangs or grows too large costs the page it was rendering, and the next
// page gets a new one. No browser outlives the process, however that ends.
//
// Render may be called by many goroutines, and waits for a browser.
type Renderer struct {
	options Options
	limits  limits
	idle    chan *browser // of length Options.Browsers; nil: to be started
}

// The limits of one page, and of one browser.
type limits struct {
	start    time.Duration // on the clock on the wall, of a browser
	patience time.Duration // of a page
	memory   int64
	pages    int
}

// Open starts the first browser, so that what is wrong with it is known before a page
// waits for it: [ErrNoBrowser], [ErrNoSandbox]. The browsers end with Close or the context.
func Open(ctx context.Context, o Options) (*Renderer, error) {
	return openWithin(ctx, o, limits{start: patience, patience: patience, memory: MemoryLimit, pages: pagesPerBrowser})
}

func openWithin(ctx context.Context, o Options, l limits) (*Renderer, error) {
	o.Browsers = max(o.Browsers, 1)
	path, err := find(o.Path)
	if err != nil {
		return nil, err
	}
	o.Path = path
	if !o.NoSandbox && os.Getuid() == 0 {
		return nil, fmt.Errorf("%w for root: run as another user, or set [render] sandbox = false", ErrNoSandbox)
	}
	r := &Renderer{o, l, make(chan *browser, o.Browsers)}
	for range o.Browsers - 1 {
		r.idle <- nil
	}
	sweep()
	first, err := start(ctx, o, l.start)
	if err != nil {
		return nil, fmt.Errorf("the browser %s: %w", o.Path, err)
	}
	r.idle <- first
	return r, nil
}

// find returns the browser's executable. There is none but on Linux, which alone can bind
// the life of all its processes to this one.
func find(path string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("%w: pages are rendered on Linux only", ErrNoBrowser)
	}
	names := []string{path}
	if path == "" {
		names = []string{"chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"}
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w as %s: install the package chromium", ErrNoBrowser, strings.Join(names, ", "))
}

// Render renders a page from answers. An error is that of a try, not of the page: a crash,
// too much memory, too much time, or the context's.
func (r *Renderer) Render(ctx context.Context, p Page, a Answers) (Rendering, error) {
	var b *browser
	select {
	case b = <-r.idle:
	case <-ctx.Done():
		return Rendering{}, ctx.Err()
	}
	result, b, err := r.render(ctx, b, p, a)
	r.idle <- b
	return result, err
}

// render returns the browser for the next page, nil if that needs a new one.
func (r *Renderer) render(ctx context.Context, b *browser, p Page, a Answers) (Rendering, *browser, error) {
	if b != nil && (b.rendered >= r.limits.pages || b.broken || b.ctx.Err() != nil || !b.whole()) {
		b.close()
		b = nil
	}
	if b == nil {
		var err error
		if b, err = start(context.WithoutCancel(ctx), r.options, r.limits.start); err != nil {
			return Rendering{}, nil, fmt.Errorf("start browser: %w", err)
		}
	}
	result, err := r.visit(ctx, b, p, a)
	if err != nil {
		b.close()
		return Rendering{}, nil, fmt.Errorf("render %s: %w", p.URL, err)
	}
	return result, b, nil
}

// visit renders within the limits.
func (r *Renderer) visit(ctx context.Context, b *browser, p Page, a Answers) (Rendering, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.limits.patience, errors.New("took too long"))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	defer b.watch(ctx, r.limits.memory, fail)()
	b.rendered++
	result, err := b.render(ctx, p, a, r.options)
	if err == nil && !b.whole() {
		err = errors.New("a process of the browser ended") // and the page may have missed something
	}
	if err != nil && ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return result, err
}

// Close ends the browsers, once each has rendered its page. Nothing is rendered after it.
func (r *Renderer) Close() error {
	var all []error
	for range cap(r.idle) {
		if b := <-r.idle; b != nil {
			all = append(all, b.close())
		}
	}
	return errors.Join(all...)
}
