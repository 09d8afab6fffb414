package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// ErrIdentity reports a changed [url] section: the URLs in the state file were canonicalized by other rules.
var ErrIdentity = errors.New("[url] differs from the state file's")

const metaIdentity = "url identity"

// Begun says which run a crawl continues or begins.
type Begun struct {
	Run     schema.Run
	Resumed bool
	Changed bool       // the configuration differs from that of the run, or of the run before
	Before  schema.Run // the previous run if a new one begins; its ID is 0 if there is none
}

// Begin continues the uncompleted run, or else begins the next one. It is idempotent: the next start repeats one that
// was killed or ended by ctx.
func (r *Recorder) Begin(ctx context.Context) (Begun, error) {
	left, err := halfReclassified(r.in.store)
	if err == nil && left { // the reclassification decides which run continues
		_, err = r.Reclassify()
	}
	if err != nil {
		return Begun{}, err
	}
	return r.begin(ctx, false)
}

// begin implements Begin. With again it works on the last run even if that is completed, and leaves the page store
// and the status of the run unchanged.
func (r *Recorder) begin(ctx context.Context, again bool) (Begun, error) {
	var b Begun
	var reapply bool
	err := r.in.store.Update(func(tx *kv.Tx) error {
		if r.Enter != nil {
			if err := r.Enter(tx); err != nil {
				return err
			}
		}
		t, err := r.open(tx)
		if err == nil {
			err = r.hosts.recall()
		}
		if err != nil {
			return err
		}
		if reapply, err = t.enterRun(again, &b); err != nil {
			return err
		}
		if err := r.in.tx.Runs.PutConfig(r.in.run.Config, r.in.set.Config.Effective()); err != nil {
			return err
		}
		if err := keepNotes(&r.in); err != nil {
			return err
		}
		r.replaying = again
		if r.history, err = tx.Runs.History(r.in.run.ID); err != nil {
			return err
		}
		if err := t.sow(reapply); err != nil || again {
			return err
		}
		return r.pages.cut(&r.in)
	})
	if err != nil {
		return b, err
	}
	b.Run = r.in.run
	if err := r.recall(); err != nil {
		return b, err
	}
	if reapply && r.in.imports != nil {
		err = r.in.store.Update(func(tx *kv.Tx) error { return tx.Meta.SetReapply(again) })
	} else if reapply {
		err = r.takeUp(ctx, again)
	}
	if err != nil {
		return b, err
	}
	return b, r.settlePending(ctx)
}

// keepNotes stores the notes on hosts in the state file.
func keepNotes(in *runState) error {
	text, err := in.set.Config.Notes().Encode()
	if err != nil {
		return err
	}
	return in.tx.Meta.Put(schema.MetaNotes, text)
}

// enterRun chooses the run. If the depths must be derived again, it begins a new generation of them and reports that.
func (t *turn) enterRun(again bool, b *Begun) (reapply bool, err error) {
	if err := checkIdentity(t.in); err != nil {
		return false, err
	}
	if reapply, err = chooseRun(t.in, b, again); err != nil {
		return false, err
	}
	if !again {
		t.in.run.JudgedBy("walls", wall.Version())
	}
	if !reapply && !t.in.tx.Meta.Reapply() {
		return false, nil
	}
	if err := t.in.tx.Meta.SetReapply(true); err != nil { // until all that waits is queued
		return false, err
	}
	if t.in.run.Generation, err = t.in.tx.Depths.NewGeneration(); err != nil {
		return false, err
	}
	t.reach.work = nil
	return true, nil
}

// recall reads what the run has learned before this process began, from sitemaps and about the time of scripts.
func (r *Recorder) recall() error {
	return r.in.store.View(func(tx *kv.Tx) error {
		r.in.tx = tx
		err := r.reach.recallSpeakers()
		if err == nil {
			err = r.reach.recallListings()
		}
		if err == nil {
			err = r.renderQueue.recall()
		}
		return err
	})
}

