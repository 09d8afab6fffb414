package crawl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/archive"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// importBatch is the most pages in one commit of an import, and importBytes the most bytes of their bodies.
const (
	importBatch = 256
	importBytes = 16 << 20
)

// mostNamed is how many damaged records, and how many files that differ from their manifests, are named.
const mostNamed = 20

// ErrNoCaptures reports archives that hold nothing of the terrain.
var ErrNoCaptures = errors.New("the archives hold no page of the terrain")

// An Imported is the result of an import.
type Imported struct {
	Run     schema.Run
	Resumed bool
	Known   bool         // the run had these archives, read with these settings, already; nothing was imported
	Last    schema.RunID // of a run that joined others: the last of these now
	Bytes   int64        // of the archives
	Records int          // read
	Refused int          // of those: captures that lists or rules keep out
	Pages   int          // recorded
	Damaged int          // records that could not be read
	Damages []string     // the first of those: file, offset and reason

	// Of WACZ files: files in them that the manifest does not list or contradicts. They are imported all the same.
	Unverified int
	Doubts     []string // the first of those: both names and the reason
}

func (d *Imported) damaged(path string, at int64, why error) {
	if d.Damaged++; len(d.Damages) < mostNamed {
		d.Damages = append(d.Damages, fmt.Sprintf("%s at %d: %s", path, at, schema.Clean(why.Error(), 256)))
	}
}

func (d *Imported) unverified(path string, why error) {
	if d.Unverified++; len(d.Doubts) < mostNamed {
		d.Doubts = append(d.Doubts, path+" "+schema.Clean(why.Error(), 300))
	}
}

// Import records what web archives hold as a run of kind import. It makes no requests, and leaves the clocks, budgets
// and robots.txt files of hosts unchanged. Pages of origins are recorded however they were found, other pages only if
// links lead to them within max-depth. Lists and rules exclude pages as they do in a crawl. Import is idempotent: after
// a kill, the same call continues.
//
// Each archive is read once for its SHA-256 and once for its captures. Archives with chosen captures are then read
// again to follow links, at most once for every step from an origin. Memory holds 48 bytes for each capture of the
// terrain, about twice as many for a rendered one, and the URL of each revisit.
//
// If scripts were run when a page was archived, its links are those that they left, whether or not this configuration
// renders pages: a conversion to HTML that follows the answer, refers to it and has its date.
//
// It fails with [record.ErrRuns] or [record.ErrImport] if the state file has no place for the run, and with
// [ErrNoCaptures] if there is nothing to import. Nothing is written then. A run in a file of its own joins others by
// [kv.Store.Join].
func Import(ctx context.Context, store *kv.Store, cfg *config.Config, from Archives) (done Imported, err error) {
	if err := Whole(store); err != nil {
		return done, err
	}
	set, err := offline(cfg)
	if err != nil {
		return done, err
	}
	defer set.Client.Close()
	what := record.Import{}
	if what.Source, err = from.source(ctx); err != nil {
		return done, err
	}
	var known bool
	if done.Run, known, err = record.FindImport(store, cfg, what.Source); known || err != nil {
		done.Known, done.Pages = known, done.Run.Pages
		return done, err
	}
	held := &inventory{archives: &from, set: set, hash: store.Hash, done: &done, texts: map[uint64]string{},
		rendered: map[moment]spot{}}
	if err := held.take(ctx); err != nil {
		return done, err
	}
	if held.choose(); len(held.captures) == 0 {
		return done, ErrNoCaptures
	}
	what.Oldest, what.Newest = held.span()
	i := &importer{
		inventory: held, rec: record.New(store, set, silent(), nil),
		parsers: newParsers(store.Hash, nil, runtime.GOMAXPROCS(0)),
	}
	begun, err := i.rec.BeginImport(ctx, what)
	if err != nil {
		return done, err
	}
	done.Resumed = begun.Resumed
	if err = i.rounds(ctx); err == nil {
		err = i.rec.FinishImport()
	} else if ctx.Err() != nil {
		err = errors.Join(err, i.rec.EndImport(stopped(ctx)))
	}
	done.Run = i.rec.Run()
	done.Pages = done.Run.Pages
	return done, err
}

// An importer records the captures of an inventory.
type importer struct {
	*inventory
	rec     *record.Recorder
	parsers parsers
	batch   []*stored
	size    int // bytes of their bodies
}

// A stored is an answer that was read from an archive.
type stored struct {
	url    string
	at     time.Time
	answer *archive.Answer
	wat    bool           // a description: it has no body
	shown  *warc.Rendered // what scripts made of it; nil: none were run
}

// rounds records the pages of origins, then those that their links lead to, and so on.
func (i *importer) rounds(ctx context.Context) error {
	n, err := i.round(ctx, func(c *capture) bool { return c.direct() })
	for err == nil {
		reached := map[uint64]bool{}
		err = i.rec.EachReached(func(norm string) { reached[i.hash(schema.KindPage, norm)] = true })
		if err == nil {
			n, err = i.round(ctx, func(c *capture) bool { return reached[c.url] })
		}
		if n == 0 {
			break
		}
	}
	return err
}

