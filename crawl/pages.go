package crawl

import (
	"context"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
)

// hold compresses a page for the page store, if it is to be kept, and waits while too much is not
// committed. If the wait is cut short, the outcome becomes that of a request that was not sent.
func (p *parser) hold(ctx context.Context, o *ring.Outcome, resp *fetch.Response, rendered *warc.Rendered) {
	err := p.seal(o, resp, rendered)
	if err == nil {
		err = o.Hold(ctx)
	}
	if err != nil {
		cancelled(o, err)
	}
}

func (p *parser) seal(o *ring.Outcome, resp *fetch.Response, rendered *warc.Rendered) error {
	s := o.Step.Settings
	if len(resp.Body) == 0 || !s.Keeps(o) {
		return nil
	}
	head, err := s.Client.RequestHead(fetch.Request{
		URL: o.Step.URL, ETag: o.Step.ETag, LastModified: o.Step.Modified,
	})
	if err == nil {
		o.Sealed, err = p.sealer.Seal(&warc.Page{
			URL: o.Step.URL, At: o.FirstByte, Address: o.Address, Protocols: o.Protocols, Request: head,
			Status: o.Status, Header: resp.Header, Body: resp.Body, Digest: o.SHA256,
			Rendered: rendered,
		})
	}
	return err
}

// release lets visitors continue once a batch is committed.
func (b *batch) release() {
	for i := range b.outcomes {
		b.outcomes[i].Release()
	}
}
