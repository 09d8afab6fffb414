package serve

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// fewPages is the part of all pages, as a divisor, up to which they are looked up one by one.
const fewPages = 20

var errLate = errors.New("the search takes too long")

// A pageSearch searches pages for a text in their URL, the Unicode form of their host, or their title.
type pageSearch struct {
	survey *survey.Survey
	ctx    context.Context
	text   string // in lower case
	end    time.Time
	seen   int
	hosts  map[schema.HostID]searched
	low    []byte // a text in lower case
}

// searched is what a search knows about a host.
type searched struct {
	base string // of the URLs of its pages
	has  bool   // its name has the text
}

// search returns the pages in among that contain text, sorted by id. It searches URLs first, and ends after t.patience.
func (t *pageTable) search(ctx context.Context, among []uint32, text string) (*pageList, error) {
	s := &pageSearch{survey: t.survey, ctx: ctx, text: text, end: time.Now().Add(t.patience),
		hosts: map[schema.HostID]searched{}}
	found := make([]bool, t.survey.URLs()+1)
	look := s.all
	if len(among) < t.survey.URLs()/fewPages {
		look = s.few
	}
	list, err := &pageList{whole: true}, look(among, found)
	if errors.Is(err, errLate) {
		list.whole, err = false, nil
	}
	for _, id := range among {
		if found[id] {
			list.ids = append(list.ids, id)
		}
	}
	return list, err
}

// all searches by reading the URLs and the titles of all pages.
func (s *pageSearch) all(among []uint32, found []bool) error {
	in := make([]bool, len(found))
	for _, id := range among {
		in[id] = true
	}
	err := s.survey.EachURL(func(u schema.URL) (err error) {
		if in[u.ID] {
			if found[u.ID], err = s.url(u.Host, u.PathQuery); err != nil {
				return err
			}
		}
		return s.late()
	})
	if err != nil {
		return err
	}
	return s.survey.EachTitle(func(id schema.ID, title string) error {
		if in[id] && !found[id] {
			found[id] = s.has(title, "")
		}
		return s.late()
	})
}

// few searches by reading one page after the other.
func (s *pageSearch) few(among []uint32, found []bool) error {
	for _, id := range among {
		p, err := s.survey.Page(schema.ID(id))
		if err != nil {
			return err
		}
		if found[id], err = s.url(p.Host, weburl.PathQuery(p.URL)); err != nil {
			return err
		}
		found[id] = found[id] || p.Visit != nil && s.has(p.Visit.Title, "")
		if err := s.late(); err != nil {
			return err
		}
	}
	return nil
}

// late returns why the search should end; nil: it should not.
func (s *pageSearch) late() error {
	if s.seen++; s.seen%256 == 0 && time.Now().After(s.end) {
		return errLate
	}
	return s.ctx.Err()
}

// url reports whether a page has the text in its URL or in the name of its host.
func (s *pageSearch) url(host schema.HostID, path string) (bool, error) {
	h, known := s.hosts[host]
	if !known {
		name, err := s.survey.Hosts.Name(host)
		if err != nil {
			return false, err
		}
		h = searched{base: "https://" + name, has: nameHas(name, s.text)}
		s.hosts[host] = h
	}
	return h.has || s.has(h.base, path), nil
}

// has reports whether two texts, one after the other, contain the text, in upper or lower case.
func (s *pageSearch) has(one, two string) bool {
	s.low = append(append(s.low[:0], one...), two...)
	for i, c := range s.low {
		switch {
		case c >= utf8.RuneSelf:
			return strings.Contains(strings.ToLower(one+two), s.text)
		case 'A' <= c && c <= 'Z':
			s.low[i] = c + 'a' - 'A'
		}
	}
	return bytes.Contains(s.low, []byte(s.text))
}

// nameHas reports whether a text is part of a host's name, in its ASCII or Unicode form.
func nameHas(name, search string) bool {
	return strings.Contains(name, search) || strings.Contains(weburl.Unicode(name), search)
}
