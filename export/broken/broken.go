// Package broken finds the links that lead nowhere: those whose target is dead, has
// failed or cannot be reached. A link to a page that redirects is not among them; the
// redirect itself is, where it leads nowhere.
package broken

import (
	"cmp"
	"context"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Link is a link that leads nowhere, and why.
type Link struct {
	*Source
	*Target
	Link schema.Link // with its anchor
}

// A Source is the page that a link stands on. All its links share it.
type Source struct {
	Origin string // the narrowest that the page belongs to; empty: none
	From   string

	page   schema.ID
	origin int // place in the configuration; that behind the last: none
	links  []targeted
}

// A Target is a page that links to it lead nowhere. All of these share it.
type Target struct {
	To     string
	State  schema.State
	Status int    // of the answer; 0: there was none
	Why    string // in words
}

// A targeted is a link with its target.
type targeted struct {
	target *Target
	link   schema.Link
}

// Find returns the links that stand and lead nowhere: by origin as configured, those of
// other pages last, then by the page that links, then by target: those of
// [survey.Survey.Speakers].
func Find(s *survey.Survey) ([]Link, error) {
	speaks, err := s.Speakers()
	if err != nil {
		return nil, err
	}
	f := &finder{survey: s, speaks: speaks, targets: make(map[schema.ID]*Target), broken: make([]bool, s.URLs()+1)}
	if err := s.EachSketch(f.addPage); err != nil {
		return nil, err
	}
	if err := s.Links.EachTo(func(to schema.ID) bool { return f.broken[to] }, f.addLink); err != nil {
		return nil, err
	}
	if err := s.Hold(s.Context(), f.name); err != nil {
		return nil, err
	}
	return f.list(), nil
}

// A finder gathers links that lead nowhere.
type finder struct {
	survey  *survey.Survey
	speaks  func(schema.ID) bool
	targets map[schema.ID]*Target
	broken  []bool // by id
	sources []*Source
	links   []targeted // of the last source
	count   int
}

func (f *finder) addPage(p *survey.Page) error {
	if f.broken[p.ID] = p.Broken(); f.broken[p.ID] {
		f.targets[p.ID] = &Target{State: p.State, Status: p.Status(), Why: p.Error}
	}
	return nil
}

// addLink adds a link; those of a page come one after the other.
func (f *finder) addLink(from schema.ID, l schema.Link) error {
	if n := len(f.sources); n == 0 || f.sources[n-1].page != from {
		if !f.speaks(from) {
			return nil
		}
		f.endSource()
		if err := f.addSource(from); err != nil {
			return err
		}
	}
	f.links = append(f.links, targeted{f.targets[l.To], l})
	f.count++
	return nil
}

func (f *finder) addSource(page schema.ID) error {
	host, err := f.survey.Hosts.Name(f.survey.Hosts.Of(page))
	if err != nil {
		return err
	}
	origins := f.survey.Terrain().Origins()
	one := &Source{page: page, origin: f.survey.Terrain().Narrowest(host)}
	if one.origin < 0 {
		one.origin = len(origins)
	} else {
		one.Origin = origins[one.origin].Name
	}
	f.sources = append(f.sources, one)
	return nil
}

// name fills in the URLs of pages, in their order.
func (f *finder) name() (err error) {
	f.endSource()
	slices.SortFunc(f.sources, func(a, b *Source) int { return cmp.Compare(a.page, b.page) })
	sources := f.sources
	for id := schema.ID(1); int(id) < len(f.broken) && err == nil; id++ {
		if f.broken[id] {
			f.targets[id].To, err = f.survey.Norm(id)
		}
		if len(sources) > 0 && sources[0].page == id && err == nil {
			sources[0].From, err = f.survey.Norm(id)
			sources = sources[1:]
		}
		if id%often == 0 && f.survey.Context().Err() != nil {
			return context.Cause(f.survey.Context())
		}
	}
	return err
}

// often is how many URLs pass between two looks at whether anybody waits.
const often = 1 << 14

// endSource gives the last source its links.
func (f *finder) endSource() {
	if n := len(f.sources); n > 0 {
		f.sources[n-1].links = slices.Clone(f.links)
	}
	f.links = f.links[:0]
}

// list returns what was gathered, in order.
func (f *finder) list() []Link {
	slices.SortFunc(f.sources, func(a, b *Source) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.From, b.From))
	})
	all := make([]Link, 0, f.count)
	for _, from := range f.sources {
		slices.SortFunc(from.links, func(a, b targeted) int { return cmp.Compare(a.target.To, b.target.To) })
		for _, l := range from.links {
			all = append(all, Link{from, l.target, l.link})
		}
		from.links = nil
	}
	return all
}
