package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// headerOf returns the headers of a step that other requests do not have: resources that a page
// loads may be scripts or data.
func headerOf(step ring.Step) http.Header {
	if step.Kind == ring.Asset {
		return http.Header{"Accept": {cmp.Or(step.Accept, "*/*")}}
	}
	return nil
}

// answersPath returns the name of the file that keeps what scripts of pages have requested in a run.
func answersPath(state string) string { return state + ".answers" }

// continueAnswers makes known what scripts have requested earlier in the run, in another process or under another
// configuration.
func continueAnswers(set *ring.Settings, state string, run schema.Run) error {
	if set.Answers == nil {
		return RemoveAnswers(state)
	}
	name := fmt.Sprintf("run %d of %s", run.ID, run.Started.UTC().Format(time.RFC3339))
	return set.Answers.Continue(answersPath(state), name)
}

// RemoveAnswers removes what a crawl of a state file has kept for its next process, apart from the state file.
func RemoveAnswers(state string) error { return answers.Remove(answersPath(state)) }

// park parks a page until a browser is free: it stores the page's bytes and drops what was parsed from them. If
// there is no room, the page stays as it was fetched. The scripts that it names are requested before it is rendered the
// first time.
func (p *parser) park(o *ring.Outcome, resp *fetch.Response) {
	s := o.Step.Settings
	if !s.Renders(o) {
		return
	}
	at := s.Answers.Keep(&render.Page{URL: o.Step.URL, Status: o.Status, Header: resp.Header, Body: resp.Body})
	if at == nil {
		o.Page.Rendering = schema.RenderBudget
		return
	}
	o.Page, o.Hashes = nil, nil
	o.Fetched = &ring.Fetched{Outcome: *o, Page: at}
	if base, err := s.Rules.Base(o.Step.URL); err == nil {
		for _, url := range p.extractor.Scripts(resp.Body, o.ContentType, base, s.Config.Render.MaxRequests) {
			o.Missing = append(o.Missing, render.Resource{URL: url})
		}
	}
}

// render renders a page in a browser, and reads the result. If the browser fails, the page is read
// as it was fetched.
func (v *visitors) render(ctx context.Context, step ring.Step, pass func(ring.Outcome)) {
	leave := sync.OnceFunc(func() { step.Settings.Seats.Release(1) })
	defer leave()
	o := step.Fetched.Outcome
	o.Step = step
	fetched, err := step.Fetched.Page.Load()
	var shown render.Rendering
	look := answers.Look{Answers: step.Settings.Answers, Most: step.Settings.Config.Render.MaxRequests}
	if err == nil {
		shown, err = inTime(ctx, &o, fetched, &look)
	}
	leave() // now, because this crawl may wait for its own commits while others need a browser
	if ctx.Err() != nil {
		cancelled(&o, context.Cause(ctx))
		pass(o)
		return
	}
	if err == nil && len(shown.Missing) > 0 {
		for _, missing := range shown.Missing {
			o.Missing = append(o.Missing, missing.Resource)
		}
		pass(o)
		return
	}
	p, taken := v.parsers.take(ctx)
	if taken != nil {
		cancelled(&o, taken)
		pass(o)
		return
	}
	p.page(&o, fetched.Header, fetched.Body, o.Length)
	var kept *warc.Rendered
	rendering, asked, refusals := schema.RenderFailed, 0, schema.Refusals{}
	if err != nil {
		o.Failed = schema.Clean(fetch.WithoutPlaces(err.Error()), 256)
		if o.TimedOut {
			rendering = schema.RenderTimedOut
		}
		if step.Fetched.Once {
			rendering |= schema.RenderOnce
		}
	} else if rendering = renderingOf(&shown, look.Refused); rendering&schema.Rendered != 0 {
		kept = &warc.Rendered{DOM: shown.DOM, Navigations: shown.Navigations}
		asked, refusals = len(shown.Used), refusalsOf(&shown)
		if p.shown(&o, fetched.Header, kept) {
			rendering |= schema.RenderEmpty
		}
	}
	o.Page.Rendering, o.Page.RenderAsked, o.Page.Refusals = rendering, asked, refusals
	p.hold(ctx, &o, &fetch.Response{Header: fetched.Header, Body: fetched.Body}, kept)
	pass(o)
	v.parsers <- p
}

