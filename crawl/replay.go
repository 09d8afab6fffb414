package crawl

import (
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// replayBatch is the number of pages that one commit of a replay holds at most,
// and replayBytes that of their bodies.
const (
	replayBatch = 256
	replayBytes = 16 << 20
)

// A Replayed says what a replay has come to.
type Replayed struct {
	Run     schema.Run
	Pages   int // read from the page store
	Changed int // whose links or facts are other than they were recorded
	Missing int // whose record is not in the page store any more
}

// Replay extracts links and facts again from the page store, without asking a
// server, and records what is other than it was. Depths, and what waits, follow
// as after [Reclassify]; so does what becomes of the run. It is idempotent.
//
// Pages that were left out of the page store stay as they are, and so do those
// that the last run has not visited.
func Replay(store *kv.Store, cfg *config.Config) (Replayed, error) {
	if _, err := Foresee(store, cfg); err != nil { // before anything is recorded
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

// A replay reads answers again from a page store.
type replay struct {
	set    *ring.Settings
	reader *warc.Reader
	parser *parser
	done   Replayed
	pages  int // of this commit
	size   int // of their bodies
}

// read is what a visitor would have made of a stored answer. There is no more to read
// in one commit when it is large enough.
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
	p.done.Pages++
	p.pages++
	return o, p.pages < replayBatch && p.size < replayBytes
}
