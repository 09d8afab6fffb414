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
	// Wall-clock limit for a page, and for a browser to start.
	patience = time.Minute
	// MemoryLimit is the memory limit of a browser, in bytes: its processes' private memory and their shares
	// of shared memory.
	MemoryLimit = 400 << 20
	// Number of pages after which a browser is replaced.
	pagesPerBrowser = 200
)

// A Renderer renders pages in browsers of its own, one page at a time in each. If a browser is
// killed, hangs or grows too large, the page that it was rendering fails, and the next page gets a
// new browser. No browser outlives the process, however the process ends.
//
// Render is safe for concurrent use, and waits for a browser.
type Renderer struct {
	options Options
	limits  limits
	idle    chan *browser // of capacity Options.Browsers; nil elements are browsers that are not started yet
}

// limits are those of one page and one browser.
type limits struct {
	start    time.Duration // wall-clock time for a browser to start
	patience time.Duration // wall-clock time for a page
	memory   int64
	pages    int
}

// Open starts the first browser, so that problems are known before a page waits for it:
// [ErrNoBrowser], [ErrNoSandbox]. The browsers end with Close or ctx.
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

// find returns the browser's executable. It succeeds only on Linux, because only there can all
// processes of the browser be bound to the life of this one.
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

// Render renders a page from answers. An error concerns the attempt, not the page: a crash, too
// much memory, [ErrTimeout], or the end of ctx. If it fails, only the processor time is set.
func (r *Renderer) Render(ctx context.Context, p Page, a Answers) (Rendering, error) {
	var b *browser
	select {
	case b = <-r.idle:
	case <-ctx.Done():
		return Rendering{}, ctx.Err()
	}
	for range len(r.idle) {
		select {
		case other := <-r.idle:
			if other.waitsFor(p) {
				b, other = other, b
			}
			r.idle <- other
		default:
		}
	}
	result, b, err := r.render(ctx, b, p, a)
	r.idle <- b
	return result, err
}

// render also returns the browser for the next page. It is nil if that page needs a new one.
func (r *Renderer) render(ctx context.Context, b *browser, p Page, a Answers) (Rendering, *browser, error) {
	if b != nil && (b.rendered >= r.limits.pages || b.broken.Load() || b.ctx.Err() != nil || !b.whole()) {
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
	if err != nil && b.reused() && !errors.Is(err, ErrTimeout) && ctx.Err() == nil {
		// The pages before may be to blame, for example for memory. A new browser has had none.
		b.close()
		if b, err = start(context.WithoutCancel(ctx), r.options, r.limits.start); err != nil {
			return Rendering{Processor: result.Processor}, nil, fmt.Errorf("start browser: %w", err)
		}
		before := result.Processor
		result, err = r.visit(ctx, b, p, a)
		result.Processor += before
	}
	if err != nil {
		b.close()
		return Rendering{Processor: result.Processor}, nil, fmt.Errorf("render %s: %w", p.URL, err)
	}
	return result, b, nil
}

// visit renders a page within the limits.
func (r *Renderer) visit(ctx context.Context, b *browser, p Page, a Answers) (Rendering, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.limits.patience, ErrTimeout)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	b.unwatch()
	defer func() { b.unwatch = b.watchWaiting(r.limits.memory) }()
	if b.full = b.memory.held > fullMemory; b.full {
		b.memory = watched{} // the next look is exact
	}
	defer b.watch(ctx, r.limits.memory, fail)()
	b.rendered++
	before := b.last.used
	result, err := b.render(ctx, p, a, r.options)
	whole := b.whole()
	result.Processor = max(0, b.used()-before)
	if err == nil && !whole {
		err = errors.New("a process of the browser ended") // the page may lack something
	}
	if err != nil && ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return result, err
}

// Close ends the browsers once each has finished its page. The renderer cannot be used afterwards.
func (r *Renderer) Close() error {
	var all []error
	for range cap(r.idle) {
		if b := <-r.idle; b != nil {
			all = append(all, b.close())
		}
	}
	return errors.Join(all...)
}
