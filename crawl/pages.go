package crawl

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// maxSealed is how many bytes of pages may wait to be stored: what is fetched
// faster than it is written waits in the visitors.
const maxSealed = 64 << 20

// metaPages is the name under which the state file keeps what counts in its page
// store: the store's name, the last segment and its end.
const metaPages = "page store"

// warcSoftware is told in the page store.
const warcSoftware = "Ripple (+https://github.com/sumi-ripple/ripple)"

func newSealedBound() *semaphore.Weighted { return semaphore.NewWeighted(maxSealed) }

// keeps reports whether a page belongs into the page store (SPEC 10).
func (s *settings) keeps(o *Outcome, p *page.Page) bool {
	return s.cfg.Pages.Keep && o.Step.URLKind == schema.KindPage && isHTML(o.ContentType) &&
		!p.NoArchive && (!p.NoIndex || !s.cfg.Crawler.RespectNoindex)
}

// seal compresses a page for the page store, and waits while too much is waiting
// there. A page for which the wait is cut short is as if it had not been asked.
func (v *visitor) seal(ctx context.Context, o *Outcome, resp *fetch.Response) {
	s := o.Step.Settings
	if o.Page == nil || len(resp.Body) == 0 || !s.keeps(o, o.Page) {
		return
	}
	head, err := s.client.RequestHead(fetch.Request{
		URL: o.Step.URL, ETag: o.Step.ETag, LastModified: o.Step.Modified,
	})
	if err == nil {
		o.Sealed, err = warc.Seal(&warc.Page{
			URL: o.Step.URL, At: o.FirstByte, Address: o.Address, Request: head,
			Status: o.Status, Header: resp.Header, Body: resp.Body, Digest: o.SHA256,
		})
	}
	if err == nil {
		err = s.sealed.Acquire(ctx, o.sealedSize())
	}
	if err != nil {
		o.Sealed, o.Cause, o.Error = nil, fetch.Cancelled, schema.Clean(err.Error(), 256)
	}
}

// sealedSize is what the outcome holds of the bound on waiting pages.
func (o *Outcome) sealedSize() int64 {
	if o.Sealed == nil {
		return 0
	}
	return min(int64(o.Sealed.Size()), maxSealed)
}

// releaseSealed lets visitors go on once a batch is stored.
func (b *batch) releaseSealed() {
	for i := range b.outcomes {
		if o := &b.outcomes[i]; o.Sealed != nil {
			o.Step.Settings.sealed.Release(o.sealedSize())
			o.Sealed = nil
		}
	}
}

// A pageStore is the recorder's end of the page store.
type pageStore struct {
	writer *warc.Writer
	name   string
	stored bool // in this commit
}

// storePage appends a page to the store, before the commit that refers to it.
func (t *turn) storePage(o *Outcome, visit *schema.Visit) error {
	if o.Sealed == nil || visit.State != schema.Processed || visit.RedirectTo != 0 {
		return nil
	}
	if err := t.openPages(); err != nil {
		return err
	}
	var err error
	visit.StoredPath, err = t.pages.writer.Append(o.Sealed)
	t.pages.stored = true
	return err
}

// openPages opens the page store where the last commit left it.
func (t *turn) openPages() error {
	if t.pages.writer != nil {
		return nil
	}
	text, err := t.tx.Meta(metaPages)
	if err != nil {
		return err
	}
	var at warc.Position
	name, rest, _ := bytes.Cut(text, []byte(" "))
	if text != nil {
		if at, err = warc.ParsePosition(rest); err != nil {
			return fmt.Errorf("%w: %w", kv.ErrDamaged, err)
		}
		t.pages.name = string(name)
	} else {
		var id [5]byte
		_, _ = rand.Read(id[:]) // never fails
		t.pages.name = "ripple" + hex.EncodeToString(id[:])
	}
	t.pages.writer, err = warc.Open(t.set.cfg.Pages.Path, t.pages.name, at, warcSoftware)
	return err
}

// cutPages takes away, at a start, what was stored and not committed.
func (r *recorder) cutPages(tx *kv.Tx) error {
	text, err := tx.Meta(metaPages)
	if err != nil || text == nil || !r.set.cfg.Pages.Keep || r.reclassify {
		return err
	}
	return (&turn{recorder: r, tx: tx}).openPages()
}

// commitPages makes the pages of a commit durable, and with it that they count.
func (t *turn) commitPages() error {
	if !t.pages.stored {
		return nil
	}
	t.pages.stored = false
	at, err := t.pages.writer.Sync()
	if err != nil {
		return err
	}
	return t.tx.PutMeta(metaPages, []byte(t.pages.name+" "+at.String()))
}

// LeavePages has the next page that is kept begin a page store of its own. It is
// for a copy of a state file: the store it was copied with belongs to the
// original, and only what that one has committed counts there. Pages that are
// stored can still be read.
func LeavePages(store *kv.Store) error {
	return store.Update(func(tx *kv.Tx) error { return tx.PutMeta(metaPages, nil) })
}

// closePages ends the writing of the page store.
func (r *recorder) closePages() error {
	if r.pages.writer == nil {
		return nil
	}
	err := r.pages.writer.Close()
	r.pages = pageStore{}
	return err
}
