package kv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// MetaPruned is the name of the value that holds the first run of which a pruned file has all visits.
const MetaPruned = "pruned before run"

// pruneCommit is the number of records in a commit of a pruned file.
const pruneCommit = 4096

// A Pruned describes what a pruned file contains and what was dropped.
type Pruned struct {
	From                       schema.RunID // first run of which it has all visits
	URLs, Visits, Hosts        int
	DroppedURLs, DroppedVisits int

	Numbers []uint32 // new numbers of visits by old number, starting with 1; 0: dropped
}

// Prune copies what was recorded from a run on into a new file, with new numbers: the visits of these runs,
// the visits whose links stand in them, the last visits of pages that the newest run has reached, the URLs in
// any of these visits, and every host that was ever requested. The records of all runs are kept, so runs keep
// their numbers; commit numbers continue those of the old file. From is raised to the first run that an
// earlier Prune kept completely. When Prune returns, the new file is complete and synced; if it fails, which
// it does with the cause soon after ctx is done, the file is removed. Replacing the old file is up to the
// caller.
func (s *Store) Prune(ctx context.Context, dst string, from schema.RunID) (Pruned, error) {
	f, err := os.OpenFile(dst, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	p := &pruning{ctx: ctx, old: s, from: from}
	err = f.Close()
	if err == nil {
		err = os.Remove(dst) // created below with the old seed
	}
	if err == nil {
		err = guard(func() error { return initialiseAfter(dst, s.seed, s.state.commit) })
	}
	if err == nil {
		err = s.View(p.mark)
	}
	if err == nil {
		err = p.copyTo(dst)
	}
	if err != nil {
		return Pruned{}, fmt.Errorf("prune %s: %w", s.path, errors.Join(err, os.Remove(dst)))
	}
	return p.result, nil
}

// A pruning copies one file to another.
type pruning struct {
	ctx       context.Context
	old, next *Store
	from      schema.RunID
	joins     *joining // nil: runs keep their numbers

	visits []uint32 // by old number: 1 if it is kept, later its new number
	urls   []uint32 // by old ID: 1 if it is kept, later its new ID
	hosts  []uint32
	result Pruned
}

// copyTo copies what is marked.
func (p *pruning) copyTo(dst string) (err error) {
	if p.next, err = Open(dst, Options{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.next.Close()) }()
	if err := p.next.Like(p.old); err != nil {
		return err
	}
	for _, step := range []func() error{p.beginPart, p.copyHosts, p.copyURLs, p.joinURLs, p.copyRuns, p.copyVisits,
		p.copyDepths, p.copyQueues, p.copyRest, p.copyInlinks, p.copyPart} {
		if err := step(); err != nil {
			return err
		}
	}
	n, o := p.next.state, p.old.state
	p.result = Pruned{
		From: p.from, URLs: int(n.urls), Visits: int(n.visits), Hosts: int(n.hosts),
		DroppedURLs: int(o.urls - n.urls), DroppedVisits: int(o.visits - n.visits), Numbers: p.visits,
	}
	return nil
}

// mark marks what is kept.
func (p *pruning) mark(tx *Tx) error {
	p.visits = make([]uint32, p.old.state.visits+1)
	p.urls = make([]uint32, p.old.state.urls+1)
	p.hosts = make([]uint32, p.old.state.hosts+1)
	before, err := tx.Meta.Pruned()
	if err != nil {
		return err
	}
	p.from = max(p.from, before)
	err = tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
		depth, _ := p.old.Depth(v.URL)
		if v.Run >= p.from || depth != NoDepth && p.old.Asked(v.URL) == v.Seq {
			p.visits[v.Seq] = 1
			p.visits[v.Stand] = 1
		}
		return true, context.Cause(p.ctx)
	})
	if err == nil {
		p.visits[0] = 0
		err = tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			if p.visits[v.Seq] != 0 {
				p.markNamed(v)
			}
			return true, context.Cause(p.ctx)
		})
	}
	if err != nil {
		return err
	}
	for id := schema.ID(1); uint32(id) <= p.old.state.urls; id++ {
		if depth, _ := p.old.Depth(id); depth != NoDepth {
			p.urls[id] = 1
		}
	}
	return errors.Join(p.markPart(tx), p.markHosts(tx))
}

// markNamed marks the URLs in a visit.
func (p *pruning) markNamed(v *schema.Visit) {
	p.urls[v.URL] = 1
	for i := range v.Links {
		p.urls[v.Links[i].To] = 1
	}
	for i := range v.Sitemap {
		p.urls[v.Sitemap[i].To] = 1
	}
	if v.RedirectTo != 0 {
		p.urls[v.RedirectTo] = 1
	}
}