// inTime renders a page within the limits on time: one on the wall clock for this round, and one on the browser's
// processor time for all rounds and tries together. How many rounds there are depends on what other pages have
// requested before, so they have no limit of their own. A page that has exceeded the limit of a round is to blame
// if the browser got half of that time.
func inTime(ctx context.Context, o *ring.Outcome, fetched render.Page, look *answers.Look) (render.Rendering, error) {
	s := o.Step.Settings
	round, cancel := context.WithTimeoutCause(ctx, s.Config.Render.Timeout, render.ErrTimeout)
	defer cancel()
	shown, err := s.Renderer.Render(round, fetched, look)
	o.Processor = shown.Processor
	all := s.Config.Render.Timeout
	if !o.Step.Fetched.Once {
		all *= time.Duration(s.Config.Retry.MaxRetries + 1)
	}
	switch {
	case errors.Is(err, render.ErrTimeout) && o.Processor >= s.Config.Render.Timeout/2:
		o.TimedOut = true
	case (err != nil || len(shown.Missing) > 0) && o.Step.Fetched.Processor+o.Processor >= all:
		o.TimedOut, err = true, render.ErrTimeout
	}
	return shown, err
}

// fewWords is what a page that is not empty has more of, unless it has links.
const fewWords = 50

// shown reads a page as its scripts have changed it, in place of what was fetched. It reports whether the page
// is still empty: it leads nowhere, and has the signs of a page that needs scripts.
func (p *parser) shown(o *ring.Outcome, header http.Header, r *warc.Rendered) (empty bool) {
	dom, err := p.extract(o.Step, header, "text/html; charset=utf-8", r.DOM)
	if err != nil {
		return false
	}
	fetched := o.Page
	p.navigations(o, &dom, r.Navigations)
	empty = dom.Shell != 0 && dom.WordCount < fewWords && !slices.ContainsFunc(dom.Links, func(l page.Link) bool {
		return l.Kinds.Has(schema.LinkAnchor) || l.Kinds.Has(schema.LinkRefresh)
	})
	before := make(map[string]bool, len(fetched.Links))
	for i := range fetched.Links {
		before[fetched.Links[i].URL.Norm] = true
	}
	for i := range dom.Links {
		dom.Links[i].Rendered = !before[dom.Links[i].URL.Norm]
	}
	dom.Obey(fetched.RobotsTag())
	dom.Preferences = preference.Union(fetched.Preferences, dom.Preferences)
	dom.Charset, dom.Shell = fetched.Charset, fetched.Shell
	o.Page = &dom
	p.hashLinks(o)
	return empty
}

// navigations adds the addresses to which a page tried to navigate, as refresh links.
func (p *parser) navigations(o *ring.Outcome, dom *page.Page, urls []string) {
	base, err := o.Step.Settings.Rules.Base(o.Step.URL)
	if err != nil {
		return
	}
	for _, to := range urls {
		u, err := base.Parse(to)
		if err != nil || u.Norm == o.Step.Norm || dom.Distinct >= o.Step.Settings.Config.Crawler.LinksPerPage() {
			continue
		}
		if i := indexOf(dom.Links, u.Norm); i >= 0 {
			dom.Links[i].Kinds = dom.Links[i].Kinds.Add(schema.LinkRefresh)
			dom.Links[i].Followed = true
			continue
		}
		dom.Links = append(dom.Links, page.Link{
			URL: u, Kinds: schema.Kinds(0).Add(schema.LinkRefresh), Place: schema.PlaceBody, Followed: true,
		})
		dom.Distinct++
	}
}

func indexOf(links []page.Link, norm string) int {
	for i := range links {
		if links[i].URL.Norm == norm {
			return i
		}
	}
	return -1
}

// renderingOf returns how the rendering of a page ended, and why some of its requests were refused.
func renderingOf(r *render.Rendering, refused map[string]bool) schema.Rendering {
	if r.TooLarge {
		return schema.RenderTooLarge
	}
	said := schema.Rendered
	if slices.ContainsFunc(r.Refused, func(one render.Refusal) bool { return one.Reason == render.TooMany }) {
		said |= schema.RenderCut
	}
	for why := range refused {
		switch why {
		case record.DeniedAsset:
			said |= schema.RenderDenied
		case record.UnpaidAsset, answers.Crowded:
			said |= schema.RenderBudget
		case answers.TooMany:
			said |= schema.RenderCut
		default:
			said |= schema.RenderRefused
		}
	}
	return said
}

// refusalsOf counts the requests of a page that no page may make.
func refusalsOf(r *render.Rendering) (n schema.Refusals) {
	for _, one := range r.Refused {
		switch one.Reason {
		case render.Sends:
			n[schema.RefusedPost]++
		case render.WebSocket:
			n[schema.RefusedWebSocket]++
		case render.EventSource:
			n[schema.RefusedEventSource]++
		case render.Worker:
			n[schema.RefusedWorker]++
		case render.OwnHeader:
			n[schema.RefusedHeader]++
		}
	}
	return n
}
