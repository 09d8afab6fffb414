package survey

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// judge derives the state of a page (SPEC 4): class, visited, depth, rule, host.
func (s *Survey) judge(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	if err := s.followRedirects(tx, p); err != nil {
		return err
	}
	switch {
	case p.Class == schema.ClassBlacklisted:
		p.State = schema.Blacklisted
		return nil
	case p.Class == schema.ClassStub:
		p.State = schema.Stubbed
		return nil
	case p.Visited:
		again, err := s.reopened(tx, p.Visit)
		if err != nil || !again {
			s.take(p)
			return err
		}
		return s.judgeReopened(tx, h, pathQuery, p)
	}
	return s.judgeUnvisited(tx, h, pathQuery, p)
}

// take gives a page the state of its last visit.
func (s *Survey) take(p *Page) {
	v := p.Visit
	p.State, p.Error, p.stands = v.State, v.Error, true
	p.Rule = cmp.Or(v.Rule, p.Rule)
	if p.RedirectTo == 0 {
		return
	}
	switch {
	case p.loops:
		p.State, p.Error = schema.Failed, "redirect loop"
	case p.RedirectCount > MaxRedirects:
		p.State, p.Error = schema.Failed, tooManyRedirects()
	}
}

func tooManyRedirects() string { return fmt.Sprintf("more than %d redirects", MaxRedirects) }

// reopened reports whether a visited page waits again, for a form that was not
// known when it was visited (SPEC 3).
func (s *Survey) reopened(tx *kv.Tx, v *schema.Visit) (bool, error) {
	if !Unanswered(v) || s.past != nil {
		return false, nil
	}
	forms, err := tx.Forms(v.URL)
	return len(forms) > v.FormsKnown, err
}

// Unanswered reports whether another form of a visited page may answer better
// (SPEC 3): the visit asked, and got no 2xx, no redirect and no reason that holds
// for all forms.
func Unanswered(v *schema.Visit) bool {
	return v.Requests > 0 && (v.State == schema.DeadLink || v.State == schema.Unreachable ||
		v.State == schema.Failed && v.Status >= 400)
}

// judgeReopened queues a page that has its answer, if nothing else keeps it from
// being asked again; else the answer stands.
func (s *Survey) judgeReopened(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	rule := p.Rule
	if err := s.judgeUnvisited(tx, h, pathQuery, p); err != nil || p.State == schema.Queued {
		return err
	}
	p.Rule, p.Capped = rule, false
	s.take(p)
	return nil
}

// judgeUnvisited derives the state of a page that the run has not visited.
func (s *Survey) judgeUnvisited(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	switch {
	case !p.InRun && p.Visit != nil:
		s.take(p)
		return nil
	case !p.InRun && !p.Left && (p.Depth == kv.NoDepth || int(p.Depth) <= s.cfg.Crawler.MaxDepth):
		p.State = schema.Discovered
		return s.explainNoDepth(tx, p)
	case int(p.Depth) > s.cfg.Crawler.MaxDepth && !p.Left:
		p.State = schema.DepthExceeded
		p.Error = fmt.Sprintf("max-depth = %d", s.cfg.Crawler.MaxDepth)
		return nil
	}
	rule, err := s.refusing(h, pathQuery, p)
	full := ""
	if err == nil && rule == "" {
		full, err = s.fullCap(tx, h, pathQuery)
	}
	switch {
	case err != nil:
		return err
	case rule == "" && p.Visit != nil && (full != "" || h.spent): // what an earlier run saw stands
		s.take(p)
		return nil
	case rule != "" || full != "":
		p.State, p.Rule, p.Capped = schema.Discovered, cmp.Or(rule, full), p.Capped || full != ""
		p.Error = p.Rule
		return nil
	}
	p.State, p.Error, p.Lost = h.held, h.why, s.past != nil
	if p.State == schema.Queued {
		for _, r := range h.retries {
			if r.URL == p.ID {
				p.Retries, p.Error = r.Attempts, r.Error
			}
		}
	}
	return nil
}

// slowRule begins the rule that leaves only seeds to be visited.
const slowRule = "Crawl-delay "

// refusing returns the rule that keeps a page within reach from being visited, be
// the caps full or not, and marks the page if that is a trap or a Crawl-delay.
func (s *Survey) refusing(h *host, pathQuery string, p *Page) (string, error) {
	if rule, refused := s.terrain.Refuse(h.name, pathQuery); refused {
		p.Capped = strings.HasPrefix(rule, "trap: ")
		return rule, nil
	}
	if p.Hops > MaxRedirects && !p.Left {
		return tooManyRedirects(), nil
	}
	if h.slow != "" && !p.Seed {
		p.Capped = true
		return slowRule + h.slow, nil
	}
	if s.cfg.Crawler.Sitemaps == config.SitemapsOnly && !p.Seed {
		if err := s.readListed(); err != nil {
			return "", err
		}
		if !s.listed.has(int(p.ID)) {
			return `sitemaps = "only"`, nil
		}
	}
	return "", nil
}

// readListed notes the pages that the sitemaps of the run name.
func (s *Survey) readListed() error {
	if s.listed != nil {
		return nil
	}
	listed := newBitset(s.URLs())
	err := s.EachSitemapEntry(func(_ string, e schema.SitemapEntry) error {
		listed.set(int(e.To))
		return nil
	})
	if err == nil {
		s.listed = listed
	}
	return err
}

// EachSitemapEntry calls f for every page that a sitemap names, with the URL of
// the sitemap: by sitemap, then in its order.
func (s *Survey) EachSitemapEntry(f func(sitemap string, e schema.SitemapEntry) error) error {
	return s.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= s.URLs(); id++ {
			if s.store.Kind(id) != schema.KindSitemap || !s.visited(id) {
				continue
			}
			v, err := tx.Visit(s.latest(id))
			if err != nil {
				return err
			}
			norm, err := tx.Norm(id)
			if err != nil {
				return err
			}
			for _, e := range v.Sitemap {
				if err := f(norm, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// cachedLinks are the links of the visit that was read last to explain a page
// without depth: pages that were found together have one referrer.
type cachedLinks struct {
	page  schema.ID
	visit *schema.Visit
}

// explainNoDepth says why a page that is known does not belong to the run.
func (s *Survey) explainNoDepth(tx *kv.Tx, p *Page) error {
	p.Error = fmt.Sprintf("not reached by run %d", s.run.ID)
	if p.Referrer == 0 || !s.visited(p.Referrer) {
		return nil
	}
	if s.ref.page != p.Referrer {
		v, err := s.standing(tx, s.latest(p.Referrer))
		if err != nil {
			return err
		}
		s.ref = cachedLinks{p.Referrer, v}
	}
	if link, ok := linkTo(s.ref.visit.Links, p.ID); ok {
		if rule := refusal(s.cfg.Crawler, link, s.ref.visit.NoFollow); rule != "" {
			p.Rule, p.Error = rule, rule
		}
	}
	return nil
}
