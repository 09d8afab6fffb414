package record

import (
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Referral is what the last commit, which tx reads, has to tell another shard of a
// foreign URL.
func (r *Recorder) Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error) {
	ref := ring.Referral{Kind: r.in.store.Kind(id)}
	part := r.in.store.Part()
	ref.Told = schema.Inbound{Run: part.Run, Configuration: part.Configuration}
	ref.Told.Depth, ref.Told.Hops = r.in.store.Depth(id)
	if l, ok := r.reach.listings[id]; ok {
		ref.Told.Listed, ref.Told.Changed = true, l.changed.UTC()
	}
	host, err := tx.Hosts.Name(r.in.store.HostOf(id))
	if err != nil {
		return ref, err
	}
	if err := r.say(tx, &ref, id, host); err != nil {
		return ref, err
	}
	if ref.HTTPS, err = r.hosts.namedHTTPS(tx, r.in.store.HostOf(id)); err != nil {
		return ref, err
	}
	forms, err := tx.URLs.Forms(id)
	own, foreign := forms.Split()
	ref.URL, ref.Forms, ref.Own = forms.Norm, slices.Concat(own, foreign), len(own)
	if len(ref.Forms) == 0 {
		ref.Forms = forms.All()
	}
	return ref, err
}

// say adds what the owner of a URL needs to decide whether its own host names it.
func (r *Recorder) say(tx *kv.Tx, ref *ring.Referral, id schema.ID, host string) (err error) {
	if ref.Kind == schema.KindSitemap {
		ref.Vouchers = slices.Sorted(maps.Keys(r.in.speaks[id]))
		ref.Vouchers = ref.Vouchers[:min(len(ref.Vouchers), kv.MaxVouchers)]
		return nil
	}
	ref.FromOrigin = len(r.in.set.Scope.OriginsOf(host)) == 0 && r.in.store.Own(id)
	if l, ok := r.reach.listings[id]; ok && l.by != 0 {
		ref.Vouchers = r.in.speaks.Vouchers(r.in.set.Scope, l.by, host)
		ref.Sitemap, err = tx.Hosts.Name(r.in.store.HostOf(l.by))
	}
	return err
}

// makesOwn reports whether a referral of another shard counts as the URL's own host naming it.
func (t *turn) makesOwn(ref *ring.Referral, host string) bool {
	origins := t.in.set.Scope.OriginsOf(host)
	if len(origins) == 0 {
		return ref.FromOrigin
	}
	return ref.Sitemap == host || slices.Contains(ref.Vouchers, host) ||
		slices.ContainsFunc(origins, func(n int) bool {
			return slices.Contains(ref.Vouchers, survey.OriginVoucher(t.in.set.Scope.Origins()[n].Name))
		})
}

// MarkAgain examines at most most URLs, starting with from, and marks what another shard must be told about them.
// It returns the first URL that is left; 0: none.
func (r *Recorder) MarkAgain(tx *kv.Tx, shard int, from schema.ID, most int) (next schema.ID, err error) {
	r.in.tx = tx
	last := schema.ID(r.in.store.URLs())
	for n := 0; from <= last && n < most; from, n = from+1, n+1 {
		host := r.in.store.HostOf(from)
		if !r.in.store.Foreign(host) || r.in.store.ShardOf(host) != shard {
			continue
		}
		if err := r.hosts.mark(from); err != nil {
			return 0, err
		}
	}
	if from > last {
		return 0, nil
	}
	return from, nil
}

// targetOf returns the URL of a referral. ok is false if there is none.
func (in *runState) targetOf(ref *ring.Referral) (to ring.Target, ok bool) {
	u, err := in.set.Rules.Parse(ref.URL)
	if err != nil || u.Norm != ref.URL || ref.Kind > schema.KindSitemap {
		return to, false
	}
	var forms []string
	own := 0
	for i, form := range ref.Forms {
		f := u
		if form != ref.URL {
			f, err = in.set.Rules.Parse(form)
		}
		if err == nil && f.Norm == u.Norm && f.Form == form {
			forms = append(forms, form)
			if i < ref.Own {
				own++
			}
		}
	}
	if len(forms) == 0 {
		return to, false
	}
	u.Form, u.HTTP = forms[0], !ref.HTTPS
	return ring.Target{URL: u, Hash: in.store.Hash(ref.Kind, u.Norm), Forms: forms[1:], Own: own}, true
}

// eachTold calls f for the reports of other shards that count, by id starting at from, until f
// returns false.
func (in *runState) eachTold(from schema.ID, f func(id schema.ID, told schema.Inbound) bool) error {
	return in.tx.Inbound.EachFrom(from, func(id schema.ID, told schema.Inbound) (bool, error) {
		return !told.Counts(in.store.Part()) || f(id, told), nil
	})
}

// nearer combines the reports of two shards.
func nearer(a, b schema.Inbound) schema.Inbound {
	a.Depth, a.Hops, a.Listed = min(a.Depth, b.Depth), min(a.Hops, b.Hops), a.Listed || b.Listed
	a.Own = a.Own || b.Own
	if b.Changed.After(a.Changed) {
		a.Changed = b.Changed
	}
	return a
}

// refer gives a URL the distances that other shards have reported.
func (r *reach) refer(id schema.ID, told schema.Inbound) error {
	if told.Listed {
		r.listings.add(r.in, id, listing{changed: told.Changed})
	}
	switch {
	case told.Depth == kv.NoDepth:
		return nil
	case r.in.isPage(id):
		return r.relax(id, way{told.Depth, told.Hops, told.Own, told.Listed})
	}
	return r.queueFile(id, told.Depth)
}

// toldAtOnce is the number of other shards' reports that are in memory at a time.
const toldAtOnce = 4096

// referAgain applies the reports of other shards to a new generation of depths.
func (t *turn) referAgain(reapply bool) error {
	if !reapply || t.in.store.Told() == 0 {
		return nil
	}
	type telling struct {
		id   schema.ID
		told schema.Inbound
	}
	var some []telling
	for next := schema.ID(1); next != 0; {
		from := next
		some, next = some[:0], 0
		err := t.in.eachTold(from, func(id schema.ID, told schema.Inbound) bool {
			if len(some) == toldAtOnce {
				next = id
				return false
			}
			some = append(some, telling{id, told})
			return true
		})
		for i := 0; i < len(some) && err == nil; i++ {
			err = t.reach.refer(some[i].id, some[i].told)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
