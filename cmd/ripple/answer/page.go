package answer

import (
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// page returns what is known of a page that was met. norm is its canonical URL.
func (r Inspector) page(id schema.ID, norm, place string, limit int) (*KnownPage, error) {
	p, err := r.Page(id)
	if err != nil {
		return nil, err
	}
	out := &KnownPage{
		Imported: r.Run().Kind == schema.RunImport,
		Rule:     p.Rule, State: p.State.String(), Error: p.Error, Seed: p.Seed, PageType: p.PageType,
		DiscoveredAt: p.FirstSeen.UTC(), FirstRun: int(p.FirstRun), LastRun: int(p.LastRun), Redirects: []string{},
		Facts: []fact{},
	}
	if p.Depth != kv.NoDepth {
		depth := int(p.Depth)
		out.Depth = &depth
	}
	if p.InRun {
		out.Own = &p.Own
	}
	if p.Visit != nil {
		out.Title, out.form = p.Visit.Title, p.FetchURL
		for _, f := range p.Visit.Facts {
			out.Facts = append(out.Facts, fact{f.Name, f.Value})
		}
	}
	if out.Answered = newAnswered(p.Answer, p.AnswerRule); p.Answer == schema.AnswerSoft404 {
		out.Probe = newMissingProbe(r.Hosts.Record(p.HostName))
	}
	f, err := r.Fetching()
	if err != nil {
		return nil, err
	}
	if out.Fetching = f.of(norm); out.Fetching != nil {
		out.State, out.Error = schema.Fetching.String(), ""
	}
	if err := r.addTrouble(out, p.HostName, &f); err != nil {
		return nil, err
	}
	if out.Paths, err = OriginPaths(r.Survey, id, maxOriginPaths); err != nil {
		return nil, err
	}
	if err := r.addLinksIn(out, id, place, limit); err != nil {
		return nil, err
	}
	if err := r.addLinksOut(out, id, limit); err != nil {
		return nil, err
	}
	out.LinksOut.Left = p.LinksOmitted()
	if err := r.AddRedirects(out, p); err != nil {
		return nil, err
	}
	return out, r.addHistory(out, p)
}

// addTrouble adds what prevents requests to the page's host, and why the page waits.
func (r Inspector) addTrouble(out *KnownPage, host string, f *Fetching) error {
	var h *schema.Host
	err := r.Store.View(func(tx *kv.Tx) error {
		id, known, err := tx.Hosts.Lookup(host)
		if err == nil && known {
			h, err = tx.Hosts.At(id)
		}
		return err
	})
	if err != nil || h == nil {
		return err
	}
	run := r.Run()
	t := census.NewPace(r.Config(), &run, r.Hosts.Record).Trouble(h)
	out.Trouble, out.AgainAt = t.String(), timeOrNull(t.Until)
	if out.State == schema.Queued.String() {
		out.Obstacle = r.waiting(h, f)
	}
	return nil
}

// addLinksOut adds the links of a page.
func (r Inspector) addLinksOut(out *KnownPage, id schema.ID, limit int) error {
	links, err := r.Links.Out(id)
	if err != nil {
		return err
	}
	out.LinksOut = LinkList[PageLink]{Total: len(links), Links: []PageLink{}}
	for _, l := range links[:min(limit, len(links))] {
		link, err := r.pageLink(l.To, l)
		if err != nil {
			return err
		}
		out.LinksOut.Links = append(out.LinksOut.Links, link)
	}
	return nil
}

func (r Inspector) pageLink(other schema.ID, l schema.Link) (PageLink, error) {
	p, err := r.Page(other)
	if err != nil {
		return PageLink{}, err
	}
	return PageLink{
		URL: p.URL, State: p.State.String(), Kind: l.Kinds.First().String(), Rel: l.Rel.String(), Place: l.Where(),
		Anchor: l.Anchor, Rendered: l.Rendered,
	}, nil
}

// AddRedirects adds the pages that the recorded redirects from a page lead to.
func (r Inspector) AddRedirects(out *KnownPage, p *survey.Page) error {
	pages, err := r.Survey.Redirects(p, maxRedirected)
	for i := 0; i < len(pages) && err == nil; i++ {
		var norm string
		if norm, err = r.Norm(pages[i]); err == nil {
			out.Redirects = append(out.Redirects, norm)
		}
	}
	return err
}

// addHistory adds forms and visits, newest first.
func (r Inspector) addHistory(out *KnownPage, p *survey.Page) error {
	return r.Store.View(func(tx *kv.Tx) error {
		forms, err := tx.URLs.Forms(p.ID)
		if err != nil {
			return err
		}
		out.Forms = forms.All()
		if p.Referrer != 0 {
			if out.Referrer, err = tx.URLs.Norm(p.Referrer); err != nil {
				return err
			}
		}
		out.Visits = []Visit{}
		for seq := r.Store.Latest(p.ID); seq != 0; {
			v, err := tx.Visits.At(seq)
			if err != nil {
				return err
			}
			seq = v.Prev
			if len(out.Visits) == MaxHistory {
				out.OlderVisits++
				continue
			}
			one, err := newVisit(tx, v)
			if err != nil {
				return err
			}
			out.Visits = append(out.Visits, one)
		}
		return nil
	})
}