// Foresee returns the run that [Recorder.Begin] would continue or begin under a configuration, or the error that it
// would return, such as [ErrIdentity]. It writes nothing.
func Foresee(store *kv.Store, cfg *config.Config) (Begun, error) {
	var b Begun
	in := &runState{store: store, set: &ring.Settings{Config: cfg}, started: time.Now()}
	err := store.View(func(tx *kv.Tx) error {
		in.tx = tx
		identity, err := tx.Meta.Value(metaIdentity)
		if err == nil && identity != nil {
			err = checkIdentity(in)
		}
		if err == nil {
			_, err = chooseRun(in, &b, false)
		}
		return err
	})
	b.Run = in.run
	return b, err
}

func checkIdentity(in *runState) error {
	want := in.set.Config.URLIdentity()
	have, err := in.tx.Meta.Value(metaIdentity)
	if err != nil {
		return err
	}
	if have == nil {
		return in.tx.Meta.Put(metaIdentity, []byte(want))
	}
	if string(have) != want {
		return fmt.Errorf("%w: use --fresh, or restore strip-params and max-length", ErrIdentity)
	}
	return nil
}

// chooseRun decides which run to work on, and whether its depths must be derived again. With again it continues the
// last run in any case.
func chooseRun(in *runState, b *Begun, again bool) (reapply bool, err error) {
	runs, err := in.tx.Runs.All()
	if err != nil {
		return false, err
	}
	hash, n := in.set.Config.Hash(), len(runs)
	goesOn := n > 0 && runs[n-1].Status != schema.RunCompleted && runs[n-1].Kind == schema.RunCrawl
	if in.imports != nil {
		if goesOn, err = in.imports.goesOn(runs); err != nil {
			return false, err
		}
	}
	defer func() { in.earlier = earlierOf(&in.run, runs) }()
	if again && runs[n-1].Kind == schema.RunImport {
		in.imports = &Import{Oldest: runs[n-1].Oldest, Newest: runs[n-1].Newest}
	}
	if again || goesOn {
		in.run = runs[n-1]
		b.Resumed, b.Changed = true, in.run.Config != hash
		if in.run.Config = hash; b.Changed {
			in.run.Changed = time.Now().Truncate(time.Millisecond)
		}
		if again {
			return b.Changed, nil
		}
		in.run.Status, in.run.Walked = schema.RunRunning, in.run.Walked && !b.Changed && !in.tx.Meta.Reapply()
		if !in.run.Walked {
			in.run.End, in.run.Finished = schema.End{}, time.Time{}
		}
		return b.Changed, nil
	}
	if n > 0 {
		b.Before, b.Changed = runs[n-1], runs[n-1].Config != hash
	}
	in.run = schema.Run{
		ID: b.Before.ID + 1, Started: in.started.Truncate(time.Second), Config: hash,
		FirstVisit: in.store.LastSeq() + 1, Generation: in.store.Generation(),
	}
	if in.imports != nil {
		in.run.Kind, in.run.Source = schema.RunImport, in.imports.Source
		in.run.Oldest, in.run.Newest = in.imports.Oldest, in.imports.Newest
	}
	return b.Before.ID > 0, nil
}

// sow records the seeds and queues them at depth 0. In a new generation of depths, these travel again from the seeds,
// from the sitemaps and from the referrals of other shards.
func (t *turn) sow(reapply bool) (err error) {
	var again []schema.HostID
	if reapply {
		if again, err = t.forgetSitemaps(); err != nil {
			return err
		}
	}
	for _, origin := range t.in.set.Scope.Origins() {
		for _, raw := range origin.Seeds {
			if err := t.sowOne(raw); err != nil {
				return err
			}
		}
		for _, raw := range origin.Sitemaps {
			if t.in.imports != nil {
				break
			}
			if err := t.sowSitemap(raw, survey.OriginVoucher(origin.Name)); err != nil {
				return err
			}
		}
	}
	for _, host := range again {
		if err := t.queueSitemapsAgain(host); err != nil {
			return err
		}
	}
	if err := errors.Join(t.referAgain(reapply), t.reachImported(reapply)); err != nil {
		return err
	}
	return errors.Join(t.in.tx.Depths.SetPending(t.reach.work), t.in.tx.Runs.Put(t.in.run))
}

