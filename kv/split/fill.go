package split

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A filler copies what belongs to one shard into its file.
type filler struct {
	*Splitter
	shard int
	from  *kv.Tx
	dst   *kv.Store

	visits []schema.Seq    // its own, by new number, less 1
	urls   []schema.ID     // new by old; 0: not copied; before that, 1 for those to be copied
	hosts  []schema.HostID // new by old, as in urls
	near   map[schema.ID]told
}

// Fill copies what belongs to a shard into the file that [Splitter.Begin] was called for. Soon after the context of
// [New] is done, it fails with the cause.
func (s *Splitter) Fill(n int, dst *kv.Store) error {
	f := &filler{
		Splitter: s, shard: n, dst: dst, near: map[schema.ID]told{},
		urls: make([]schema.ID, s.src.URLs()+1), hosts: make([]schema.HostID, s.src.Hosts()+1),
	}
	for i, id := range s.urlOf {
		if s.urlShard(id) == n {
			f.visits = append(f.visits, schema.Seq(i)+1)
		}
	}
	err := f.Ways(f.rule, f.shard, func(w Way) error {
		t := f.near[w.To]
		t.lower(w.Told)
		f.near[w.To], f.urls[w.To] = t, 1
		return nil
	})
	if err != nil {
		return err
	}
	return s.src.View(func(tx *kv.Tx) error {
		f.from = tx
		for i, step := range []func() error{f.mark, f.copyHosts, f.copyURLs, f.copyRuns, f.copyDepths, f.copyCounts,
			f.copyQueues, f.copyTold, f.copyMeta} {
			s.See(fmt.Sprintf("shard %d", n), i, 9)
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// own reports whether a URL belongs to the shard.
func (f *filler) own(id schema.ID) bool { return f.urlShard(id) == f.shard }

// visit returns the new number of one of the shard's visits; 0: of none.
func (f *filler) visit(seq schema.Seq) schema.Seq {
	at, found := slices.BinarySearch(f.visits, seq)
	if !found {
		return 0
	}
	return schema.Seq(at) + 1
}

// each calls f for the numbers from 1 to last, in transactions of limited size.
func (f *filler) each(last int, do func(tx *kv.Tx, n int) error) error {
	for n := 1; n <= last; {
		if err := context.Cause(f.ctx); err != nil {
			return err
		}
		err := f.dst.Update(func(tx *kv.Tx) (err error) {
			for end := min(last, n+most-1); n <= end && err == nil; n++ {
				err = do(tx, n)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mark finds out which URLs and hosts are copied: the shard's own, the pages that first linked to them, what its visits
// name, and the ends of its ways, which are marked already.
func (f *filler) mark() error {
	for id := schema.ID(1); int(id) <= f.src.URLs(); id++ {
		if !f.own(id) {
			continue
		}
		f.urls[id] = 1
		u, err := f.from.URLs.At(id)
		if err != nil {
			return err
		}
		f.urls[u.Referrer] = 1
	}
	for i, seq := range f.visits {
		if i%most == 0 {
			if err := context.Cause(f.ctx); err != nil {
				return err
			}
		}
		v, err := f.from.Visits.At(seq)
		if err != nil {
			return err
		}
		for i := range v.Links {
			f.urls[v.Links[i].To] = 1
		}
		for i := range v.Sitemap {
			f.urls[v.Sitemap[i].To] = 1
		}
		f.urls[v.RedirectTo] = 1
	}
	f.urls[0] = 0
	for id, marked := range f.urls {
		if marked != 0 {
			f.hosts[f.src.HostOf(schema.ID(id))] = 1
		}
	}
	for i, shard := range f.shards {
		if int(shard) == f.shard {
			f.hosts[i+1] = 1
		}
	}
	return nil
}

// copyHosts copies the shard's own hosts with everything but their queues, and little of the others.
func (f *filler) copyHosts() error {
	return f.each(f.src.Hosts(), func(tx *kv.Tx, n int) error {
		if f.hosts[n] == 0 {
			return nil
		}
		from, err := f.from.Hosts.At(schema.HostID(n))
		if err != nil {
			return err
		}
		h, err := tx.Hosts.Add(from.Name)
		if err != nil {
			return err
		}
		f.hosts[n] = h.ID
		if f.hostShard(from.ID) != f.shard {
			h.HTTPS, h.Place = from.HTTPS, from.Place
			tx.Hosts.Put(h)
			return nil
		}
		id, generation := h.ID, h.Generation
		*h = *from
		h.ID, h.Generation, h.Queues, h.Waiting, h.Retries = id, generation, nil, 0, nil
		tx.Hosts.Put(h)
		robots, ok, err := f.from.Hosts.Robots(from.ID)
		if err == nil && ok {
			err = tx.Hosts.PutRobots(h.ID, robots)
		}
		return err
	})
}

func (f *filler) copyURLs() error {
	return f.each(f.src.URLs(), func(tx *kv.Tx, n int) error {
		old := schema.ID(n)
		if f.urls[n] == 0 {
			return nil
		}
		u, err := f.from.URLs.At(old)
		if err != nil {
			return err
		}
		norm, err := f.from.URLs.Norm(old)
		if err != nil {
			return err
		}
		u.Host, u.Referrer = f.hosts[u.Host], f.urls[u.Referrer]
		id, err := tx.URLs.Add(u, f.dst.Hash(u.Kind, norm))
		if err != nil {
			return err
		}
		f.urls[n] = id
		forms, err := f.from.URLs.Forms(old)
		if err == nil {
			err = tx.URLs.AddForms(id, &forms)
		}
		if err != nil || f.own(old) {
			return err
		}
		h, err := tx.Hosts.At(u.Host)
		if err != nil {
			return err
		}
		h.Known++
		if u.Kind == schema.KindSitemap {
			h.Files++
		} else if !f.src.Own(old) {
			h.Others++
		}
		tx.Hosts.Put(h)
		return nil
	})
}

// copyRuns copies the runs, each with its visits.
func (f *filler) copyRuns() error {
	next := 0
	for _, run := range f.runs {
		its := &f.shares[f.shard][run.ID]
		run.FirstVisit, run.Generation = f.dst.LastSeq()+1, f.dst.Generation()
		run.Pages, run.Requests, run.Errors = its.pages, its.requests, its.errors
		run.Rendered, run.Unrendered = its.rendered, its.unrendered
		if f.cfg.Crawler.MaxPages > 0 {
			run.Portion = its.pages
		}
		history, err := f.history(run.ID)
		if err != nil {
			return err
		}
		err = f.dst.Update(func(tx *kv.Tx) error {
			text, err := f.from.Runs.Config(run.Config)
			if err == nil {
				err = tx.Runs.PutConfig(run.Config, text)
			} else if errors.Is(err, kv.ErrNotFound) { // it was pruned
				err = nil
			}
			return errors.Join(err, tx.Runs.Put(run), tx.Runs.PutHistory(run.ID, history))
		})
		if err != nil {
			return err
		}
		from := next
		for next < len(f.visits) && f.runOf(f.visits[next]) <= run.ID {
			next++
		}
		if err := f.each(next-from, func(tx *kv.Tx, n int) error { return f.copyVisit(tx, f.visits[from+n-1]) }); err != nil {
			return err
		}
	}
	return nil
}

// runOf returns the run of a visit.
func (f *filler) runOf(seq schema.Seq) schema.RunID {
	run := f.runs[0].ID
	for i := range f.runs {
		if f.runs[i].FirstVisit <= seq {
			run = f.runs[i].ID
		}
	}
	return run
}

// history returns the shard's part of the history of a run: that of its pages.
func (f *filler) history(run schema.RunID) (schema.History, error) {
	h, err := f.from.Runs.History(run)
	before, all := 0, 0
	for n := range f.shares {
		if n < f.shard {
			before += f.shares[n][run].pages
		}
		all += f.shares[n][run].pages
	}
	upTo := before + f.shares[f.shard][run].pages
	if all == 0 && f.shard == 0 { // without a page, it is that of shard 0
		upTo = 1
	}
	all = max(all, 1)
	part := func(n int) int { return n*upTo/all - n*before/all } // these add up to n
	for i := range h.Points {
		p := &h.Points[i]
		p.Pages, p.Requests, p.Errors, p.Waiting = part(p.Pages), part(p.Requests), part(p.Errors), part(p.Waiting)
	}
	return h, err
}

func (f *filler) copyVisit(tx *kv.Tx, seq schema.Seq) error {
	v, err := f.from.Visits.At(seq)
	if err == nil {
		err = f.from.Visits.Anchors(v)
	}
	if err != nil {
		return err
	}
	v.URL, v.RedirectTo, v.Stand = f.urls[v.URL], f.urls[v.RedirectTo], f.visit(v.Stand)
	for i := range v.Links {
		v.Links[i].To = f.urls[v.Links[i].To]
	}
	for i := range v.Sitemap {
		v.Sitemap[i].To = f.urls[v.Sitemap[i].To]
	}
	_, err = tx.Visits.Add(v)
	return err
}

// copyDepths copies the depths of the shard's own URLs, and gives others those of its ways to them.
func (f *filler) copyDepths() error {
	return f.each(f.src.URLs(), func(tx *kv.Tx, n int) error {
		old, id := schema.ID(n), f.urls[n]
		if id == 0 {
			return nil
		}
		depth, hops := f.src.Depth(old)
		own := f.src.Own(old)
		if !f.own(old) {
			t, known := f.near[old]
			if !known {
				return nil
			}
			depth, hops, own = t.depth, t.hops, t.own
		}
		if depth != kv.NoDepth {
			tx.Depths.Lower(id, depth, hops)
		}
		if own {
			tx.Depths.SetOwn(id)
		}
		return nil
	})
}

// copyQueues copies the queues of the shard's own hosts and the retries that are due.
func (f *filler) copyQueues() error {
	return f.each(f.src.Hosts(), func(tx *kv.Tx, n int) error {
		old := schema.HostID(n)
		if f.hostShard(old) != f.shard {
			return nil
		}
		from, err := f.from.Hosts.At(old)
		if err != nil {
			return err
		}
		h, err := tx.Hosts.At(f.hosts[n])
		if err != nil {
			return err
		}
		for _, r := range from.Retries {
			if r.URL, err = f.known(r.URL); err != nil {
				return err
			}
			h.Retries = append(h.Retries, r)
		}
		tx.Hosts.Put(h)
		var failed error
		err = f.from.Frontier.Walk(from, func(priority uint8, id schema.ID) bool {
			failed = tx.Frontier.Push(h, priority, f.urls[id])
			return failed == nil
		})
		return errors.Join(err, failed)
	})
}

// known returns the new ID of a URL that waits. An ID that the file does not have is damage.
func (f *filler) known(id schema.ID) (schema.ID, error) {
	if int(id) >= len(f.urls) {
		return 0, fmt.Errorf("%w: URL %d is not there, and waits", kv.ErrDamaged, id)
	}
	return f.urls[id], nil
}

// copyTold writes what other shards report about the shard's own URLs.
func (f *filler) copyTold() error {
	part := f.dst.Part()
	return f.each(f.src.URLs(), func(tx *kv.Tx, n int) error {
		id, t := schema.ID(n), f.told[n]
		if !t.known || !f.own(id) {
			return nil
		}
		for _, voucher := range f.spoken[id] {
			if _, err := tx.Vouchers.Add(f.urls[n], voucher, f.last().ID); err != nil {
				return err
			}
		}
		return tx.Inbound.Put(f.urls[n], schema.Inbound{
			Run: part.Run, Configuration: part.Configuration, Depth: t.depth, Hops: t.hops, Listed: t.listed, Own: t.own,
			Changed: f.listed[id],
		})
	})
}

// copyMeta copies vouchers, pending work, named values and messages, and writes what the shard knows of the others.
func (f *filler) copyMeta() error {
	return f.dst.Update(func(tx *kv.Tx) error {
		err := f.from.Vouchers.Each(func(sitemap schema.ID, voucher string, run schema.RunID) error {
			id := f.urls[sitemap]
			if id == 0 || !f.own(sitemap) && f.rule.Of(voucher) != f.shard {
				return nil
			}
			_, err := tx.Vouchers.Add(id, voucher, run)
			return err
		})
		if err != nil {
			return err
		}
		pending, err := f.from.Depths.Pending()
		if err != nil {
			return err
		}
		var own []schema.ID
		for _, id := range pending {
			if f.own(id) {
				own = append(own, f.urls[id])
			}
		}
		err = f.from.Meta.Each(func(name string, value []byte) error {
			if name == kv.MetaMerged || name == kv.MetaSplit || name == kv.MetaGiven || slices.Contains(f.Drop, name) {
				return nil
			}
			return tx.Meta.Put(name, value)
		})
		if err != nil {
			return err
		}
		err = f.from.Messages.Each(func(m *schema.Message) (bool, error) {
			shard := 0
			if host := f.HostOf(m); host != "" {
				shard = f.rule.Of(host)
			}
			if m.Seq = 0; shard != f.shard {
				return true, nil
			}
			return true, tx.Messages.Put(m)
		})
		for n, peer := range f.peers {
			if err == nil && n != f.shard {
				err = tx.Peers.Put(n, peer)
			}
		}
		return errors.Join(err, tx.Depths.SetPending(own))
	})
}
