package record

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// End records that the walk was interrupted, when and why.
func (r *Recorder) End(why schema.End) error {
	r.over(false, why)
	if why.Kind == schema.EndReload {
		return r.putRun(func(*kv.Tx) error { return nil })
	}
	return r.tellRun(webhook.RunInterrupted)
}

// Finish records that nothing is left to do, and why.
func (r *Recorder) Finish() error {
	cut := cuts{}
	why, err := r.completion(cut)
	r.over(true, why)
	return errors.Join(err, r.putRun(func(tx *kv.Tx) error { return cut.tell(tx, &r.in) }))
}

// over records in memory that the walk is over.
func (r *Recorder) over(walked bool, why schema.End) {
	r.tick()
	run := &r.in.run
	run.Walked, run.End, run.Finished = walked, why, time.Now().Truncate(time.Second)
	if !walked {
		run.Status = schema.RunInterrupted
	}
}

// Complete records that the outputs of a finished walk are in place.
func (r *Recorder) Complete() error {
	r.in.run.Status = schema.RunCompleted
	return r.tellRun(webhook.RunCompleted)
}

func (r *Recorder) putRun(tell func(*kv.Tx) error) error {
	return r.in.store.Update(func(tx *kv.Tx) error {
		return errors.Join(tx.Runs.Put(r.in.run), r.mark(tx, time.Now()), tell(tx))
	})
}

// tellRun records the end of the run, and queues a message about it.
func (r *Recorder) tellRun(kind string) error {
	cfg, tells := r.in.set.Config, true
	run := webhook.NewRun(cfg, &r.in.run)
	if cfg.Monitor.Webhook != "" {
		err := r.in.store.View(func(tx *kv.Tx) (err error) {
			run.Errors, err = survey.RunErrors(r.in.store, tx, cfg, &r.in.run)
			return err
		})
		if err == nil && r.Tells != nil {
			tells, err = r.Tells(&run)
		}
		if err != nil {
			return err
		}
	}
	return r.putRun(func(tx *kv.Tx) error {
		if !tells {
			return nil
		}
		return webhook.Add(tx, cfg, kind, run)
	})
}

// completion returns why nothing is left to do, and collects the origins that were cut.
func (r *Recorder) completion(cut cuts) (schema.End, error) {
	limit, enough := r.in.set.Config.Crawler.MaxPages, r.quotas.usedUp()
	if enough && r.in.set.Config.Monitor.Webhook == "" {
		return schema.End{Kind: schema.EndMaxPages, N: limit}, nil
	}
	n := 0
	err := r.in.store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			key, err := r.quotas.cut(tx, h)
			if key != "" {
				n++
				cut.add(r.in.set.Scope, h.Name, key)
			}
			return true, err
		})
	})
	switch {
	case enough:
		return schema.End{Kind: schema.EndMaxPages, N: limit}, err
	case n > 0:
		return schema.End{Kind: schema.EndBudgets, N: n}, err
	}
	return schema.End{Kind: schema.EndFrontier}, err
}

// cuts are the origins of which pages are left out, by their index in the configuration.
type cuts map[int]*webhook.Origin

// add adds a host that a key has cut.
func (c cuts) add(terr *scope.Scope, host, key string) {
	const named = 10
	for _, i := range terr.OriginsOf(host) {
		o := c[i]
		if o == nil {
			o = &webhook.Origin{Origin: terr.Origins()[i].Name, Reason: key}
			c[i] = o
		}
		if o.Hosts++; len(o.Domains) < named {
			o.Domains = append(o.Domains, host)
		}
	}
}

// tell reports the origins, at most webhook.MaxGathered at a time.
func (c cuts) tell(tx *kv.Tx, in *runState) error {
	places := slices.Sorted(maps.Keys(c))
	for some := range slices.Chunk(places, webhook.MaxGathered) {
		told := webhook.Origins{Subject: webhook.SubjectOf(in.set.Config, in.run.ID)}
		for _, i := range some {
			told.Origins = append(told.Origins, *c[i])
		}
		if err := webhook.Add(tx, in.set.Config, webhook.OriginCut, told); err != nil {
			return err
		}
	}
	return nil
}
