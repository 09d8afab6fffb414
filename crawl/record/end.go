package record

import (
	"errors"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// End writes down that the walk was interrupted, when and why.
func (r *Recorder) End(why schema.End) error { return r.end(false, why) }

// Finish writes down that nothing is left to do, and why.
func (r *Recorder) Finish() error {
	why, err := r.completion()
	return errors.Join(err, r.end(true, why))
}

func (r *Recorder) end(walked bool, why schema.End) error {
	r.tick()
	run := &r.in.run
	run.Walked, run.End, run.Finished = walked, why, time.Now().Truncate(time.Second)
	if !walked {
		run.Status = schema.RunInterrupted
	}
	return r.putRun()
}

// Complete writes down that the outputs of a walk that came to its end are in place.
func (r *Recorder) Complete() error {
	r.in.run.Status = schema.RunCompleted
	return r.putRun()
}

func (r *Recorder) putRun() error {
	return r.in.store.Update(func(tx *kv.Tx) error { return tx.Runs.Put(r.in.run) })
}

// completion says why nothing is left to do.
func (r *Recorder) completion() (schema.End, error) {
	if limit := r.in.set.Config.Crawler.MaxPages; limit > 0 && r.in.run.Pages >= limit {
		return schema.End{Kind: schema.EndMaxPages, N: limit}, nil
	}
	cut := 0
	err := r.in.store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			waits, err := r.quotas.cut(tx, h)
			if waits {
				cut++
			}
			return true, err
		})
	})
	if cut > 0 {
		return schema.End{Kind: schema.EndBudgets, N: cut}, err
	}
	return schema.End{Kind: schema.EndFrontier}, err
}
