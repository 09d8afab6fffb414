package merge

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// copyRuns copies the runs one after the other, each with the visits of all shards.
func (m *merger) copyRuns() error {
	for n := range m.sources[0].runs {
		if err := m.copyRun(n); err != nil {
			return err
		}
	}
	for _, s := range m.sources {
		if s.next <= s.store.LastSeq() {
			return s.named(fmt.Errorf("%w: visit %d is of a run that is not there", kv.ErrDamaged, s.next))
		}
	}
	return nil
}

// copyRun copies the n-th run.
func (m *merger) copyRun(n int) error {
	base := max(0, slices.IndexFunc(m.sources, func(s *source) bool { return s.runs[n].End.Kind != schema.EndRecreated }))
	whole := m.sources[base].runs[n]
	whole.FirstVisit, whole.Generation, whole.Errors = m.dst.LastSeq()+1, m.dst.Generation(), maps.Clone(whole.Errors)
	whole.Portion = 0
	for i, s := range m.sources {
		if i != base {
			add(&whole, &s.runs[n])
		}
	}
	if whole.End.Without = m.without; m.partial() {
		whole.Status, whole.Walked = schema.RunInterrupted, false
	}
	var histories []schema.History
	for _, s := range m.sources {
		h, err := s.tx.Runs.History(whole.ID)
		if err != nil {
			return s.named(err)
		}
		histories = append(histories, h)
	}
	err := m.dst.Update(func(tx *kv.Tx) error {
		return errors.Join(m.copyConfigs(tx, n), tx.Runs.Put(whole),
			tx.Runs.PutHistory(whole.ID, schema.SumHistories(histories)))
	})
	for _, s := range m.sources {
		if err == nil {
			err = m.copyVisits(s, whole.ID)
		}
	}
	return err
}

// add adds a shard's part of a run. The run has the status of the least advanced shard: it is running while
// any shard is, and not completed if a shard's part of it was lost because its file was recreated later.
func add(whole, part *schema.Run) {
	if part.End.Kind == schema.EndRecreated {
		if whole.Status != schema.RunRunning {
			whole.Status, whole.End = schema.RunInterrupted, part.End
		}
		return
	}
	if part.Started.Before(whole.Started) {
		whole.Started = part.Started
	}
	if part.Finished.After(whole.Finished) {
		whole.Finished = part.Finished
	}
	if part.Status != schema.RunCompleted && whole.Status != schema.RunRunning {
		whole.Status, whole.End = part.Status, part.End
	}
	whole.Walked = whole.Walked && part.Walked
	whole.Pages += part.Pages
	whole.Rendered += part.Rendered
	whole.Unrendered += part.Unrendered
	whole.Requests += part.Requests
	whole.Running = max(whole.Running, part.Running)
	if part.Changed.After(whole.Changed) {
		whole.Changed = part.Changed
	}
	for name, n := range part.Errors {
		if whole.Errors == nil {
			whole.Errors = map[string]int{}
		}
		whole.Errors[name] += n
	}
}

