package session

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Limits of what is kept of the pages of a check, which is about 100 MB.
const (
	mostIDs       = 8 << 20
	mostFragments = 1 << 18
)

// An anchorBook holds, for the time of a check, hashes of the ids of all pages and the fragments of all links.
type anchorBook struct {
	mu        sync.Mutex
	log       anchorLog
	ids       map[string][]uint64 // by page, ascending
	crowded   map[string]bool     // pages in ids whose ids were too many
	fragments map[page.Fragment][]string
	redirects map[string]page.Redirect // by page
	held      int                      // ids
	uses      int                      // of fragments, and redirects
	left      int                      // pages, redirects and fragments beyond the limits
}

// begin opens the log, and holds what an earlier process of the check has kept there.
func (b *anchorBook) begin(resumed bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.open(resumed, b.hold)
}

// add is called by the parsers.
func (b *anchorBook) add(of string, a *page.Anchors) {
	slices.Sort(a.IDs)
	a.IDs = slices.Clip(slices.Compact(a.IDs))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log.add(of, a)
	b.hold(of, a)
}

// hold adds the anchors of a page, whose ids ascend.
func (b *anchorBook) hold(of string, a *page.Anchors) {
	ids := a.IDs
	if b.ids == nil {
		b.ids, b.crowded = map[string][]uint64{}, map[string]bool{}
		b.fragments, b.redirects = map[page.Fragment][]string{}, map[string]page.Redirect{}
	}
	if a.Redirect != nil {
		b.redirect(of, *a.Redirect)
		return
	}
	if b.redirects[of].To != of {
		delete(b.redirects, of)
	}
	b.held -= len(b.ids[of])
	if a.Cut {
		b.left++
	}
	if b.crowded[of] = a.CutIDs || b.held+len(ids) > mostIDs; b.crowded[of] {
		b.left++
		ids = nil
	}
	b.ids[of], b.held = ids, b.held+len(ids)
	for _, f := range a.Fragments {
		switch {
		case slices.Contains(b.fragments[f], of): // the page was visited twice
		case b.uses == mostFragments:
			b.left++
		default:
			b.fragments[f], b.uses = append(b.fragments[f], of), b.uses+1
		}
	}
}

// has reports whether the anchors of a page, or where it redirects to, are known.
func (b *anchorBook) has(of string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, read := b.ids[of]
	_, redirects := b.redirects[of]
	return read || redirects
}

// redirect records where a page redirects to, which may be another form of its own URL.
func (b *anchorBook) redirect(of string, r page.Redirect) {
	if _, known := b.redirects[of]; !known {
		if b.uses == mostFragments {
			b.left++
			return
		}
		b.uses++
	}
	b.redirects[of] = r
}

// end returns the page that a link to a page leads to after all redirects. kept is false if one of them replaces the
// fragment of the link, or if they come back.
func (b *anchorBook) end(of string) (at string, kept bool) {
	at = of
	for range schema.MaxRedirects + 1 {
		r, redirects := b.redirects[at]
		switch {
		case redirects && r.Own:
			return at, false
		case !redirects || r.To == at:
			return at, true
		}
		at = r.To
	}
	return at, false
}

// broken returns the fragments that lead nowhere on pages of the origins. It counts in a result those that were
// checked, and those that could not be.
func (b *anchorBook) broken(s *survey.Survey, r *Checked) (links []broken.Link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.Unknown += b.left
	sources, targets, known := map[string]*broken.Source{}, map[string]*broken.Target{}, map[[2]string]bool{}
	for f, pages := range b.fragments {
		if len(s.Scope().OriginsOf(weburl.Host(f.To))) == 0 {
			continue
		}
		at, kept := b.end(f.To)
		if !kept || len(s.Scope().OriginsOf(weburl.Host(at))) == 0 {
			continue
		}
		ids, read := b.ids[at]
		read = read && !b.crowded[at]
		has := func(id uint64) bool {
			_, found := slices.BinarySearch(ids, id)
			return found
		}
		if read {
			r.Total += len(pages)
		}
		switch {
		case page.Leads(f.ID, has):
			continue
		case !read:
			if processed(s, at) {
				r.Unknown++
			}
			continue
		}
		url, id := withFragment(f.To, f.ID)
		if targets[url] == nil { // links may write it in several ways
			why := fmt.Sprintf("the page has no element with the id %q", term.Clean(id, 100))
			if at != f.To {
				why = fmt.Sprintf("it redirects to %s, which has no element with the id %q", term.ShownHost(at, 500),
					term.Clean(id, 100))
			}
			targets[url] = &broken.Target{To: url, State: schema.Processed, Status: 200, Why: why}
		}
		for _, from := range pages {
			if known[[2]string{from, url}] {
				continue
			}
			known[[2]string{from, url}] = true
			if sources[from] == nil {
				sources[from] = &broken.Source{From: from, Origin: originOf(s, from)}
			}
			links = append(links, broken.Link{Source: sources[from], Target: targets[url],
				Link: schema.Link{Kinds: schema.Kinds(0).Add(schema.LinkAnchor)}})
		}
	}
	slices.SortFunc(links, func(a, b broken.Link) int {
		return slices.Compare([]string{a.Origin, a.From, a.To}, []string{b.Origin, b.From, b.To})
	})
	return links
}

func originOf(s *survey.Survey, page string) string {
	if i := s.Scope().Narrowest(weburl.Host(page)); i >= 0 {
		return s.Scope().Origins()[i].Name
	}
	return ""
}

// processed reports whether a page, or the one that it redirects to, answered.
func processed(s *survey.Survey, norm string) bool {
	id, known, err := s.Lookup(norm)
	if err != nil || !known {
		return false
	}
	p, err := s.Page(id)
	if err == nil && p.RedirectTo != 0 {
		var passed []schema.ID
		if passed, err = s.Redirects(p, schema.MaxRedirects+1); err == nil {
			p, err = s.Page(passed[len(passed)-1])
		}
	}
	return err == nil && p.State == schema.Processed && p.Status() < 300
}
