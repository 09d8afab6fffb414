package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Errors that say why archives cannot be imported into a state file.
var (
	ErrRuns   = errors.New("the state file holds other runs")
	ErrImport = errors.New("an import of other archives is not finished")
)

// An Import is what a run of kind import reads.
type Import struct {
	Source         [32]byte  // identifies the archives and what is taken of them
	Oldest, Newest time.Time // of the answers
}

// goesOn reports whether the import continues the only one of the runs, or says why it can neither do that nor begin.
func (i *Import) goesOn(runs []schema.Run) (bool, error) {
	switch last := len(runs) - 1; {
	case last < 0:
		return false, nil
	case runs[last].Kind == schema.RunImport && runs[last].Status != schema.RunCompleted && runs[last].Source != i.Source:
		return false, fmt.Errorf("run %d: %w", runs[last].ID, ErrImport)
	case last > 0 || runs[0].Source != i.Source || runs[0].Status == schema.RunCompleted:
		return false, ErrRuns
	}
	return true, nil
}

// FindImport returns the run that has imported a source completely, as a configuration reads it; ok is false if there
// is none. It fails with [ErrRuns] or [ErrImport] if the file has no place for it then.
func FindImport(store *kv.Store, cfg *config.Config, source [32]byte) (run schema.Run, ok bool, err error) {
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		for _, run = range runs {
			if run.Source != source || run.Status != schema.RunCompleted {
				continue
			}
			if ok, err = readAs(tx, &run, cfg); ok || err != nil {
				return err
			}
		}
		_, err = (&Import{Source: source}).goesOn(runs)
		return err
	})
	return run, ok, err
}

// readAs reports whether an import has read its archives as a configuration does.
func readAs(tx *kv.Tx, run *schema.Run, cfg *config.Config) (bool, error) {
	text, err := tx.Runs.Config(run.Config)
	if err != nil {
		return false, err
	}
	then, err := config.ParseEffective(text)
	return err == nil && then.ReadingHash() == cfg.ReadingHash(), err
}

// BeginImport continues an unfinished import of the same archives, or else begins one in an empty file, in place of
// [Recorder.Begin]. It fails with [ErrRuns] or [ErrImport] if the state file has no place for it.
func (r *Recorder) BeginImport(ctx context.Context, what Import) (Begun, error) {
	r.in.imports = &what
	return r.begin(ctx, false)
}

// Import records answers of archives in one transaction, and lets depths travel on. Pages that the run has visited, and
// those that a limit keeps out, are skipped. It returns the number of the others.
func (r *Recorder) Import(ctx context.Context, answers []ring.Outcome) (n int, err error) {
	err = r.in.store.Update(func(tx *kv.Tx) error {
		t, err := r.open(tx)
		for i := 0; i < len(answers) && err == nil; i++ {
			var added bool
			t.in.now = answers[i].FirstByte // when it names what it leads to
			if added, err = t.takeIn(&answers[i]); added {
				n++
			}
		}
		t.urls.takeReformed() // nothing of an import is repeated
		t.in.now = time.Now()
		r.tick()
		return errors.Join(err, tx.Depths.SetPending(r.reach.work), r.note(tx), tx.Runs.Put(r.in.run))
	})
	if err == nil {
		err = r.settlePending(ctx)
	}
	return n, err
}

// takeIn records the answer of an archive for a page.
func (t *turn) takeIn(o *ring.Outcome) (bool, error) {
	u, err := t.in.set.Rules.Parse(o.Step.URL)
	if err != nil {
		return false, nil
	}
	id, err := t.urls.note(ring.Target{URL: u, Hash: t.in.store.Hash(schema.KindPage, u.Norm)}, schema.KindPage, 0,
		byOwnTelling)
	if err != nil || id == 0 || t.in.visited(id) {
		return false, err
	}
	known, err := t.in.tx.URLs.Forms(id)
	if err != nil {
		return false, err
	}
	o.Step.ID, o.Step.Host, o.Step.Visit.Knew = id, t.in.store.HostOf(id), known.Set()
	v := judge.Page(o, nil, false, true)
	if v.Act != judge.Settle {
		return false, nil
	}
	visit, err := t.builder.visit(o, v)
	if err != nil {
		return false, err
	}
	visit.Archived, visit.Requests, visit.ResponseTime, visit.Proxy = true, 0, 0, ""
	h, err := t.hosts.load(o.Step.Host)
	if err != nil {
		return false, err
	}
	if err := t.ledger.record(h, visit, t.hosts.facts(h.ID).own); err != nil {
		return false, err
	}
	t.in.run.Pages++
	if t.reach.ofOrigin(id) {
		err = t.reach.relax(id, way{own: true})
	}
	return true, errors.Join(err, t.reach.carry(visit))
}

// reachImported gives the pages of origins that the run has imported their depth again.
func (t *turn) reachImported(reapply bool) error {
	if !reapply || t.in.imports == nil {
		return nil
	}
	for id := schema.ID(1); int(id) <= t.in.store.URLs(); id++ {
		if t.in.isPage(id) && t.in.visited(id) && t.reach.ofOrigin(id) {
			if err := t.reach.relax(id, way{own: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// EachReached calls f with the identity of each page within reach that the run has not visited, and that neither lists
// nor rules keep from it.
func (r *Recorder) EachReached(f func(norm string)) error {
	return r.in.store.View(func(tx *kv.Tx) error {
		if _, err := r.open(tx); err != nil {
			return err
		}
		for id := schema.ID(1); int(id) <= r.in.store.URLs(); id++ {
			depth, hops := r.in.store.Depth(id)
			if !r.in.isPage(id) || r.in.visited(id) || !r.in.within(depth, hops) {
				continue
			}
			if ok, err := r.reach.allowed(id); err != nil || !ok {
				if err != nil {
					return err
				}
				continue
			}
			norm, err := tx.URLs.Norm(id)
			if err != nil {
				return err
			}
			f(norm)
		}
		return nil
	})
}

// Imported reports whether the run has visited a page.
func (r *Recorder) Imported(norm string) (done bool, err error) {
	err = r.in.store.View(func(tx *kv.Tx) error {
		name, pathQuery := weburl.Split(norm)
		host, known, err := tx.Hosts.Lookup(name)
		if err != nil || !known {
			return err
		}
		id, ok, err := tx.URLs.Lookup(r.in.store.Hash(schema.KindPage, norm), host, schema.KindPage, pathQuery)
		done = ok && r.in.visited(id)
		return err
	})
	return done, err
}

// FinishImport records that the archives are read.
func (r *Recorder) FinishImport() error {
	r.over(true, schema.End{Kind: schema.EndArchives})
	r.in.run.Status = schema.RunCompleted
	return r.putRun(func(*kv.Tx) error { return nil })
}

// EndImport records that an import was interrupted.
func (r *Recorder) EndImport(why schema.End) error {
	r.over(false, why)
	return r.putRun(func(*kv.Tx) error { return nil })
}
