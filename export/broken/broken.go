// Package broken finds broken links: their target is dead, has failed or is unreachable, or shows what its host shows
// for pages that do not exist. A link to a page that redirects is not broken; the redirect itself is, if its target
// is.
package broken

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Link is a broken link with its source and its target.
type Link struct {
	*Source
	*Target
	Link schema.Link // with its anchor
}

// A Source is a page with broken links. All its links share it.
type Source struct {
	Origin string // the most specific origin of the page; empty: none
	From   string

	page   schema.ID
	origin int // index in the configuration; one past the last: none
	links  []targeted
}

// A Target is the target of broken links. All links to it share it.
type Target struct {
	To     string
	State  schema.State
	Answer schema.Answer // what the server answered instead of a page
	Status int           // HTTP status; 0: no answer
	Why    string        // in words
	At     time.Time     // when it was found broken; zero: not by a visit

	Capture *Capture // see [Archive.Read]; nil: none was looked up, or found
}

// walled reports whether the target shows a wall to crawlers, and so is not known to be broken.
func (t *Target) walled() bool { return t.Answer == schema.AnswerChallenge }

// Class returns the class of the target among broken ones: its state, unless it is a soft 404.
func (t *Target) Class() string {
	if t.Answer == schema.AnswerSoft404 {
		return t.Answer.String()
	}
	return t.State.String()
}

// A targeted is a link with its target.
type targeted struct {
	target *Target
	link   schema.Link
}

// Find returns the current broken links on the pages of [survey.Survey.Speakers], and apart from them the links to
// pages that show a wall, which are not known to be broken. Both are sorted by the page's origin in configured order
// (pages of no origin come last), then by page, then by target.
func Find(s *survey.Survey) (links, walled []Link, err error) {
	speaks, err := s.Speakers()
	if err != nil {
		return nil, nil, err
	}
	f := &finder{survey: s, speaks: speaks, targets: make(map[schema.ID]*Target), broken: make([]bool, s.URLs()+1)}
	if err := s.EachSketch(f.addPage); err != nil {
		return nil, nil, err
	}
	if err := s.Links.EachTo(func(to schema.ID) bool { return f.broken[to] }, f.addLink); err != nil {
		return nil, nil, err
	}
	if err := s.Hold(s.Context(), f.name); err != nil {
		return nil, nil, err
	}
	for _, l := range f.list() {
		if l.walled() {
			walled = append(walled, l)
		} else {
			links = append(links, l)
		}
	}
	return links, walled, nil
}

// A finder collects broken links.
type finder struct {
	survey  *survey.Survey
	speaks  func(schema.ID) bool
	targets map[schema.ID]*Target
	broken  []bool // by id; or walled
	sources []*Source
	links   []targeted // of the last source
	count   int
}

func (f *finder) addPage(p *survey.Page) error {
	if f.broken[p.ID] = p.Broken() || p.Walled(); f.broken[p.ID] {
		to := &Target{State: p.State, Status: p.Status(), Why: p.Why()}
		if p.Visit != nil {
			to.At = p.Visit.At
		}
		switch {
		case p.Walled():
			to.Answer = schema.AnswerChallenge
		case p.Answer == schema.AnswerSoft404:
			to.Answer = p.Answer
		}
		f.targets[p.ID] = to
	}
	return nil
}

// addLink adds a link. The links of a page come consecutively.
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
	origins := f.survey.Scope().Origins()
	one := &Source{page: page, origin: f.survey.Scope().Narrowest(host)}
	if one.origin < 0 {
		one.origin = len(origins)
	} else {
		one.Origin = origins[one.origin].Name
	}
	f.sources = append(f.sources, one)
	return nil
}

// name fills in the URLs of pages in order of their ids.
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

// often is how many URLs are read between two checks for cancellation.
const often = 1 << 14

// endSource stores the collected links in the last source.
func (f *finder) endSource() {
	if n := len(f.sources); n > 0 {
		f.sources[n-1].links = slices.Clone(f.links)
	}
	f.links = f.links[:0]
}

// list returns the collected links in order.
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
