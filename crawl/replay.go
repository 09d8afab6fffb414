package crawl

import (
	"errors"

	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// replayBatch is the most pages in one commit of a replay, and replayBytes the most bytes of their
// bodies.
const (
	replayBatch = 256
	replayBytes = 16 << 20
)

// ErrArchives reports a last run that has read web archives: its pages are in no page store.
var ErrArchives = errors.New("the last run has read web archives, whose pages are in no page store")

// A Replayed is the result of a replay.
type Replayed struct {
	Run     schema.Run
	Pages   int // read from the page store
	Changed int // their links or facts differ from what was recorded
	Missing int // their record is no longer in the page store
}

// Replay extracts links and facts again from the page store, without a request to any server, and
// records what differs. A page whose answer the present rules recognise as a wall is as an earlier
// visit found it, or failed. Depths, what waits, and the status of the run then follow as in
// [Reclassify]. It is idempotent.
//
// Pages that are not in the page store stay as they are, and so do those that the last run has not
// visited. If that is an import, Replay fails with [ErrArchives].
func Replay(store *kv.Store, cfg *config.Config) (Replayed, error) {
	if _, err := Foresee(store, cfg); err != nil { // before anything is written
		return Replayed{}, err
	}
	set, err := offline(cfg)
	if err != nil {
		return Replayed{}, err
	}
	defer set.Client.Close()
	p := &replay{set: set, reader: warc.NewReader(cfg.Pages.Path), parser: &parser{hash: store.Hash}}
	rec := record.New(store, set, silent(), nil)
	if err := rec.Resume(); err != nil {
		return Replayed{}, err
	}
	if rec.Run().Kind == schema.RunImport {
		return Replayed{}, ErrArchives
	}
	last := schema.ID(store.URLs())
	for next := schema.ID(1); next <= last; {
		var changed int
		p.pages, p.size = 0, 0
		if next, changed, err = rec.Reread(next, p.read); err != nil {
			return p.done, err
		}
		p.done.Changed += changed
	}
	p.done.Run, err = Reclassify(store, cfg)
	return p.done, err
}

// A replay reads the answers in a page store again.
type replay struct {
	set    *ring.Settings
	reader *warc.Reader
	parser *parser
	done   Replayed
	pages  int // in this commit
	size   int // bytes of their bodies
}

// read returns the outcome that a visitor would have made of a stored answer. more is false when
// the commit is large enough.
func (p *replay) read(r record.Reading) (o *ring.Outcome, more bool) {
	if r.Visit.StoredPath == "" {
		return nil, true
	}
	rec, err := p.reader.Page(r.Visit.StoredPath)
	if err != nil {
		p.done.Missing++
		return nil, true
	}
	p.size += len(rec.Body)
	o = &ring.Outcome{
		Step:   ring.Step{Kind: ring.Get, ID: r.ID, URL: rec.URL, Norm: r.Norm, Settings: p.set},
		Status: rec.Status, FirstByte: rec.At, Done: rec.At, ContentType: contentType(rec.Header.Get("Content-Type")),
	}
	if o.Wall = wall.Detect(o.Status, rec.Header, markup(o, rec.Header, rec.Body), weburl.Host(rec.URL)); o.Wall != nil {
		o.Length = int64(len(rec.Body))
		p.done.Pages++
		p.pages++
		return o, p.pages < replayBatch && p.size < replayBytes
	}
	p.parser.page(o, rec.Header, rec.Body, int64(len(rec.Body)))
	if r.Visit.Rendering&schema.Rendered != 0 {
		shown, err := p.reader.Rendered(r.Visit.StoredPath)
		if err != nil {
			p.done.Missing++
			return nil, true
		}
		p.size += len(shown.DOM)
		p.parser.shown(o, rec.Header, shown)
	}
	// The page store does not tell these.
	o.Page.Rendering, o.Page.RenderAsked, o.Page.Refusals = r.Visit.Rendering, r.Visit.RenderAsked, r.Visit.Refusals
	p.done.Pages++
	p.pages++
	return o, p.pages < replayBatch && p.size < replayBytes
}
