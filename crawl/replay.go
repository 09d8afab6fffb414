package crawl

import (
	"errors"
	"io"
	"log/slog"
	"slices"

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
	var done Replayed
	if _, err := lastRun(store); err != nil {
		return done, err
	}
	set, err := newSettings(cfg)
	if err != nil {
		return done, err
	}
	defer set.client.Close()
	p := &replay{
		recorder: newRecorder(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), nil),
		reader:   warc.NewReader(cfg.Pages.Path), visitor: &visitor{hash: store.Hash}, done: &done,
	}
	if p.run, err = lastRun(store); err != nil {
		return done, err
	}
	last := schema.ID(store.URLs())
	for next := schema.ID(1); next <= last; {
		if next, err = p.some(next, last); err != nil {
			return done, err
		}
	}
	done.Run, err = Reclassify(store, cfg)
	return done, err
}

// A replay is a recorder that gets its pages from a page store.
type replay struct {
	*recorder
	reader  *warc.Reader
	visitor *visitor
	done    *Replayed
}

// some extracts some pages from an id on, in one commit, and returns the next id.
func (p *replay) some(next, last schema.ID) (schema.ID, error) {
	err := p.store.Update(func(tx *kv.Tx) error {
		t, err := p.turn(tx)
		if err != nil {
			return err
		}
		pages, size := 0, 0
		for ; next <= last && pages < replayBatch && size < replayBytes; next++ {
			n, err := p.page(t, next)
			if err != nil {
				return err
			}
			if size += n; n > 0 {
				pages++
			}
		}
		return nil
	})
	return next, err
}

// page extracts one page, and returns the size of its body.
func (p *replay) page(t *turn, id schema.ID) (int, error) {
	if p.store.Kind(id) != schema.KindPage || !t.visited(id) {
		return 0, nil
	}
	before, err := t.tx.Visit(p.store.Latest(id))
	if err != nil || before.StoredPath == "" || before.State != schema.Processed {
		return 0, err
	}
	rec, err := p.reader.Page(before.StoredPath)
	if err != nil {
		p.done.Missing++
		return 0, nil
	}
	p.done.Pages++
	norm, err := t.tx.Norm(id)
	if err != nil {
		return 0, err
	}
	o := p.outcome(id, norm, rec)
	after, err := t.again(o, before)
	if err != nil {
		return 0, err
	}
	changed, err := t.differs(before, after)
	if err != nil || !changed {
		return len(rec.Body), err
	}
	p.done.Changed++
	_, err = t.tx.AddVisit(after)
	return len(rec.Body), errors.Join(err, t.tx.SetReapply(true)) // its depth travels anew
}

// outcome is what a visitor would have made of a stored answer.
func (p *replay) outcome(id schema.ID, norm string, rec *warc.Record) *Outcome {
	o := &Outcome{
		Step:   Step{Kind: StepGet, ID: id, URL: rec.URL, Norm: norm, Settings: p.set},
		Status: rec.Status, FirstByte: rec.At, Done: rec.At, ContentType: schema.Clean(rec.Header.Get("Content-Type"), 128),
	}
	p.visitor.page(o, rec.Header, rec.Body, int64(len(rec.Body)))
	return o
}

// again is the visit of a page with the links and facts of an outcome, as if it
// had been made under the present configuration.
func (t *turn) again(o *Outcome, before *schema.Visit) (*schema.Visit, error) {
	after := *before
	after.Kept, after.Requests, after.Stand = true, 0, 0
	after.Run, after.Links = t.run.ID, nil
	fresh := t.visitOf(o, verdict{settle: true, state: before.State})
	after.Title, after.Facts, after.Charset = fresh.Title, fresh.Facts, fresh.Charset
	after.NoIndex, after.NoFollow, after.Distinct = fresh.NoIndex, fresh.NoFollow, fresh.Distinct
	err := t.pageTargets(o, &after)
	return &after, err
}

// differs compares what was extracted with what is recorded.
func (t *turn) differs(before, after *schema.Visit) (bool, error) {
	from := before
	if before.Stand != 0 {
		var err error
		if from, err = t.tx.Visit(before.Stand); err != nil {
			return false, err
		}
	}
	if err := t.tx.Anchors(from); err != nil {
		return false, err
	}
	slices.SortFunc(after.Links, func(a, b schema.Link) int { return int(int64(a.To) - int64(b.To)) })
	same := slices.Equal(from.Links, after.Links) && slices.Equal(from.Facts, after.Facts) &&
		before.Title == after.Title && before.Charset == after.Charset && before.NoIndex == after.NoIndex &&
		before.NoFollow == after.NoFollow && before.Distinct == after.Distinct
	return !same, nil
}
