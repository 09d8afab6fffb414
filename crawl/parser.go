package crawl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/opml"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// parsers are the idle ones. However many requests are open, there are few parsers: decoders, texts
// and extractors take memory, and only as many make progress as there are processors. A parser in
// use never waits for the network.
type parsers chan *parser

type hashFunc func(schema.URLKind, string) uint64

// newParsers returns n parsers; 0: twice as many as there are processors, because some wait until
// the recorder takes their outcomes.
func newParsers(hash hashFunc, onAnchors func(string, *page.Anchors), n int) parsers {
	if n == 0 {
		n = 2 * runtime.GOMAXPROCS(0)
	}
	all := make(parsers, n)
	for range n {
		all <- &parser{hash: hash, onAnchors: onAnchors}
	}
	return all
}

// take waits for an idle parser. It fails when ctx ends.
func (all parsers) take(ctx context.Context) (*parser, error) {
	select {
	case p := <-all:
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A parser parses one answer after another. It owns nothing but its memory.
type parser struct {
	hash      hashFunc
	onAnchors func(page string, a *page.Anchors) // nil: anchors are not read
	extractor *page.Extractor
	under     *ring.Settings // settings of extractor
	text      []byte         // of the last page; no outcome refers to it
	sealer    warc.Sealer
}

// maxKept is the largest text, in bytes, whose memory is used again.
const maxKept = 1 << 20

// decode undoes the encodings of a body. Only the text of a page uses the parser's memory; other
// bodies are kept in the outcome.
func (p *parser) decode(o *ring.Outcome, resp *fetch.Response) error {
	page := (o.Step.Kind == ring.Get || o.Step.Kind == ring.Probe) && o.Step.URLKind == schema.KindPage
	var text []byte
	if page {
		text = p.text
	}
	err := resp.Decode(text)
	if o.Status >= 400 && o.Step.Kind != ring.Asset && !errors.Is(err, fetch.ErrCrowded) {
		err = nil // the status says enough
	}
	if !page {
		return err
	}
	if size := cap(resp.Body); size > cap(p.text) && size <= maxKept {
		p.text = resp.Body
	}
	return err
}

// read extracts what the body contains.
func (p *parser) read(o *ring.Outcome, resp *fetch.Response) {
	step := o.Step
	if step.Kind == ring.Asset {
		o.Answer = &render.Answer{Status: o.Status, Header: resp.Header, Body: resp.Body}
		return
	}
	text := markup(o, resp.Header, resp.Body)
	if o.Wall = wall.Detect(o.Status, resp.Header, text, weburl.Host(step.URL)); o.Wall != nil {
		return
	}
	if o.Status >= 300 && o.Status < 400 && o.Status != http.StatusNotModified {
		p.redirect(o, resp.Header.Get("Location"))
		return
	}
	if o.Status < 200 || o.Status > 299 || step.Kind == ring.Head {
		return
	}
	switch {
	case step.Kind == ring.Robots:
		o.Robots = resp.Body
	case step.URLKind == schema.KindSitemap:
		p.sitemap(o, resp.Body)
	case step.Settings.Accepts(o.ContentType), step.Settings.ReadsOPML(o.ContentType) && opml.Is(resp.Body, o.ContentType):
		p.page(o, resp.Header, resp.Body, resp.Size)
	}
}

// markup returns the body of an HTML answer, and nil for others. Errors without a type, and answers for robots.txt, are
// HTML if they look like it.
func markup(o *ring.Outcome, header http.Header, body []byte) []byte {
	declared := media.Extract(header.Get("Content-Type"))
	if declared.IsHTML() ||
		(declared.Essence == "" || o.Step.Kind == ring.Robots) && media.LooksLikeHTML(body) {
		return body
	}
	return nil
}

func (p *parser) redirect(o *ring.Outcome, location string) {
	if location == "" {
		o.BadLocation = "redirect without Location"
		return
	}
	base, err := o.Step.Settings.Rules.Base(o.Step.URL)
	if err == nil {
		var to weburl.URL
		if to, err = base.Parse(asSent(location)); err == nil {
			o.Location = &ring.Target{URL: to, Hash: p.hash(schema.KindPage, to.Norm)}
			if p.onAnchors != nil && o.Step.Kind == ring.Get && o.Step.URLKind == schema.KindPage {
				own := strings.Contains(location, "#")
				p.onAnchors(o.Step.Norm, &page.Anchors{Redirect: &page.Redirect{To: to.Norm, Own: own}})
			}
			return
		}
	}
	o.BadLocation = schema.Clean("unusable Location: "+err.Error(), 256)
}

// asSent percent-encodes the bytes of a Location that are not ASCII, if it is not UTF-8. Browsers
// do the same, because only the server knows which encoding it is.
func asSent(location string) string {
	if utf8.ValidString(location) {
		return location
	}
	var b strings.Builder
	for _, c := range []byte(location) {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (p *parser) page(o *ring.Outcome, header http.Header, body []byte, size int64) {
	s := o.Step.Settings
	o.Length, o.SHA256 = size, sha256.Sum256(body)
	found := &page.Page{}
	if o.Status != http.StatusNoContent && o.Status != http.StatusResetContent {
		if parsed, err := p.extract(o.Step, header, o.ContentType, body); err == nil {
			found = &parsed
		}
	}
	if found.Anchors != nil && o.Step.Kind != ring.Probe {
		p.onAnchors(o.Step.Norm, found.Anchors)
	}
	found.Anchors = nil // it must not wait with the outcome
	found.Obey(page.HeaderRobotsTag(header, s.Config.UserAgent.CrawlerName))
	if o.Page = found; o.Step.Kind == ring.Probe {
		found.Links = nil // nothing follows them
	}
	p.hashLinks(o)
}

func (p *parser) hashLinks(o *ring.Outcome) {
	o.Hashes = make([]uint64, len(o.Page.Links))
	for i := range o.Page.Links {
		o.Hashes[i] = p.hash(schema.KindPage, o.Page.Links[i].URL.Norm)
	}
}

func (p *parser) extract(step ring.Step, header http.Header, contentType string, body []byte) (page.Page, error) {
	s := step.Settings
	base, err := s.Rules.Base(step.URL)
	if err != nil {
		return page.Page{}, err
	}
	if p.under != s {
		p.under = s
		p.extractor = page.NewExtractor(page.Options{
			MaxLinks: s.Config.Crawler.LinksPerPage(), Agent: s.Config.UserAgent.CrawlerName, Extracts: s.Extracts,
			Anchors: p.onAnchors != nil, OPML: s.Config.Crawler.OPML,
		})
	}
	return p.extractor.Answer(header, contentType, body, base, step.Norm), nil
}

// sitemap reads a sitemap. A list in OPML is one that names itself: it was found, and is then requested as a page.
func (p *parser) sitemap(o *ring.Outcome, body []byte) {
	file := sitemap.File{Entries: []sitemap.Entry{{Loc: o.Step.URL}}}
	if !o.Step.Settings.ReadsOPML(o.ContentType) || !opml.Is(body, o.ContentType) {
		var err error
		if file, err = sitemap.Parse(body, o.Step.URL, o.ContentType, sitemap.DefaultLimits()); err != nil {
			o.Detail = schema.Clean(err.Error(), 256)
		}
	}
	o.Length, o.SHA256, o.Sitemap = int64(len(body)), sha256.Sum256(body), &file
	o.Entries = p.targets(o.Step.Settings, schema.KindPage, file.Entries)
	o.Files = p.targets(o.Step.Settings, schema.KindSitemap, file.Children)
}

// targets returns the URLs of entries as targets, and clears them in entries: they may be large.
func (p *parser) targets(s *ring.Settings, kind schema.URLKind, entries []sitemap.Entry) []ring.Target {
	targets := make([]ring.Target, len(entries))
	for i, e := range entries {
		if u, err := s.Rules.Parse(e.Loc); err == nil {
			targets[i] = ring.Target{URL: u, Hash: p.hash(kind, u.Norm)}
		}
		entries[i].Loc = ""
	}
	return targets
}
