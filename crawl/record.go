package crawl

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// apply brings the store up to date with an outcome. A second outcome for a URL
// that is settled changes clocks only.
func (t *turn) apply(o *Outcome) error {
	h, err := t.host(o.Step.Host)
	if err != nil {
		return err
	}
	t.tx.PutHost(h)
	live := t.liveOf(h.ID)
	t.close(live, o.Step.ID)
	t.touch(h.ID).closed++
	if o.Step.Kind == StepResolve {
		h.Address, live.resolved = o.Address, true
		return nil
	}
	observe(h, o)
	live.failing = o.Cause != fetch.None && o.Cause != fetch.Cancelled
	live.rest(t.set.cfg, h, o)
	t.run.Requests++
	if o.Step.Kind == StepRobots {
		return t.applyRobots(h, o)
	}
	if o.Step.URLKind == schema.KindPage {
		h.RunRequests++
	}
	if o.Cause == fetch.Cancelled {
		t.release(o.Step)
		return nil
	}
	return t.applyVisit(h, o)
}

// applyVisit acts on what the judge says of a page or a sitemap.
func (t *turn) applyVisit(h *schema.Host, o *Outcome) error {
	if done, err := t.settledNow(o.Step.ID); err != nil || done {
		t.release(o.Step)
		if o.throttled() {
			t.throttle(h, o)
		} else {
			unthrottle(h, o)
		}
		return err
	}
	t.connectionFailures(h)
	v := judge(o)
	if v.next == nil {
		defer t.release(o.Step)
	}
	if !v.throttle {
		unthrottle(h, o)
	}
	switch {
	case v.throttle:
		t.throttle(h, o)
		if h.RunGivenUp == schema.GaveUpRateLimit {
			return t.settle(h, o, v)
		}
		t.count(errorRateLimited)
		return nil
	case v.next != nil:
		return t.goOn(h, o, *v.next)
	case v.retry && o.Step.Visit.Retries < t.set.cfg.Retry.MaxRetries:
		t.retryLater(h, o, v)
		return nil
	}
	return t.settle(h, o, v)
}

// connectionFailures gives a host up that could not be reached three times in a
// row.
func (t *turn) connectionFailures(h *schema.Host) {
	if h.Failures >= maxConnFailures {
		t.giveUp(h, schema.GaveUpConnection, "three connection failures in a row")
	}
}

// goOn puts the next step of a visit into the line of its host, ahead of the
// host's pages, unless robots.txt forbids it.
func (t *turn) goOn(h *schema.Host, o *Outcome, next Step) error {
	rules, err := t.rulesOf(h)
	if err != nil {
		return err
	}
	if rules == nil { // its copy has run out during the visit, which it still decides on
		if rules, err = t.parsedRobots(h); err != nil {
			return err
		}
	}
	if rules != nil {
		if verdict := rules.Check(weburl.PathQuery(next.URL)); !verdict.Allowed {
			t.release(o.Step)
			return t.settle(h, o, verdictDenied(verdict))
		}
	}
	next.Timeout = t.set.timeout(next.Visit.Retries)
	next.Settings = t.set
	t.liveOf(h.ID).next = append(t.liveOf(h.ID).next, next)
	return nil
}

func (t *turn) retryLater(h *schema.Host, o *Outcome, v verdict) {
	tries := o.Step.Visit.Retries + 1
	h.Retries = slices.DeleteFunc(h.Retries, func(r schema.Retry) bool { return r.URL == o.Step.ID })
	h.Retries = append(h.Retries, schema.Retry{
		URL: o.Step.ID, Attempts: tries, Error: v.err,
		Due: o.Done.Add(backoff(t.set.cfg.Retry, tries)),
	})
}

// settle records the visit that an outcome ends, with everything that follows
// from it.
func (t *turn) settle(h *schema.Host, o *Outcome, v verdict) error {
	visit := t.visitOf(o, v)
	if err := t.compare(visit); err != nil {
		return err
	}
	if err := errors.Join(t.targets(o, visit), t.storePage(o, visit)); err != nil {
		return err
	}
	h.Retries = slices.DeleteFunc(h.Retries, func(r schema.Retry) bool { return r.URL == o.Step.ID })
	if o.Step.URLKind == schema.KindPage {
		h.RunVisited++
		h.Visits++
		t.run.Pages++
		if err := t.countCaps(o.Step); err != nil {
			return err
		}
	}
	t.wwwHint(h, o)
	return t.add(h, visit)
}

// wwwHint notes that a host answers at its www. form only.
func (t *turn) wwwHint(h *schema.Host, o *Outcome) {
	if h.WWW || !o.answered() || !isWWW(o.Step.URL, h.Name) || len(o.Step.Visit.Asked) == 0 {
		return
	}
	if o.Step.Visit.Unreached && o.Status < 400 {
		h.WWW = true
	}
}

// add appends a visit to the log and carries the page's depth over its links.
func (t *turn) add(h *schema.Host, visit *schema.Visit) error {
	if err := t.guard(visit); err != nil {
		return err
	}
	if err := t.enter(visit); err != nil {
		return err
	}
	if _, err := t.tx.AddVisit(visit); err != nil {
		return err
	}
	t.settled[visit.URL] = !survey.Unanswered(visit)
	t.tx.PutHost(h)
	t.countState(visit)
	t.report(visit, h)
	if t.store.Kind(visit.URL) == schema.KindSitemap {
		return t.passOnSitemap(visit.URL)
	}
	links := visit.Links
	if visit.Stand != 0 {
		var err error
		if links, err = t.tx.AppendLinks(nil, visit.Stand); err != nil {
			return err
		}
	}
	depth, hops := t.store.Depth(visit.URL)
	if depth == kv.NoDepth {
		return nil
	}
	return t.spread(source{depth: depth, hops: hops, nofollow: visit.NoFollow}, links)
}

