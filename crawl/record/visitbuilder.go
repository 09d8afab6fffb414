package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A visitBuilder turns an outcome into a visit: the facts of the answer, and the URLs that it leads to.
type visitBuilder struct {
	in     *runState
	urls   *urls
	robots *robotsCache
	pages  *pageStore
	met    []met // links of the last visit, as far as it recorded some
}

// visit returns the complete visit that an outcome ends.
func (d *visitBuilder) visit(o *ring.Outcome, v judge.Verdict) (*schema.Visit, error) {
	d.met = d.met[:0]
	visit := d.answer(o, v)
	if o.Wall != nil {
		return d.walled(o, visit, d.in.latest(visit.URL))
	}
	if err := d.prefer(o, visit); err != nil {
		return nil, err
	}
	if err := d.compare(visit); err != nil {
		return nil, err
	}
	if err := d.permit(o, visit); err != nil {
		return nil, err
	}
	if err := d.targets(o, visit); err != nil {
		return nil, err
	}
	return visit, d.pages.add(d.in, o, visit)
}

// prefer records the form at which redirects within the visit have found the page: the next visit
// begins there.
func (d *visitBuilder) prefer(o *ring.Outcome, visit *schema.Visit) error {
	if visit.AliasHops == 0 || !visit.Found() {
		return nil
	}
	_, err := d.in.tx.URLs.AddForm(visit.URL, o.Step.Norm, visit.Form, true)
	return err
}

// walled returns the visit of a page that met a wall. It keeps what the last real visit found, if there was one. seq is
// the visit before.
func (d *visitBuilder) walled(o *ring.Outcome, visit *schema.Visit, seq schema.Seq) (*schema.Visit, error) {
	visit.Answer, visit.AnswerRule, visit.AnswerStatus = schema.AnswerChallenge, o.Wall.ID, o.Status
	var before *schema.Visit
	for ; ; seq = before.Prev { // failures say nothing of the page
		var err error
		if seq == 0 {
			return visit, nil
		}
		if before, err = d.in.tx.Visits.At(seq); err != nil {
			return nil, err
		}
		if before.Real() && !before.Archived && (visit.StoredPath == "" || before.StoredPath != visit.StoredPath) {
			break
		}
	}
	stands := d.in.carriedOver(before)
	stands.At, stands.Kept, stands.Knew, stands.LeftOwn = visit.At, false, visit.Knew, visit.LeftOwn
	stands.Requests, stands.Retries, stands.ResponseTime = visit.Requests, visit.Retries, visit.ResponseTime
	stands.Proxy, stands.Unchanged = visit.Proxy, true
	stands.Answer, stands.AnswerRule, stands.AnswerStatus = visit.Answer, visit.AnswerRule, visit.AnswerStatus
	return stands, nil
}

// answer returns what an outcome itself says, without links.
func (d *visitBuilder) answer(o *ring.Outcome, v judge.Verdict) *schema.Visit {
	step := o.Step
	visit := &schema.Visit{
		URL: step.ID, Run: d.in.run.ID, At: o.FirstByte.Truncate(time.Millisecond),
		State: v.State, Status: o.Status, Form: step.URL,
		AliasHops: step.Visit.Hops, Retries: step.Visit.Retries, Requests: step.Visit.Requests + 1,
		ContentType: o.ContentType, LastModified: o.LastModified, ETag: o.ETag, ServerDate: o.Date, Fresh: o.Fresh,
		Length: o.Length, SHA256: o.SHA256, ResponseTime: max(0, o.FirstByte.Sub(step.Sent)),
		Reason: v.Reason, Rule: v.Rule, Knew: step.Visit.Knew, LeftOwn: step.Visit.LeftOwn,
	}
	visit.ByHead = step.Kind == ring.Head && v.State == schema.ContentMismatch
	visit.Proxy = step.Settings.Client.ProxyOf(weburl.Host(step.URL))
	if v.State == schema.DeadLink || v.State == schema.Unreachable { // a form before the last one may have had it
		visit.Status = v.Reason.Status
	}
	if o.Answered() && o.Status == 304 {
		visit.Stand = step.Visit.Revisit
	}
	if p := o.Page; p != nil && v.State == schema.Processed {
		visit.Content = p.Content
		if most := d.in.set.Config.Crawler.LinksPerPage(); p.Distinct > most {
			visit.LinkLimit = most
		}
		if visit.NoIndex && d.in.set.Config.Crawler.RespectNoindex {
			visit.Content = visit.Withheld()
		}
	}
	return visit
}