// markHosts marks the hosts of marked URLs, those that were requested, and what is queued.
func (p *pruning) markHosts(tx *Tx) error {
	err := tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		if h.Requests > 0 || !h.RobotsAt.IsZero() || !h.SuspendedTo.IsZero() {
			p.hosts[h.ID] = 1
		}
		for _, r := range h.Retries {
			p.urls[r.URL] = 1
		}
		return true, tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool {
			p.urls[id] = 1
			return true
		})
	})
	for id, kept := range p.urls {
		if kept != 0 {
			p.hosts[p.old.HostOf(schema.ID(id))] = 1
		}
	}
	p.hosts[0] = 0
	return err
}

// batches calls f for all marked numbers, in transactions of limited size.
func (p *pruning) batches(kept []uint32, f func(old, next *Tx, n int) error) error {
	return p.batchesFrom(1, kept, f)
}

func (p *pruning) batchesFrom(n int, kept []uint32, f func(old, next *Tx, n int) error) error {
	for n < len(kept) {
		if err := context.Cause(p.ctx); err != nil {
			return err
		}
		err := p.both(func(old, next *Tx) error {
			for done := 0; n < len(kept) && done < pruneCommit; n++ {
				if kept[n] == 0 {
					continue
				}
				done++
				if err := f(old, next, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pruning) both(f func(old, next *Tx) error) error {
	return p.old.View(func(old *Tx) error {
		return p.next.Update(func(next *Tx) error { return f(old, next) })
	})
}

func (p *pruning) copyHosts() error {
	return p.batches(p.hosts, func(old, next *Tx, n int) error {
		from, err := old.Hosts.At(schema.HostID(n))
		if err != nil {
			return err
		}
		h, err := next.Hosts.Add(from.Name)
		if err != nil {
			return err
		}
		p.hosts[n] = uint32(h.ID)
		id, generation := h.ID, h.Generation
		*h = *from
		h.ID, h.Generation, h.Queues, h.Waiting, h.Retries, h.Known, h.Files, h.Others = id, generation, nil, 0, nil, 0, 0, 0
		p.renumberHost(h)
		next.Hosts.Put(h)
		robots, ok, err := old.Hosts.Robots(from.ID)
		if err == nil && ok {
			err = next.Hosts.PutRobots(h.ID, robots)
		}
		return err
	})
}

func (p *pruning) copyURLs() error {
	return p.batches(p.urls, func(old, next *Tx, n int) error {
		u, err := old.URLs.At(schema.ID(n))
		if err != nil {
			return err
		}
		norm, err := old.URLs.Norm(u.ID)
		if err != nil {
			return err
		}
		forms, err := old.URLs.Forms(u.ID)
		if err != nil {
			return err
		}
		u.Host, u.FirstRun = schema.HostID(p.hosts[u.Host]), p.renumber(u.FirstRun)
		if int(u.Referrer) < n {
			u.Referrer = p.url(u.Referrer)
		} else {
			u.Referrer = 0 // not copied yet
		}
		id, err := next.URLs.Add(u, p.next.Hash(u.Kind, norm))
		if err != nil {
			return err
		}
		p.urls[n] = uint32(id)
		if err := next.URLs.AddForms(id, &forms); err != nil {
			return err
		}
		h, err := next.Hosts.At(u.Host)
		if err == nil {
			h.Known++
			if u.Kind == schema.KindSitemap {
				h.Files++
			} else if !p.old.Own(schema.ID(n)) {
				h.Others++
			}
			next.Hosts.Put(h)
		}
		return err
	})
}

// url returns the new ID of a URL that was copied; 0: it is dropped.
func (p *pruning) url(id schema.ID) schema.ID { return schema.ID(p.urls[id]) }

// copyRuns copies the records of all runs, and the configurations of those kept.
func (p *pruning) copyRuns() error {
	var runs []schema.Run
	err := p.old.View(func(old *Tx) (err error) {
		runs, err = old.Runs.All()
		return err
	})
	if err == nil && p.joins != nil {
		at := p.joins.run.ID - 1
		if err = p.putRuns(runs, runs[:at]); err == nil {
			err = p.joinRun()
		}
		if err == nil {
			err = p.putRuns(runs, runs[at:])
		}
		return err
	}
	return errors.Join(err, p.putRuns(runs, runs))
}

// putRuns puts some of all runs.
func (p *pruning) putRuns(runs, some []schema.Run) error {
	return p.both(func(old, next *Tx) error {
		for _, run := range some {
			kept := run.ID >= p.from
			run.FirstVisit = p.firstVisit(&run)
			if run.ID == runs[len(runs)-1].ID {
				run.Generation = p.next.state.generation
			}
			run.ID, run.Joined = p.renumber(run.ID), p.renumber(run.Joined)
			if err := next.Runs.Put(run); err != nil {
				return err
			}
			if !kept {
				continue
			}
			if err := copyConfig(old, next, run.Config); err != nil {
				return err
			}
		}
		return nil
	})
}

func copyConfig(old, next *Tx, hash [32]byte) error {
	text, err := old.Runs.Config(hash)
	if err == nil {
		err = next.Runs.PutConfig(hash, text)
	}
	return err
}

// firstVisit returns the new number of the first visit of a run, or of the next one kept.
func (p *pruning) firstVisit(run *schema.Run) schema.Seq {
	seq := run.FirstVisit
	n := schema.Seq(1)
	for old := schema.Seq(1); old < seq && int(old) < len(p.visits); old++ {
		if p.visits[old] != 0 {
			n++
		}
	}
	if p.joins != nil && run.ID >= p.joins.run.ID {
		n += schema.Seq(p.joins.from.state.visits)
	}
	return n
}

func (p *pruning) copyVisits() error {
	if p.joins == nil {
		return p.batches(p.visits, p.copyVisit)
	}
	before := p.visits[:p.joins.before]
	err := p.batches(before, p.copyVisit)
	if err == nil {
		err = p.joinVisits()
	}
	if err != nil {
		return err
	}
	return p.batchesFrom(len(before), p.visits, p.copyVisit)
}

func (p *pruning) copyVisit(old, next *Tx, n int) error {
	v, err := old.Visits.At(schema.Seq(n))
	if err == nil {
		err = old.Visits.Anchors(v)
	}
	if err != nil {
		return err
	}
	v.Stand, v.Run = schema.Seq(p.visits[v.Stand]), p.renumber(v.Run)
	mapVisit(v, p.url)
	seq, err := next.Visits.Add(v)
	p.visits[n] = uint32(seq)
	return err
}

func (p *pruning) copyDepths() error {
	if p.joins != nil && p.joins.last {
		return p.joinDepths()
	}
	return p.batches(p.urls, func(_, next *Tx, n int) error {
		if depth, hops := p.old.Depth(schema.ID(n)); depth != NoDepth {
			next.Depths.Lower(p.url(schema.ID(n)), depth, hops)
		}
		if p.old.Own(schema.ID(n)) {
			next.Depths.SetOwn(p.url(schema.ID(n)))
		}
		return nil
	})
}

// copyQueues copies the queues and the retries that are due.
func (p *pruning) copyQueues() error {
	return p.batches(p.hosts, func(old, next *Tx, n int) error {
		from, err := old.Hosts.At(schema.HostID(n))
		if err != nil {
			return err
		}
		h, err := next.Hosts.At(schema.HostID(p.hosts[n]))
		if err != nil {
			return err
		}
		for _, r := range from.Retries {
			r.URL = p.url(r.URL)
			h.Retries = append(h.Retries, r)
		}
		next.Hosts.Put(h)
		var failed error
		err = old.Frontier.Walk(from, func(priority uint8, id schema.ID) bool {
			failed = next.Frontier.Push(h, priority, p.url(id))
			return failed == nil
		})
		return errors.Join(err, failed)
	})
}

// copyRest copies counters, named values, histories of runs, messages, openings and pending work.
func (p *pruning) copyRest() error {
	return p.both(func(old, next *Tx) error {
		ids, err := old.Depths.Pending()
		if err != nil {
			return err
		}
		for i := range ids {
			ids[i] = p.url(ids[i])
		}
		ids = slices.DeleteFunc(ids, func(id schema.ID) bool { return id == 0 })
		if err := errors.Join(next.Depths.SetPending(ids), next.Meta.SetReapply(p.old.state.reapply)); err != nil {
			return err
		}
		kept := []string{valuePrefix, messagePrefix, openingPrefix, historyPrefix}
		for _, b := range []bucket{bCaps, bMeta} {
			err := old.each(b, nil, func(key []byte, r *reader) (bool, error) {
				if b == bMeta && !slices.ContainsFunc(kept, func(p string) bool { return bytes.HasPrefix(key, []byte(p)) }) {
					return true, nil
				}
				key = slices.Clone(key)
				w := next.fields()
				switch {
				case b == bCaps:
					w.uint(uint64(p.renumber(schema.RunID(r.id()))))
				case bytes.HasPrefix(key, []byte(historyPrefix)):
					n := len(historyPrefix)
					key = historyKey(p.renumber(schema.RunID(binary.BigEndian.Uint32(key[n:]))))
				}
				w.raw(r.b)
				return true, next.put(b, key, w)
			})
			if err != nil {
				return err
			}
		}
		err = old.Vouchers.Each(func(sitemap schema.ID, voucher string, run schema.RunID) error {
			if kept := p.url(sitemap); kept != 0 {
				return next.Vouchers.Put(kept, voucher, p.renumber(run))
			}
			return nil
		})
		if err == nil {
			err = p.uncountHosts(old, next)
		}
		if err != nil {
			return err
		}
		if p.joins != nil {
			return nil
		}
		return next.Meta.Put(MetaPruned, strconv.AppendUint(nil, uint64(p.from), 10))
	})
}

// uncountHosts subtracts dropped hosts from the counts of their sites, to make room for others.
func (p *pruning) uncountHosts(old, next *Tx) error {
	return old.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		if p.hosts[h.ID] != 0 || h.Place == schema.NoPlace {
			return true, nil
		}
		return true, next.Runs.countDown(scope.CountOfPlace(h.Place), weburl.Site(h.Name))
	})
}
