package record

import (
	"context"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// EachWay calls f for the ways of the last run that would cross shards if the file, which holds a whole terrain, were
// split by a rule; from, if it is not negative, is the only shard where they begin. A way says no more than the file
// does: depths that have still to travel on will do so in the shards. It stops soon after ctx is done.
func (r *Recorder) EachWay(ctx context.Context, rule *shard.Rule, from int, f func(split.Way) error) error {
	if err := r.Resume(); err != nil {
		return err
	}
	if r.in.run.Kind == schema.RunImport {
		r.in.imports = &Import{}
	}
	return r.in.store.View(func(tx *kv.Tx) error {
		r.in.tx = tx
		w := &waysOut{reach: &r.reach, rule: rule, shards: make([]int, r.in.store.Hosts()+1), f: f}
		err := tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			w.shards[h.ID] = rule.Of(h.Name)
			return true, nil
		})
		if err == nil {
			err = r.reach.recallSpeakers()
		}
		for id := schema.ID(1); err == nil && int(id) <= r.in.store.URLs(); id++ {
			if id%1024 == 0 {
				err = context.Cause(ctx)
			}
			if err == nil && r.in.visited(id) && (from < 0 || w.shardOf(id) == from) {
				err = w.visited(id)
			}
		}
		if err != nil {
			return err
		}
		return tx.Vouchers.Each(func(sitemap schema.ID, voucher string, last schema.RunID) error {
			by := rule.Of(voucher)
			if last < r.in.run.ID || survey.IsOriginVoucher(voucher) || from >= 0 && by != from {
				return nil
			}
			return w.file(by, sitemap, 0)
		})
	})
}

// waysOut are the ways out of shards.
type waysOut struct {
	*reach
	rule   *shard.Rule
	shards []int // by host
	f      func(split.Way) error
}

func (w *waysOut) shardOf(id schema.ID) int { return w.shards[w.in.store.HostOf(id)] }

// visited calls f for the ways out of what a visit found.
func (w *waysOut) visited(id schema.ID) error {
	depth, hops := w.in.store.Depth(id)
	if ok, err := w.hosts.visitable(id); err != nil || !ok || depth == kv.NoDepth {
		return err
	}
	visit, err := w.in.tx.Visits.At(w.in.latest(id))
	if err != nil {
		return err
	}
	if !w.in.isPage(id) {
		return w.sitemap(visit, depth)
	}
	if !w.in.within(depth, hops) {
		return nil
	}
	from, links, err := w.sourceOf(visit)
	for i := 0; i < len(links) && err == nil; i++ {
		to := links[i].To
		if w.shardOf(to) == w.shardOf(id) {
			continue
		}
		over, ok := w.over(from, links[i])
		if ok {
			over, ok = w.bound(to, over)
		}
		if ok {
			err = w.out(w.shardOf(id), to, schema.Inbound{Depth: over.depth, Hops: over.hops, Own: over.own}, nil)
		}
	}
	return err
}

// sitemap calls f for the ways out of a sitemap, as carrySitemap follows them.
func (w *waysOut) sitemap(visit *schema.Visit, depth uint8) error {
	by := w.shardOf(visit.URL)
	for _, link := range visit.Links {
		if err := w.file(by, link.To, depth+1); err != nil {
			return err
		}
	}
	return w.eachEntry(visit, func(e schema.SitemapEntry, s authority) error {
		if w.shardOf(e.To) == by {
			return nil
		}
		listed := w.in.listingOf(visit, e, s)
		told := schema.Inbound{Own: s.speaks, Listed: true, Changed: listed.changed.UTC()}
		return w.out(by, e.To, told, nil)
	})
}

// file calls f for a sitemap that a shard names.
func (w *waysOut) file(by int, file schema.ID, depth uint8) error {
	ok, err := w.hosts.visitable(file)
	if err != nil || !ok || w.shardOf(file) == by {
		return err
	}
	vouchers := slices.Sorted(maps.Keys(w.in.speaks[file]))
	return w.out(by, file, schema.Inbound{Depth: depth}, vouchers[:min(len(vouchers), kv.MaxVouchers)])
}

// out calls f for a way, with no smaller distances than the file has for its end.
func (w *waysOut) out(from int, to schema.ID, told schema.Inbound, vouchers []string) error {
	depth, hops := w.in.store.Depth(to)
	told.Depth, told.Hops = max(told.Depth, depth), max(told.Hops, hops)
	told.Own = told.Own && w.in.store.Own(to)
	return w.f(split.Way{From: from, To: to, Told: told, Vouchers: vouchers})
}