func (t *turn) sowOne(raw string) error {
	u, err := t.in.set.Rules.Parse(raw)
	if err != nil || t.in.store.ForeignName(u.Host()) {
		return err
	}
	to := ring.Target{URL: u, Hash: t.in.store.Hash(schema.KindPage, u.Norm)}
	id, err := t.urls.note(to, schema.KindPage, 0, bySeed)
	if err != nil || id == 0 {
		return err
	}
	if host := t.in.store.HostOf(id); !t.in.seeds.pages[id] {
		t.in.seeds.pages[id], t.in.seeds.hosts[host] = true, append(t.in.seeds.hosts[host], id)
	}
	return errors.Join(t.reopen(), t.reach.relax(id, way{own: true}), t.hosts.vouch(t.in.store.HostOf(id)))
}

// sowSitemap records and queues a sitemap that the configuration names, which speaks for an origin.
func (t *turn) sowSitemap(raw, voucher string) error {
	u, err := t.in.set.Rules.Parse(raw)
	if err != nil || t.in.set.Config.Crawler.Sitemaps == config.SitemapsOff || t.in.store.ForeignName(u.Host()) {
		return err
	}
	to := ring.Target{URL: u, Hash: t.in.store.Hash(schema.KindSitemap, u.Norm)}
	id, err := t.urls.note(to, schema.KindSitemap, 0, bySeed)
	if err != nil || id == 0 {
		return err
	}
	return errors.Join(t.reach.vouch(id, voucher), t.reach.queueFile(id, 0))
}

// forgetSitemaps makes every host queue its sitemaps again. It returns the hosts of an origin that had requests in this
// run: they may have no other work, and queue theirs at once. Sitemaps that were read in this run pass their pages on
// without a request.
func (t *turn) forgetSitemaps() (again []schema.HostID, err error) {
	if err := t.reach.recallSpeakers(); err != nil { // which decide where a file waits
		return nil, err
	}
	var known []schema.HostID
	err = t.in.tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		if h.SitemapsRun != 0 || h.SitemapFiles+h.SitemapOthers != 0 {
			known = append(known, h.ID)
		}
		if h.Run == t.in.run.ID && !h.RobotsAt.IsZero() && t.hosts.facts(h.ID).own {
			again = append(again, h.ID)
		}
		return true, nil
	})
	for i := 0; err == nil && i < len(known); i++ {
		var h *schema.Host
		if h, err = t.in.tx.Hosts.At(known[i]); err == nil {
			h.SitemapsRun, h.SitemapFiles, h.SitemapOthers = 0, 0, 0
			t.hosts.put(h)
		}
	}
	return again, err
}

func (t *turn) queueSitemapsAgain(id schema.HostID) error {
	h, err := t.hosts.load(id)
	if err != nil {
		return err
	}
	rules, err := t.robots.copied(h)
	if err != nil || rules == nil || !t.reach.sitemapsDue(h) {
		return err
	}
	return t.queueSitemaps(h, rules)
}

// takeUp queues the pages that earlier runs left waiting, once per generation of depths. If ctx is done first, the
// next start repeats it, also after a killed Reclassify.
func (r *Recorder) takeUp(ctx context.Context, again bool) error {
	s, err := survey.New(r.in.store)
	if err != nil {
		return err
	}
	var left []leftPage
	err = survey.EachLeft(s, func(id schema.ID, depth uint8, own bool) { left = append(left, leftPage{id, depth, own}) })
	for more := true; more && err == nil && ctx.Err() == nil; {
		n := min(len(left), r.MostTravelled)
		more = n < len(left)
		err = r.in.store.Update(func(tx *kv.Tx) error {
			t, err := r.open(tx)
			for i := 0; i < n && err == nil; i++ {
				err = t.reach.takeUp(left[i])
			}
			if err != nil {
				return err
			}
			return errors.Join(tx.Depths.SetPending(r.reach.work), tx.Meta.SetReapply(more || again))
		})
		left = left[n:]
	}
	return err
}

// settlePending lets depths travel on until all are settled or ctx is done.
func (r *Recorder) settlePending(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		err := r.in.store.Update(func(tx *kv.Tx) error {
			_, err := r.open(tx)
			if err == nil {
				err = r.reach.travel(r.MostTravelled)
			}
			more = len(r.reach.work) > 0
			return errors.Join(err, tx.Depths.SetPending(r.reach.work))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
