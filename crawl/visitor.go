package crawl

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A visitor makes one request at a time and tells what it found. It owns
// nothing but its buffers.
type visitor struct {
	hash      func(schema.URLKind, string) uint64
	extractor *page.Extractor
	under     *settings // that extractor was made for
	body      []byte    // of the last page; nothing of an outcome lies in it
}

// maxKept is the size up to which the memory of a body is used again.
const maxKept = 1 << 20

// run asks until the scheduler closes steps. It returns an outcome for every
// step, whatever happens to the request; only the end of the ring keeps it.
func (v *visitor) run(ring, asking context.Context, steps <-chan Step, outcomes chan<- Outcome) error {
	for step := range steps {
		select {
		case outcomes <- v.visit(asking, step):
		case <-ring.Done():
			return ring.Err()
		}
	}
	return nil
}

func (v *visitor) visit(ctx context.Context, step Step) Outcome {
	step.Sent = time.Now() // the scheduler may have offered it for a while
	if step.Kind == StepResolve {
		return v.resolve(ctx, step)
	}
	s := step.Settings
	o := Outcome{Step: step, RetryAfter: -1, Length: -1}
	req := fetch.Request{
		Method:       method(step.Kind),
		URL:          step.URL,
		ETag:         step.ETag,
		LastModified: step.Modified,
		Timeout:      step.Timeout,
		Accept:       v.limit(step),
		Cut:          step.Kind == StepRobots || step.URLKind == schema.KindSitemap, // read as far as the limit
	}
	page := step.Kind == StepGet && step.URLKind == schema.KindPage
	if page {
		req.Buffer = v.body
	}
	resp, err := s.client.Do(ctx, req)
	if err != nil {
		o.fail(err)
	}
	if resp != nil {
		o.answer(resp)
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
	if o.answered() {
		v.read(&o, resp)
		v.seal(ctx, &o, resp)
	}
	return o
}

func method(k StepKind) string {
	if k == StepHead {
		return http.MethodHead
	}
	return http.MethodGet
}

// resolve looks an address up, so that hosts of one address share its clock. A
// failure is left to the request that follows, which meets it too.
func (v *visitor) resolve(ctx context.Context, step Step) Outcome {
	o := Outcome{Step: step, RetryAfter: -1, Length: -1}
	addresses, err := step.Settings.client.Resolve(ctx, weburl.Host(step.URL))
	if err == nil && len(addresses) > 0 {
		o.Address = addresses[0].String()
	}
	o.FirstByte = time.Now()
	o.Done = o.FirstByte
	return o
}

// limit says how much of a body may be read, once the headers are known.
func (v *visitor) limit(step Step) func(int, http.Header) int64 {
	s := step.Settings
	return func(status int, header http.Header) int64 {
		switch {
		case status < 200 || status > 299 || step.Kind == StepHead:
			return 0
		case step.Kind == StepRobots:
			return robots.MaxBytes
		case step.URLKind == schema.KindSitemap:
			return sitemap.DefaultLimits().Bytes
		case !s.accepts(header.Get("Content-Type")):
			return 0
		}
		return s.cfg.Content.MaxResponseBytes
	}
}

func (o *Outcome) fail(err error) {
	o.Cause, o.Error = fetch.BadResponse, schema.Clean(err.Error(), 256)
	var e *fetch.Error
	if errors.As(err, &e) {
		o.Cause, o.Error, o.Stale = e.Cause, schema.Clean(e.Reason(), 256), e.Stale
	}
}

// answer takes over what the headers say.
func (o *Outcome) answer(resp *fetch.Response) {
	o.Status, o.FirstByte, o.Done = resp.Status, resp.FirstByte, resp.Done
	if a := resp.Remote.Addr(); a.IsValid() {
		o.Address = a.Unmap().String()
	}
	get := func(name string, max int) string { return schema.Clean(resp.Header.Get(name), max) }
	o.ContentType = get("Content-Type", 128)
	o.LastModified = get("Last-Modified", 64)
	o.ETag = exact(resp.Header.Get("ETag"), 256)
	o.Date = get("Date", 64)
	o.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), o.FirstByte) // a suspension is counted from there
}

// exact keeps a value that must be sent back as it came, or none.
func exact(s string, max int) string {
	if len(s) > max || schema.Clean(s, max) != s {
		return ""
	}
	return s
}

