// Package broken finds the links that lead nowhere: those whose target is dead, has
// failed or cannot be reached. A link to a page that redirects is not among them; the
// redirect itself is, where it leads nowhere.
package broken

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Link is a link that leads nowhere, and why.
type Link struct {
	Origin string // the narrowest that the page which links belongs to; empty: none
	From   string
	Link   schema.Link // with its anchor
	To     string
	State  schema.State
	Status int    // of the answer; 0: there was none
	Why    string // in words
}

// Find returns the links that stand and lead nowhere: by origin as configured, those of
// other pages last, then by the page that links, then by target. Pages that the last
// completed run has not seen any more are left out.
func Find(s *survey.Survey) ([]Link, error) {
	f := &finder{survey: s, targets: make(map[schema.ID]*target), broken: make([]bool, s.URLs()+1)}
	if err := s.EachSketch(f.addPage); err != nil {
		return nil, err
	}
	if err := s.EachLinkTo(func(to schema.ID) bool { return f.broken[to] }, f.addLink); err != nil {
		return nil, err
	}
	return f.list(), nil
}

// A finder gathers links that lead nowhere.
type finder struct {
	survey  *survey.Survey
	targets map[schema.ID]*target
	broken  []bool // by id
	sources []source
	links   int
}

// A target is a page that links to it lead nowhere.
type target struct {
	url    string
	state  schema.State
	status int
	why    string
}

// A source is a page with links that lead nowhere.
type source struct {
	page   schema.ID
	url    string
	origin int // place in the configuration; that behind the last: none
	links  []schema.Link
}

func (f *finder) addPage(p *survey.Page) (err error) {
	if f.broken[p.ID] = p.Broken() && p.LastRun >= f.survey.Since(); f.broken[p.ID] {
		t := &target{state: p.State, status: p.Status(), why: p.Error}
		t.url, err = f.survey.Norm(p.ID)
		f.targets[p.ID] = t
	}
	return err
}

// addLink adds a link; those of a page come one after the other.
func (f *finder) addLink(from schema.ID, l schema.Link) error {
	if n := len(f.sources); n == 0 || f.sources[n-1].page != from {
		if !f.survey.VisitedSince(from) {
			return nil
		}
		if err := f.addSource(from); err != nil {
			return err
		}
	}
	last := &f.sources[len(f.sources)-1]
	last.links = append(last.links, l)
	f.links++
	return nil
}

func (f *finder) addSource(page schema.ID) error {
	host, err := f.survey.HostName(f.survey.HostOf(page))
	if err != nil {
		return err
	}
	one := source{page: page, origin: f.survey.Terrain().Narrowest(host)}
	if one.origin < 0 {
		one.origin = len(f.survey.Terrain().Origins())
	}
	one.url, err = f.survey.Norm(page)
	f.sources = append(f.sources, one)
	return err
}

// list returns what was gathered, in order.
func (f *finder) list() []Link {
	slices.SortFunc(f.sources, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.url, b.url))
	})
	all := make([]Link, 0, f.links)
	for i := range f.sources {
		from, origin := &f.sources[i], ""
		if origins := f.survey.Terrain().Origins(); from.origin < len(origins) {
			origin = origins[from.origin].Name
		}
		slices.SortFunc(from.links, func(a, b schema.Link) int {
			return cmp.Compare(f.targets[a.To].url, f.targets[b.To].url)
		})
		for _, l := range from.links {
			to := f.targets[l.To]
			all = append(all, Link{origin, from.url, l, to.url, to.state, to.status, to.why})
		}
		from.links = nil
	}
	return all
}
