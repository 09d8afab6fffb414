package graph

import (
	"cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// referrers looks up URLs of referring pages. Pages are found in groups, so a few referrers are
// requested many times.
type referrers struct {
	survey *survey.Survey
	known  map[schema.ID]string
	err    error // the first error
}

const maxReferrers = 4096

func newReferrers(s *survey.Survey) *referrers {
	return &referrers{survey: s, known: make(map[schema.ID]string)}
}

// url returns the URL of a page; it is empty for id 0.
func (r *referrers) url(id schema.ID) string {
	if id == 0 {
		return ""
	}
	if url, ok := r.known[id]; ok {
		return url
	}
	if len(r.known) == maxReferrers {
		clear(r.known)
	}
	p, err := r.survey.Page(id)
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return ""
	}
	r.known[id] = p.URL
	return p.URL
}