// retryAfter reads seconds or an HTTP date (RFC 9110 section 10.2.3); -1 if the
// value is neither.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return -1
	}
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if strings.Trim(value, "0123456789") == "" {
		return 1 << 62 // more seconds than fit
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return -1
	}
	return max(0, at.Sub(now))
}

// read makes sense of the body.
func (v *visitor) read(o *Outcome, resp *fetch.Response) {
	step := o.Step
	if o.Status >= 300 && o.Status < 400 && o.Status != http.StatusNotModified {
		v.redirect(o, resp.Header.Get("Location"))
		return
	}
	if o.Status < 200 || o.Status > 299 || step.Kind == StepHead {
		return
	}
	switch {
	case step.Kind == StepRobots:
		o.Robots = resp.Body
	case step.URLKind == schema.KindSitemap:
		v.sitemap(o, resp.Body)
	case step.Settings.accepts(o.ContentType):
		v.page(o, resp.Header, resp.Body, resp.Size)
	}
}

func (v *visitor) redirect(o *Outcome, location string) {
	if location == "" {
		o.BadLocation = "redirect without Location"
		return
	}
	base, err := o.Step.Settings.rules.Base(o.Step.URL)
	if err == nil {
		var to weburl.URL
		if to, err = base.Parse(location); err == nil {
			o.Location = &Target{URL: to, Hash: v.hash(schema.KindPage, to.Norm)}
			return
		}
	}
	o.BadLocation = schema.Clean("unusable Location: "+err.Error(), 256)
}

func (v *visitor) page(o *Outcome, header http.Header, body []byte, size int64) {
	s := o.Step.Settings
	o.Length, o.SHA256 = size, sha256.Sum256(body)
	p := &page.Page{}
	if isHTML(o.ContentType) && len(body) > 0 {
		if parsed, err := v.extract(o.Step, o.ContentType, body); err == nil {
			p = &parsed
		}
	}
	tag := page.ParseRobotsTag(header.Values("X-Robots-Tag"), s.cfg.UserAgent.CrawlerName)
	p.NoIndex = p.NoIndex || tag.NoIndex
	p.NoFollow = p.NoFollow || tag.NoFollow
	p.NoArchive = p.NoArchive || tag.NoArchive
	o.Page = p
	o.Hashes = make([]uint64, len(p.Links))
	for i := range p.Links {
		o.Hashes[i] = v.hash(schema.KindPage, p.Links[i].URL.Norm)
	}
}

func (v *visitor) extract(step Step, contentType string, body []byte) (page.Page, error) {
	s := step.Settings
	base, err := s.rules.Base(step.URL)
	if err != nil {
		return page.Page{}, err
	}
	if v.under != s {
		v.under = s
		v.extractor = page.NewExtractor(page.Options{
			MaxLinks: s.cfg.Crawler.MaxLinksPerPage, Agent: s.cfg.UserAgent.CrawlerName, Extracts: s.extracts,
		})
	}
	return v.extractor.Extract(body, contentType, base, step.Norm), nil
}

func (v *visitor) sitemap(o *Outcome, body []byte) {
	file, err := sitemap.Parse(body, o.Step.URL, o.ContentType, sitemap.DefaultLimits())
	if err != nil {
		o.Error = schema.Clean(err.Error(), 256)
	}
	o.Length, o.SHA256, o.Sitemap = int64(len(body)), sha256.Sum256(body), &file
	o.Entries = v.targets(o.Step.Settings, schema.KindPage, file.Entries)
	o.Files = v.targets(o.Step.Settings, schema.KindSitemap, file.Children)
}

func (v *visitor) targets(s *settings, kind schema.URLKind, entries []sitemap.Entry) []Target {
	targets := make([]Target, len(entries))
	for i, e := range entries {
		if u, err := s.rules.Parse(e.Loc); err == nil {
			targets[i] = Target{URL: u, Hash: v.hash(kind, u.Norm)}
		}
	}
	return targets
}

// isLiteral reports whether a host is an IP address, which needs no look-up.
func isLiteral(host string) bool { return literalOf(host) != "" }

// literalOf returns the IP address that a host is, if it is one.
func literalOf(host string) string {
	if ap, err := netip.ParseAddrPort(host); err == nil {
		return ap.Addr().Unmap().String()
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return ""
	}
	return a.Unmap().String()
}
