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

	origin int // place in the configuration
}

// Find returns the links that stand and lead nowhere: by origin as configured, those of
// other pages last, then by the page that links, then by target. Pages that the last
// completed run has not seen any more are left out.
func Find(s *survey.Survey) ([]Link, error) {
	f := &finder{survey: s, targets: make(map[schema.ID]Link), broken: make([]bool, s.URLs()+1)}
	if err := s.EachSketch(f.addPage); err != nil {
		return nil, err
	}
	var from []schema.ID
	err := s.EachTargetWritten(func(page, to schema.ID) {
		if f.broken[to] && (len(from) == 0 || from[len(from)-1] != page) {
			from = append(from, page)
		}
	})
	for _, page := range from {
		if err == nil {
			err = f.addLinks(page)
		}
	}
	slices.SortFunc(f.links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return f.links, err
}

// A finder gathers links that lead nowhere.
type finder struct {
	survey  *survey.Survey
	targets map[schema.ID]Link // what is to be said of a broken page
	broken  []bool             // by id
	links   []Link
}

func (f *finder) addPage(sketch *survey.Page) error {
	if f.broken[sketch.ID] = sketch.Broken() && sketch.LastRun >= f.survey.Since(); !f.broken[sketch.ID] {
		return nil
	}
	p, err := f.survey.Page(sketch.ID)
	if err == nil {
		f.targets[p.ID] = Link{To: p.URL, State: p.State, Status: p.Status(), Why: p.Error}
	}
	return err
}

// addLinks adds the broken links of a page.
func (f *finder) addLinks(page schema.ID) error {
	p, err := f.survey.Page(page)
	if err != nil || p.Visit.Run < f.survey.Since() {
		return err
	}
	links, err := f.survey.Out(page)
	for _, l := range links {
		if !f.broken[l.To] {
			continue
		}
		link := f.targets[l.To]
		link.From, link.Link = p.URL, l
		origins := f.survey.Terrain().Origins()
		if link.origin = f.survey.Terrain().Narrowest(p.HostName); link.origin >= 0 {
			link.Origin = origins[link.origin].Name
		} else {
			link.origin = len(origins)
		}
		f.links = append(f.links, link)
	}
	return err
}
