package crawl

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A visitor makes one request at a time and tells what it found. It owns
// nothing but its buffers.
type visitor struct {
	hash      func(schema.URLKind, string) uint64
	share     *slots.Share // gets the slot of each step back
	clocks    *pace.Clocks // of addresses; nil: the caller keeps hosts apart
	extractor *page.Extractor
	under     *ring.Settings // that extractor was made for
	body      []byte         // of the last page; nothing of an outcome lies in it
}

// maxKept is the size up to which the memory of a body is used again.
const maxKept = 1 << 20

// run asks until the scheduler closes steps. It returns an outcome for every
// step, whatever happens to the request; only the end of the ring keeps it.
func (v *visitor) run(walking, asking context.Context, steps <-chan ring.Step, outcomes chan<- ring.Outcome) error {
	for step := range steps {
		select {
		case outcomes <- v.visit(asking, step):
		case <-walking.Done():
			v.share.Give(step.Standing)
			return walking.Err()
		}
		v.share.Give(step.Standing)
	}
	return nil
}

func (v *visitor) visit(ctx context.Context, step ring.Step) ring.Outcome {
	step.Sent = time.Now() // the scheduler may have offered it for a while
	if step.Kind == ring.Resolve {
		return v.resolve(ctx, step)
	}
	if at, moved := elsewhere(ctx, step); moved && v.clocks != nil {
		return move(step, at)
	}
	s := step.Settings
	o := ring.Outcome{Step: step, RetryAfter: -1, Length: -1}
	req := fetch.Request{
		Method:       step.Kind.Method(),
		URL:          step.URL,
		ETag:         step.ETag,
		LastModified: step.Modified,
		Timeout:      step.Timeout,
		Accept:       v.limit(step),
		Address:      step.Address,
		MayAsk:       v.mayAsk(step),
		Stay:         step.Moves >= maxMoves,
		Cut:          step.Kind == ring.Robots || step.URLKind == schema.KindSitemap, // read as far as the limit
	}
	page := step.Kind == ring.Get && step.URLKind == schema.KindPage
	if page {
		req.Buffer = v.body
	}
	resp, err := s.Client.Do(ctx, req)
	var busy *fetch.Busy
	if errors.As(err, &busy) {
		return move(step, busy.Address.String())
	}
	if err != nil {
		fail(&o, err)
	}
	if resp != nil {
		answer(&o, resp)
		if page && cap(resp.Body) > cap(v.body) && cap(resp.Body) <= maxKept {
			v.body = resp.Body
		}
	}
	if o.FirstByte.IsZero() {
		o.FirstByte = time.Now()
	}
	if o.Done.Before(o.FirstByte) {
		o.Done = o.FirstByte
	}
	if o.Own == fetch.OwnNothing && deaf(ctx, &o) {
		o.Own = fetch.OwnResolver
	}
	if o.Answered() {
		v.read(&o, resp)
		v.hold(ctx, &o, resp)
	}
	return o
}

// limit says how much of a body may be read, once the headers are known.
func (v *visitor) limit(step ring.Step) func(int, http.Header) int64 {
	s := step.Settings
	return func(status int, header http.Header) int64 {
		switch {
		case status < 200 || status > 299 || step.Kind == ring.Head:
			return 0
		case step.Kind == ring.Robots:
			return robots.MaxBytes
		case step.URLKind == schema.KindSitemap:
			return sitemap.DefaultLimits().Bytes
		case !s.Accepts(header.Get("Content-Type")):
			return 0
		}
		return s.Config.Content.MaxResponseBytes
	}
}

func fail(o *ring.Outcome, err error) {
	o.Cause, o.Detail = fetch.BadResponse, schema.Clean(err.Error(), 256)
	var e *fetch.Error
	if errors.As(err, &e) {
		o.Cause, o.Detail, o.Stale, o.Own = e.Cause, schema.Clean(e.Reason().Detail, 256), e.Stale, e.Own
	}
}

// answer takes over what the headers say.
func answer(o *ring.Outcome, resp *fetch.Response) {
	o.Status, o.FirstByte, o.Done = resp.Status, resp.FirstByte, resp.Done
	if a := resp.Remote.Addr(); a.IsValid() {
		o.Address = a.Unmap().String()
	}
	get := func(name string, max int) string { return schema.Clean(resp.Header.Get(name), max) }
	o.ContentType = contentType(resp.Header.Get("Content-Type"))
	o.LastModified = get("Last-Modified", 64)
	o.ETag = exact(resp.Header.Get("ETag"), 256)
	o.Date = get("Date", 64)
	o.RetryAfter = resp.RetryAfter() // a suspension is counted from there
}