// guard holds every recorded visit to the state machine of SPEC 4.
func (t *turn) guard(visit *schema.Visit) error {
	if err := schema.Transition(schema.Queued, schema.Fetching); err != nil {
		return err
	}
	return schema.Transition(schema.Fetching, visit.State)
}

// visitOf turns an outcome and its verdict into a record without links.
func (t *turn) visitOf(o *Outcome, v verdict) *schema.Visit {
	step := o.Step
	visit := &schema.Visit{
		URL: step.ID, Run: t.run.ID, At: o.FirstByte.Truncate(time.Millisecond),
		State: v.state, Status: o.Status, Form: step.URL, FormsKnown: len(step.Visit.Known),
		AliasHops: step.Visit.Hops, Retries: step.Visit.Retries, Requests: step.Visit.Requests + 1,
		ContentType: o.ContentType, LastModified: o.LastModified, ETag: o.ETag, ServerDate: o.Date,
		Length: o.Length, SHA256: o.SHA256, ResponseTime: max(0, o.FirstByte.Sub(step.Sent)),
		Error: schema.Clean(v.err, 256), Rule: v.rule,
	}
	if v.state == schema.DeadLink && o.Status == 0 {
		visit.Status = step.Visit.Gone
	}
	if o.answered() && o.Status == 304 {
		visit.Stand = step.Visit.Revisit
	}
	if p := o.Page; p != nil && v.state == schema.Processed {
		visit.Charset, visit.NoIndex, visit.NoFollow, visit.Distinct = p.Charset, p.NoIndex, p.NoFollow, p.Distinct
		if !visit.NoIndex || !t.set.cfg.Crawler.RespectNoindex {
			visit.Title = p.Title
			for _, f := range p.Facts {
				visit.Facts = append(visit.Facts, schema.Fact{Name: f.Name, Value: f.Value})
			}
		}
	}
	return visit
}

// compare sets a visit against the one before: what a 304 leaves standing, and
// whether the body is the same.
func (t *turn) compare(visit *schema.Visit) error {
	seq := t.store.Latest(visit.URL)
	if seq == 0 || visit.State != schema.Processed {
		return nil
	}
	before, err := t.tx.Visit(seq)
	if err != nil || before.State != schema.Processed {
		return err
	}
	if visit.Stand == 0 {
		visit.Unchanged = visit.Length >= 0 && visit.Length == before.Length && visit.SHA256 == before.SHA256
		return nil
	}
	visit.Unchanged = true
	if t.store.Kind(visit.URL) == schema.KindSitemap {
		defer keepSitemap(visit, before)
	}
	visit.Title, visit.Charset, visit.ContentType = before.Title, before.Charset, before.ContentType
	visit.Length, visit.SHA256, visit.Distinct = before.Length, before.SHA256, before.Distinct
	visit.NoIndex, visit.NoFollow, visit.StoredPath = before.NoIndex, before.NoFollow, before.StoredPath
	visit.ETag, visit.LastModified = cmp.Or(visit.ETag, before.ETag), cmp.Or(visit.LastModified, before.LastModified)
	return nil
}

// targets records the URLs that an outcome leads to and links the visit to them.
func (t *turn) targets(o *Outcome, visit *schema.Visit) error {
	switch {
	case visit.State != schema.Processed:
		return nil
	case o.Location != nil:
		if t.store.Kind(visit.URL) == schema.KindSitemap {
			return t.sitemapFiles([]Target{*o.Location}, visit)
		}
		id, err := t.intern(*o.Location, schema.KindPage, visit.URL)
		if err != nil || id == 0 {
			return err
		}
		visit.RedirectTo, visit.Distinct = id, 1
		t.noticeSeed(visit.URL, *o.Location)
		visit.Links = []schema.Link{{To: id, Kinds: schema.Kinds(0).Add(schema.LinkRedirect), Place: schema.PlaceBody}}
		return nil
	case o.Sitemap != nil:
		return t.sitemapTargets(o, visit)
	case o.Page != nil:
		return t.pageTargets(o, visit)
	}
	return nil
}

func (t *turn) pageTargets(o *Outcome, visit *schema.Visit) error {
	keepAnchors := !visit.NoIndex || !t.set.cfg.Crawler.RespectNoindex
	t.tx.Warm(o.Hashes)
	visit.Links = make([]schema.Link, 0, len(o.Page.Links))
	for i := range o.Page.Links {
		from := &o.Page.Links[i]
		id, err := t.intern(Target{URL: from.URL, Hash: o.Hashes[i], Forms: from.Forms}, schema.KindPage, visit.URL)
		if err != nil {
			return err
		}
		if id == 0 || id == visit.URL {
			continue
		}
		link := schema.Link{To: id, Kinds: from.Kinds, Rel: from.Rel, Place: from.Place}
		if keepAnchors {
			link.Anchor = from.Anchor
		}
		visit.Links = append(visit.Links, link)
	}
	return nil
}
