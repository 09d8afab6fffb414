package sqlite

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// keptPages is the size of the page cache, a power of two. Most links lead to few pages.
const keptPages = 1 << 15

// A pageReader reads pages by id.
type pageReader struct {
	db   *DB
	kept []*survey.Page // by the lowest bits of the id; without links and facts

	missed int // number of cache misses
}

// markAfter determines when the most requested data is collected for all pages in one walk: after this
// fraction of all pages was read one by one, which costs as much.
const markAfter = 4

// page returns a page.
func (r *pageReader) page(id schema.ID) (*survey.Page, error) {
	if r.kept == nil {
		r.kept = make([]*survey.Page, keptPages)
	}
	at := &r.kept[id%keptPages]
	if *at != nil && (*at).ID == id {
		return *at, nil
	}
	if r.missed++; r.missed == r.db.survey.URLs()/markAfter+1 {
		if _, err := r.db.mark(); err != nil {
			return nil, err
		}
	}
	p, err := r.db.survey.Page(id)
	if err != nil {
		return nil, err
	}
	*at = without(p)
	return *at, nil
}

// without returns a page without possibly large parts that no column shows.
func without(p *survey.Page) *survey.Page {
	if p.Visit != nil {
		v := *p.Visit
		v.Links, v.Sitemap, v.Facts = nil, nil, nil
		p.Visit = &v
	}
	return p
}

// maxAhead is the maximum number of pages that a scan reads at a time.
const maxAhead = 256

// A pageScan reads consecutive pages, more and more at a time, which costs less than half of reading
// them one by one.
type pageScan struct {
	db    *DB
	desc  bool
	facts bool
	block []*survey.Page // sorted by id
	first schema.ID      // the block has all pages from here on
	last  schema.ID
	ahead schema.ID
}

// page returns the page with an id.
func (s *pageScan) page(id schema.ID) (*survey.Page, error) {
	if id < s.first || id > s.last || s.block == nil {
		if err := s.read(id); err != nil {
			return nil, err
		}
	}
	i, ok := slices.BinarySearchFunc(s.block, id, func(p *survey.Page, id schema.ID) int { return cmp.Compare(p.ID, id) })
	if !ok {
		return s.db.survey.Page(id) // reports why there is none
	}
	return s.block[i], nil
}

var errEnough = errors.New("enough")

func (s *pageScan) read(id schema.ID) error {
	s.ahead = min(2*s.ahead+1, maxAhead)
	s.first, s.last = id, id+s.ahead-1
	if s.desc {
		s.first, s.last = max(1, id-min(id, s.ahead)+1), id
	}
	s.block = s.block[:0]
	err := s.db.survey.EachPageFrom(s.first, func(p *survey.Page) error {
		if p.ID > s.last {
			return errEnough
		}
		if !s.facts {
			p = without(p)
		}
		s.block = append(s.block, p)
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