// round records the captures for which want holds, and returns their number.
func (i *importer) round(ctx context.Context, want func(*capture) bool) (n int, err error) {
	all := i.captures
	for len(all) > 0 && err == nil {
		file, end := all[0].file, 1
		for end < len(all) && all[end].file == file {
			end++
		}
		err = i.inputs[file].read(nil, func(r *archive.Reader) error {
			for k := range all[:end] {
				c := &all[k]
				if !want(c) {
					continue
				}
				if err := i.read(r, c, i.inputs[file].wat); err != nil {
					return err
				}
				if len(i.batch) < importBatch && i.size < importBytes {
					continue
				}
				if err := i.commit(ctx, &n); err != nil {
					return err
				}
			}
			return io.EOF
		})
		all = all[end:]
	}
	return n, errors.Join(err, i.commit(ctx, &n))
}

// read adds a capture to the batch, unless its page is recorded.
func (i *importer) read(r *archive.Reader, c *capture, wat bool) error {
	rec, err := recordAt(r, archive.Place{Offset: c.offset, Index: int(c.index)})
	if err != nil {
		return err
	}
	s := &stored{url: rec.URL, at: time.UnixMilli(c.at).UTC(), wat: wat}
	if c.kind >= sameBody {
		s.url = i.texts[c.url]
	}
	u, err := i.set.Rules.Parse(s.url)
	if err != nil || i.hash(schema.KindPage, u.Norm) != c.url {
		return errChanged
	}
	if known, err := i.rec.Imported(u.Norm); err != nil || known {
		return err
	}
	var ok bool
	if s.answer, ok, err = answerOf(r, rec, wat); err != nil || !ok {
		return err
	}
	step := i.step(s)
	most := limit(step)(s.answer.Status, s.answer.Header)
	if most > 0 && !wat {
		err = r.Body(rec, s.answer, most+1)
	}
	if at, ok := i.shown[c.url]; ok && most > 0 && err == nil {
		err = i.readShown(r, c, s, at, most)
	}
	i.batch = append(i.batch, s)
	i.size += len(s.answer.Body)
	return err
}

// errChanged reports an archive that holds other records than before.
var errChanged = errors.New("the file has changed while it was being imported; import it again")

// recordAt returns the record at a place.
func recordAt(r *archive.Reader, at archive.Place) (*archive.Record, error) {
	if err := r.Seek(at); err != nil {
		return nil, err
	}
	rec, err := r.Next()
	if err == io.EOF || err == nil && rec.Place != at {
		err = errChanged
	}
	return rec, err
}

// readShown reads what scripts made of a page, from the file of its answer if it is there. A document of more than most
// bytes is left out.
func (i *importer) readShown(r *archive.Reader, c *capture, s *stored, at spot, most int64) error {
	read := func(r *archive.Reader) error {
		rec, err := recordAt(r, at.place)
		var a *archive.Answer
		if err == nil {
			a, err = r.Answer(rec)
		}
		if err == nil {
			err = r.Body(rec, a, most+1)
		}
		if err == nil && int64(len(a.Body)) <= most {
			s.shown = &warc.Rendered{DOM: a.Body, Navigations: rec.Fields.Values(warc.Navigation)}
			i.size += len(a.Body)
		}
		return err
	}
	if at.file == c.file {
		return read(r)
	}
	return i.inputs[at.file].read(nil, func(other *archive.Reader) error {
		if err := read(other); err != nil {
			return err
		}
		return io.EOF
	})
}

func (i *importer) step(s *stored) ring.Step {
	return ring.Step{Kind: ring.Get, URL: s.url, Settings: i.set, Sent: s.at}
}

// commit parses the answers of the batch and records them. It adds the number of new pages to n.
func (i *importer) commit(ctx context.Context, n *int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	outcomes := make([]ring.Outcome, len(i.batch))
	var g errgroup.Group
	g.SetLimit(cap(i.parsers))
	for k, s := range i.batch {
		g.Go(func() error {
			p, err := i.parsers.take(ctx)
			if err != nil {
				return err
			}
			outcomes[k] = i.parse(p, s)
			i.parsers <- p
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	i.batch, i.size = i.batch[:0], 0
	added, err := i.rec.Import(ctx, outcomes)
	*n += added
	return err
}

// parse returns the outcome that a visitor would have made of an answer.
func (i *importer) parse(p *parser, s *stored) ring.Outcome {
	o := ring.Outcome{Step: i.step(s), RetryAfter: -1, Length: -1}
	if u, err := i.set.Rules.Parse(s.url); err == nil {
		o.Step.Norm, o.Step.URL = u.Norm, u.Form
	}
	resp, err := i.set.Client.Stored(s.url, s.answer.Status, s.answer.Header, s.answer.Body, s.at)
	if resp != nil {
		defer resp.Release()
		answer(&o, resp)
	}
	if err == nil {
		err = p.decode(&o, resp)
	}
	if err != nil {
		fail(&o, err)
		return o
	}
	p.read(&o, resp)
	if s.shown != nil && o.Page != nil {
		rendering := schema.Rendered
		if p.shown(&o, resp.Header, s.shown) {
			rendering |= schema.RenderEmpty
		}
		o.Page.Rendering = rendering
	}
	if s.wat && o.Page != nil {
		o.Length, o.SHA256, o.Page.WordCount, o.Page.SimHash, o.Page.Shown = -1, [32]byte{}, 0, 0, 0
	}
	return o
}
