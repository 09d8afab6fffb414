package crawl

import (
	"context"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
)

// seal compresses a page for the page store, and waits while too much is waiting
// there. A page for which the wait is cut short is as if it had not been asked.
func (v *visitor) seal(ctx context.Context, o *ring.Outcome, resp *fetch.Response) {
	s := o.Step.Settings
	if len(resp.Body) == 0 || !s.Keeps(o) {
		return
	}
	head, err := s.Client.RequestHead(fetch.Request{
		URL: o.Step.URL, ETag: o.Step.ETag, LastModified: o.Step.Modified,
	})
	if err == nil {
		o.Sealed, err = warc.Seal(&warc.Page{
			URL: o.Step.URL, At: o.FirstByte, Address: o.Address, Request: head,
			Status: o.Status, Header: resp.Header, Body: resp.Body, Digest: o.SHA256,
		})
	}
	if err == nil {
		err = s.Sealed.Acquire(ctx, o.SealedSize())
	}
	if err != nil {
		o.Sealed, o.Cause, o.Detail = nil, fetch.Cancelled, schema.Clean(err.Error(), 256)
	}
}

// releaseSealed lets visitors go on once a batch is stored.
func (b *batch) releaseSealed() {
	for i := range b.outcomes {
		if o := &b.outcomes[i]; o.Sealed != nil {
			o.Step.Settings.Sealed.Release(o.SealedSize())
			o.Sealed = nil
		}
	}
}