// compare compares a visit with the previous one: what a 304 keeps, and whether the body is the
// same.
func (d *visitBuilder) compare(visit *schema.Visit) error {
	seq := d.in.latest(visit.URL)
	if seq == 0 || visit.State != schema.Processed {
		return nil
	}
	before, err := d.in.tx.Visits.At(seq)
	if err != nil || before.State != schema.Processed {
		return err
	}
	if visit.Stand == 0 {
		visit.Unchanged = visit.Length >= 0 && visit.Length == before.Length && visit.SHA256 == before.SHA256
		return nil
	}
	visit.Unchanged = true
	if !d.in.isPage(visit.URL) { // it refers to itself, with everything that the previous one named
		visit.Stand = 0
		visit.Links, visit.Sitemap, visit.Children = before.Links, before.Sitemap, before.Children
	}
	visit.Content = before.Brief()
	visit.ContentType, visit.Length, visit.SHA256 = before.ContentType, before.Length, before.SHA256
	visit.StoredPath = before.StoredPath
	visit.ETag, visit.LastModified = cmp.Or(visit.ETag, before.ETag), cmp.Or(visit.LastModified, before.LastModified)
	return nil
}

// targets records the URLs that an outcome leads to and links the visit to them.
func (d *visitBuilder) targets(o *ring.Outcome, visit *schema.Visit) error {
	switch {
	case visit.State != schema.Processed:
		return nil
	case o.Location != nil && d.in.isPage(visit.URL):
		return d.redirect(*o.Location, visit)
	case o.Location != nil:
		return d.files([]ring.Target{*o.Location}, visit)
	case o.Sitemap != nil:
		return d.sitemap(o, visit)
	case o.Page != nil:
		return d.links(o, visit)
	}
	return nil
}

// redirect records where a page redirects to. A seed that leads out of its origin is reported at
// once, because the origin may then never be crawled.
func (d *visitBuilder) redirect(to ring.Target, visit *schema.Visit) error {
	visit.Distinct = 1
	id, err := d.urls.record(to, schema.KindPage, visit.URL)
	if err != nil || id == 0 {
		return err
	}
	visit.RedirectTo = id
	visit.Links = []schema.Link{{To: id, Kinds: schema.Kinds(0).Add(schema.LinkRedirect), Place: schema.PlaceBody}}
	if d.in.seeds.pages[visit.URL] && len(d.in.set.Scope.OriginsOf(to.Host())) == 0 {
		if norm, err := d.in.tx.URLs.Norm(visit.URL); err == nil {
			d.in.log.Warn("a seed ends outside its origin", "seed", norm, "at", to.Norm)
		}
	}
	return nil
}

