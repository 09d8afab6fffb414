package graph

import (
	"cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// referrers finds the URLs of pages that led to others. Pages are found in groups,
// so a few of them are asked for again and again.
type referrers struct {
	survey *survey.Survey
	known  map[schema.ID]string
	err    error // the first
}

const maxReferrers = 4096

func newReferrers(s *survey.Survey) *referrers {
	return &referrers{survey: s, known: make(map[schema.ID]string)}
}

// url returns the URL of a page; empty where there is none.
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