// copyConfigs copies the configurations of a run. Pruned ones are missing.
func (m *merger) copyConfigs(tx *kv.Tx, n int) error {
	for _, s := range m.sources {
		text, err := s.tx.Runs.Config(s.runs[n].Config)
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err == nil {
			err = tx.Runs.PutConfig(s.runs[n].Config, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyVisits copies the visits of a shard up to the last of a run.
func (m *merger) copyVisits(s *source, run schema.RunID) error {
	return m.batches(func(tx *kv.Tx) (bool, error) {
		if s.next > s.store.LastSeq() {
			return false, nil
		}
		v, err := s.tx.Visits.At(s.next)
		if err == nil && v.Run > run {
			return false, nil
		}
		if err == nil {
			err = s.tx.Visits.Anchors(v)
		}
		if err != nil {
			return false, s.named(err)
		}
		v.URL, v.RedirectTo, v.Stand = s.urls[v.URL], s.urls[v.RedirectTo], s.visits[v.Stand]
		for i := range v.Links {
			v.Links[i].To = s.urls[v.Links[i].To]
		}
		for i := range v.Sitemap {
			v.Sitemap[i].To = s.urls[v.Sitemap[i].To]
		}
		s.visits[s.next], err = tx.Visits.Add(v)
		s.next++
		return true, err
	})
}

// copyMeta copies pending work and the named values.
func (m *merger) copyMeta() error {
	return m.dst.Update(func(tx *kv.Tx) error {
		if err := m.copyUndone(tx); err != nil {
			return err
		}
		return m.copyValues(tx)
	})
}

// copyUndone copies pending work.
func (m *merger) copyUndone(tx *kv.Tx) error {
	var pending []schema.ID
	reapply := false
	for _, s := range m.sources {
		ids, err := s.tx.Depths.Pending()
		if err != nil {
			return err
		}
		for _, id := range ids {
			known, err := s.known(id)
			if err != nil {
				return err
			}
			pending = append(pending, known)
		}
		untold, err := m.untold(s)
		if err != nil {
			return err
		}
		reapply = reapply || untold || s.tx.Meta.Reapply()
	}
	return errors.Join(m.copyVouchers(tx), tx.Depths.SetPending(pending), tx.Meta.SetReapply(reapply))
}

// copyVouchers copies the vouchers of sitemaps, each with the last run in which it vouched.
func (m *merger) copyVouchers(tx *kv.Tx) error {
	for _, s := range m.sources {
		err := s.tx.Vouchers.Each(func(sitemap schema.ID, voucher string, run schema.RunID) error {
			id, err := s.known(sitemap)
			if err == nil {
				_, err = tx.Vouchers.Add(id, voucher, run)
			}
			return err
		})
		if err != nil {
			return s.named(err)
		}
	}
	return nil
}

// copyValues copies the named values, except those that differ between shards, which it computes.
func (m *merger) copyValues(tx *kv.Tx) error {
	err := m.sources[0].tx.Meta.Each(func(name string, value []byte) error { return tx.Meta.Put(name, value) })
	if err != nil {
		return err
	}
	if err := tx.Meta.Put(kv.MetaMerged, []byte{1}); err != nil {
		return err
	}
	for name, of := range map[string]func() ([]byte, error){
		kv.MetaGiven:     func() ([]byte, error) { return nil, nil },
		kv.MetaRecreated: m.recreatedIn, kv.MetaRecreatedAt: m.recreatedAt, kv.MetaPruned: m.pruned,
	} {
		value, err := of()
		if err == nil {
			err = tx.Meta.Put(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pruned returns the first run of which no file lacks visits; nil: none was pruned.
func (m *merger) pruned() (first []byte, err error) {
	var last schema.RunID
	for _, s := range m.sources {
		run, err := s.tx.Meta.Pruned()
		if err != nil {
			return nil, s.named(err)
		}
		if run > last {
			first, last = strconv.AppendUint(nil, uint64(run), 10), run
		}
	}
	return first, nil
}

// recreatedAt returns when a file was last recreated; nil: never.
func (m *merger) recreatedAt() (last []byte, err error) {
	var latest time.Time
	for _, s := range m.sources {
		var at time.Time
		text, err := s.tx.Meta.Value(kv.MetaRecreatedAt)
		if err == nil && text != nil {
			err = at.UnmarshalText(text)
		}
		if err != nil {
			return nil, s.named(err)
		}
		if at.After(latest) {
			last, latest = text, at
		}
	}
	return last, nil
}

// recreatedIn returns the last run if the file of a shard was recreated in it, otherwise nil.
func (m *merger) recreatedIn() ([]byte, error) {
	for _, s := range m.sources {
		run, err := s.tx.Meta.Value(kv.MetaRecreated)
		if err != nil || len(s.runs) > 0 && string(run) == fmt.Sprint(s.runs[len(s.runs)-1].ID) {
			return run, err
		}
	}
	return nil, nil
}

// untold reports whether other shards may lack data of this one: not sent yet, or after the copy of their
// file was made. Shards that are left out do not count.
func (m *merger) untold(s *source) (bool, error) {
	if n := len(s.runs); s.live && n > 0 && s.runs[n-1].Status != schema.RunCompleted {
		return true, nil
	}
	for _, other := range m.sources {
		shard := other.store.Part().Shard
		peer, err := s.tx.Peers.At(shard)
		if n, _ := s.store.Marked(shard); err != nil || n > 0 || peer.Cursor != 0 {
			return true, err
		}
		if peer.Commit == 0 {
			continue
		}
		if has, err := other.tx.Openings.Contains(peer.Opening, peer.Commit); err != nil || !has {
			return true, other.named(err)
		}
	}
	return false, nil
}