// contentType keeps a Content-Type as it came, or of a long one what counts.
func contentType(declared string) string {
	const longest = 128
	if len(declared) > longest {
		declared = media.Extract(declared).String()
	}
	return schema.Clean(declared, longest)
}

// exact keeps a value that must be sent back as it came, or none.
func exact(s string, max int) string {
	if len(s) > max || schema.Clean(s, max) != s {
		return ""
	}
	return s
}

// read makes sense of the body.
func (v *visitor) read(o *ring.Outcome, resp *fetch.Response) {
	step := o.Step
	if o.Status >= 300 && o.Status < 400 && o.Status != http.StatusNotModified {
		v.redirect(o, resp.Header.Get("Location"))
		return
	}
	if o.Status < 200 || o.Status > 299 || step.Kind == ring.Head {
		return
	}
	switch {
	case step.Kind == ring.Robots:
		o.Robots = resp.Body
	case step.URLKind == schema.KindSitemap:
		v.sitemap(o, resp.Body)
	case step.Settings.Accepts(o.ContentType):
		v.page(o, resp.Header, resp.Body, resp.Size)
	}
}

func (v *visitor) redirect(o *ring.Outcome, location string) {
	if location == "" {
		o.BadLocation = "redirect without Location"
		return
	}
	base, err := o.Step.Settings.Rules.Base(o.Step.URL)
	if err == nil {
		var to weburl.URL
		if to, err = base.Parse(location); err == nil {
			o.Location = &ring.Target{URL: to, Hash: v.hash(schema.KindPage, to.Norm)}
			return
		}
	}
	o.BadLocation = schema.Clean("unusable Location: "+err.Error(), 256)
}

func (v *visitor) page(o *ring.Outcome, header http.Header, body []byte, size int64) {
	s := o.Step.Settings
	o.Length, o.SHA256 = size, sha256.Sum256(body)
	p := &page.Page{}
	if ring.IsHTML(o.ContentType) && len(body) > 0 {
		if parsed, err := v.extract(o.Step, o.ContentType, body); err == nil {
			p = &parsed
		}
	}
	tag := page.ParseRobotsTag(header.Values("X-Robots-Tag"), s.Config.UserAgent.CrawlerName)
	p.NoIndex = p.NoIndex || tag.NoIndex
	p.NoFollow = p.NoFollow || tag.NoFollow
	p.NoArchive = p.NoArchive || tag.NoArchive
	o.Page = p
	o.Hashes = make([]uint64, len(p.Links))
	for i := range p.Links {
		o.Hashes[i] = v.hash(schema.KindPage, p.Links[i].URL.Norm)
	}
}

func (v *visitor) extract(step ring.Step, contentType string, body []byte) (page.Page, error) {
	s := step.Settings
	base, err := s.Rules.Base(step.URL)
	if err != nil {
		return page.Page{}, err
	}
	if v.under != s {
		v.under = s
		v.extractor = page.NewExtractor(page.Options{
			MaxLinks: s.Config.Crawler.LinksPerPage(), Agent: s.Config.UserAgent.CrawlerName, Extracts: s.Extracts,
		})
	}
	return v.extractor.Extract(body, contentType, base, step.Norm), nil
}

func (v *visitor) sitemap(o *ring.Outcome, body []byte) {
	file, err := sitemap.Parse(body, o.Step.URL, o.ContentType, sitemap.DefaultLimits())
	if err != nil {
		o.Detail = schema.Clean(err.Error(), 256)
	}
	o.Length, o.SHA256, o.Sitemap = int64(len(body)), sha256.Sum256(body), &file
	o.Entries = v.targets(o.Step.Settings, schema.KindPage, file.Entries)
	o.Files = v.targets(o.Step.Settings, schema.KindSitemap, file.Children)
}

func (v *visitor) targets(s *ring.Settings, kind schema.URLKind, entries []sitemap.Entry) []ring.Target {
	targets := make([]ring.Target, len(entries))
	for i, e := range entries {
		if u, err := s.Rules.Parse(e.Loc); err == nil {
			targets[i] = ring.Target{URL: u, Hash: v.hash(kind, u.Norm)}
		}
	}
	return targets
}
