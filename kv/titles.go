package kv

import "github.com/sumi-ripple/ripple/schema"

// Titles calls f for the URL and the title of all visits in order, except those whose URLs are not wanted and
// those without a title; want may be called concurrently. It costs a third of [Visits.Each]. A title that is
// kept keeps some others in memory. An error of f ends the walk.
func (vs *Visits) Titles(want func(schema.Seq, schema.ID) bool, f func(id schema.ID, title string) error) error {
	fresh := func(log span) *titles { return &titles{log: log, want: want} }
	return eachVisit(vs, 1, fresh, func(p *titles) (bool, error) {
		all, at := string(p.text), 0
		for _, one := range p.all {
			if err := f(one.url, all[at:one.end]); err != nil {
				return false, err
			}
			at = one.end
		}
		return true, nil
	})
}

// titles are the titles of visits.
type titles struct {
	log   span
	want  func(schema.Seq, schema.ID) bool
	visit schema.Visit // that is being read
	all   []titled
	text  []byte // of all of them
}

// A titled is the URL of a visit, and where its title ends.
type titled struct {
	url schema.ID
	end int
}

func (p *titles) reset() { p.all, p.text = p.all[:0], p.text[:0] }

func (p *titles) add(at int, key []byte, r *reader) error {
	seq, err := p.log.follows(at, key)
	if err != nil {
		return err
	}
	url := r.id()
	if !p.log.has(url) {
		return p.log.unknown(seq)
	}
	if !p.want(seq, url) {
		return nil
	}
	countLinks(r)
	r.lean, p.visit.Seq = true, seq
	decodeRequest(&p.visit, r)
	if title := r.raw(r.uint()); len(title) > 0 && !r.bad {
		p.text = append(p.text, title...)
		p.all = append(p.all, titled{url, len(p.text)})
	}
	return nil
}
