package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

const (
	newCopy  = time.Second // minimum time between two copies of a state that is being crawled
	oldCopy  = time.Minute // age at which a copy is replaced
	copyWork = 100         // a copy is replaced after this multiple of the time that it took to make

	heldCopy = 10 * time.Minute // after which a list of pages loses an older copy
)

// A terrainReader reads a state for a desk: one question at a time, since a survey belongs to one
// goroutine. It reads a copy of a state that is being crawled, and of the shards in a folder. While
// it makes a new copy, the old one answers. A file that is not being crawled is locked only while a
// question is answered, so that a crawl can start.
type terrainReader struct {
	states statefile.Files
	path   string        // of the state file
	turn   chan struct{} // holds a value while the fields below are in use
	now    *opened       // nil: nothing is open
	held   *opened       // an older copy that a list of pages is read from; nil: none
	asked  *opened       // the one that answered last
	next   chan *opened  // gets a new copy
	made   bool          // a new copy is being made
	work   errgroup.Group
}

// opened is a state that is open for reading, and how old it is.
type opened struct {
	answer.Inspector
	at     time.Time
	took   time.Duration
	err    error
	merged bool         // from the shards in a folder
	moment bool         // the last answer is not kept: it depends on what the crawl does right now, or is quickly made
	hosts  *hostIndex   // nil: not made yet
	name   string       // by which a list of pages asks for the same reading
	pages  *pageTable   // nil: not made yet
	listed time.Time    // when pages were listed last
	broken *brokenLinks // nil: not found yet, or too many to keep

	answers map[string]*HeldAnswer // by URL
	kept    int                    // bytes in them
}

// copied reports whether the state is a copy. A copy does not change, but becomes outdated.
func (o *opened) copied() bool { return o.Store.Path() != o.Path }

// newTerrainReader returns a reader of the state at path.
func newTerrainReader(from statefile.Files, path string) *terrainReader {
	return &terrainReader{states: from, path: path, turn: make(chan struct{}, 1), next: make(chan *opened, 1)}
}

// own waits for its turn and calls f, which may use t. fresh asks for a new copy.
func (t *terrainReader) own(ctx context.Context, fresh bool, f func()) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return
	}
	if fresh {
		t.ripen(ctx)
	}
	t.renew(fresh)
	if t.held != nil && time.Since(t.held.listed) > heldCopy {
		t.release()
	}
	f()
	if t.now != nil && !t.now.copied() && !t.now.Store.Lend() {
		t.drop()
	}
}

// ripen waits until a new copy may be made.
func (t *terrainReader) ripen(ctx context.Context) {
	if t.now == nil || !t.now.copied() || t.now.merged {
		return
	}
	select {
	case <-time.After(newCopy - time.Since(t.now.at)):
	case <-ctx.Done():
	}
}

// renew replaces an old copy, and closes what is out of date.
func (t *terrainReader) renew(fresh bool) {
	select {
	case o := <-t.next:
		if t.made = false; o.err == nil {
			t.retire()
			t.now = o
		}
	default:
	}
	if t.now == nil {
		return
	}
	age := time.Since(t.now.at)
	switch {
	case !t.now.copied():
		if t.now.Store.Reclaim() != nil {
			t.drop()
		}
	case !t.now.merged && (t.ended() || fresh && age >= newCopy):
		t.retire()
	case age > max(oldCopy, copyWork*t.now.took) && !t.made:
		t.made = true
		t.work.Go(func() error { t.next <- t.open(context.Background()); return nil })
	}
}

// ended reports whether the crawl whose copy is read has ended.
func (t *terrainReader) ended() bool { return !control.Listens(t.path) }

// of returns the answer to a question from the open state.
func (t *terrainReader) of(
	answer func(*opened, context.Context, desk.Query) (any, error),
) func(context.Context, desk.Query) (any, error) {
	return func(ctx context.Context, q desk.Query) (any, error) {
		o, err := t.reading(ctx, q.Text("snapshot"))
		if err != nil {
			return nil, answerable(err)
		}
		t.asked = o
		o.Until(ctx)
		v, err := answer(o, ctx, q)
		return v, answerable(err)
	}
}

// reading returns the open state, and opens it first if necessary. With a name it returns the
// reading of that name, which may be an older one.
func (t *terrainReader) reading(ctx context.Context, name string) (*opened, error) {
	if t.held != nil && t.held.name == name {
		return t.held, nil
	}
	if t.now == nil {
		o := t.open(context.WithoutCancel(ctx)) // the next questions need it too
		if o.err != nil {
			return nil, o.err
		}
		t.now = o
	}
	if name != "" && t.now.name != name {
		return nil, gone()
	}
	return t.now, nil
}

// open opens a file that is not being crawled, or a copy. During a crawl this process runs at the lowest priority.
func (t *terrainReader) open(ctx context.Context) *opened {
	o := &opened{at: time.Now(), answers: map[string]*HeldAnswer{}, name: rand.Text()}
	if err := statefile.MustExist(t.path); err != nil {
		o.err = &control.Error{Code: http.StatusServiceUnavailable, Text: term.Complaint(err)}
		return o
	}
	if info, err := os.Stat(t.path); err == nil {
		o.merged = info.IsDir()
	}
	o.State, o.err = t.states.Read(ctx, t.path)
	o.took = time.Since(o.at)
	if o.err == nil && o.Live != nil {
		desk.Lowest()
	}
	return o
}

// retire drops what is open, but holds a copy that a list of pages is read from.
func (t *terrainReader) retire() {
	if t.now != nil && t.now.copied() && time.Since(t.now.listed) < heldCopy {
		t.release()
		t.held, t.now = t.now, nil
	}
	t.drop()
}

// release closes the older copy.
func (t *terrainReader) release() {
	if t.held != nil {
		t.held.Close()
		t.held = nil
	}
}

// drop closes what is open.
func (t *terrainReader) drop() {
	if t.now != nil {
		t.now.Close()
		t.now = nil
	}
}

// Close waits for the current question, and closes the state.
func (t *terrainReader) Close() {
	t.turn <- struct{}{}
	_ = t.work.Wait()
	t.drop()
	t.release()
}

// answerable adds the response code to an error.
func answerable(err error) error {
	var u *term.UsageError
	var h *term.Hinted
	var unknown *answer.UnknownError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &u):
		return &control.Error{Code: http.StatusBadRequest, Text: err.Error()}
	case errors.Is(err, kv.ErrLocked), errors.Is(err, control.ErrSilent):
		return &control.Error{Code: http.StatusServiceUnavailable, Text: err.Error()}
	case errors.Is(err, survey.ErrNoRun), errors.As(err, &unknown):
		return &control.Error{Code: http.StatusNotFound, Text: err.Error()}
	case errors.As(err, &h):
		return &control.Error{Code: http.StatusConflict, Text: err.Error() + "; " + h.Hint}
	}
	return err
}