// links records the links of a page.
func (d *visitBuilder) links(o *ring.Outcome, visit *schema.Visit) error {
	keepAnchors := !visit.NoIndex || !d.in.set.Config.Crawler.RespectNoindex
	d.in.tx.URLs.Warm(o.Hashes)
	known := schema.ID(d.in.store.URLs())
	self := weburl.Host(o.Step.Norm)
	var foreign foreignHosts
	if most := d.in.set.Config.Traps.MaxHostsPerPage; len(o.Page.Links) > most { // fewer links lead to fewer hosts
		page, err := d.in.tx.Hosts.Name(d.in.store.HostOf(visit.URL))
		if err != nil {
			return err
		}
		foreign = foreignHosts{site: weburl.Site(page), most: most}
	}
	text, err := d.urls.textOf(d.in.store.HostOf(visit.URL))
	if err != nil {
		return err
	}
	visit.Links, visit.BeyondHosts, visit.BeyondText = make([]schema.Link, 0, len(o.Page.Links)), 0, 0
	for i := range o.Page.Links {
		from := &o.Page.Links[i]
		if !foreign.accept(from.URL.Host()) {
			visit.BeyondHosts++
			continue
		}
		to := ring.Target{URL: from.URL, Hash: o.Hashes[i], Forms: from.Forms}
		if ok, err := text.accept(to); err != nil {
			return err
		} else if !ok {
			visit.BeyondText++
			continue
		}
		id, err := d.urls.record(to, schema.KindPage, visit.URL)
		if err != nil {
			return err
		}
		if id == 0 || id == visit.URL {
			continue
		}
		d.met = append(d.met, met{id: id, fresh: id > known})
		if host, pathQuery := weburl.Split(from.URL.Norm); host == self {
			d.met[len(d.met)-1].pathQuery = pathQuery
		}
		link := schema.Link{To: id, Kinds: from.Kinds, Rel: from.Rel, Place: from.Place, Rendered: from.Rendered}
		const silent = schema.OnlyCanonical | schema.OnlyFeed
		link.Nofollow = !from.Followed && link.Kinds&silent != 0 && link.Kinds&^silent != 0
		if keepAnchors {
			link.Anchor = from.Anchor
		}
		visit.Links = append(visit.Links, link)
	}
	return text.count()
}

// sitemap records the pages and files that a sitemap names. Only pages of an origin
// count.
func (d *visitBuilder) sitemap(o *ring.Outcome, visit *schema.Visit) error {
	visit.Distinct, visit.Children = len(o.Entries), len(o.Files)
	for i, to := range o.Entries {
		if to.Norm == "" || len(d.in.set.Scope.OriginsOf(to.Host())) == 0 {
			continue
		}
		how := byLink
		if host, err := d.urls.hosts.find(to.Host()); err != nil {
			return err
		} else if d.in.speaksFor(visit.URL, host, to.Host()) {
			how = bySpeaker
		}
		id, err := d.urls.note(to, schema.KindPage, 0, how)
		if err != nil {
			return err
		}
		if id != 0 {
			e := o.Sitemap.Entries[i]
			visit.Sitemap = append(visit.Sitemap,
				schema.SitemapEntry{To: id, LastMod: e.LastMod, ChangeFreq: e.ChangeFreq})
		}
	}
	return d.files(o.Files, visit)
}

// files records the files that an index names, or a redirect.
func (d *visitBuilder) files(files []ring.Target, visit *schema.Visit) error {
	from, err := d.urls.hosts.load(d.in.store.HostOf(visit.URL))
	if err != nil {
		return err
	}
	for _, to := range files {
		if to.Norm == "" || !d.in.set.Scope.Classify(to.Norm).Class.Visitable() {
			continue
		}
		if out, err := d.leadsOut(from, to.Host()); err != nil {
			return err
		} else if out {
			from.SitemapsLeft++
			d.urls.hosts.put(from)
			continue
		}
		to.Hash = d.in.store.Hash(schema.KindSitemap, to.Norm)
		how := byLink
		if host, err := d.urls.hosts.find(to.Host()); err != nil {
			return err
		} else if d.in.speaksFor(visit.URL, host, to.Host()) {
			how = bySpeaker
		}
		id, err := d.urls.note(to, schema.KindSitemap, visit.URL, how)
		if err != nil {
			return err
		}
		if id != 0 && id != visit.URL {
			visit.Links = append(visit.Links, schema.Link{To: id, Kinds: schema.Kinds(0).Add(schema.LinkAnchor)})
		}
	}
	visit.Links = distinctLinks(visit.Links)
	return nil
}

// distinctLinks sorts links by target and keeps one of each.
func distinctLinks(links []schema.Link) []schema.Link {
	slices.SortFunc(links, func(a, b schema.Link) int { return cmp.Compare(a.To, b.To) })
	return slices.CompactFunc(links, func(a, b schema.Link) bool { return a.To == b.To })
}
