package sqlite

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A linkReader reads links by their places.
type linkReader struct {
	db  *DB
	all *graph // nil: not read yet
}

// graph reads all links, once.
func (r *linkReader) graph() (g *graph, err error) {
	if r.all == nil {
		r.all, err = readGraph(r.db.survey)
	}
	return r.all, err
}

// A linkScan reads what links are beyond their ends, page by page: the pages that follow
// are read with the one that is asked for, more and more, if links come in their order.
type linkScan struct {
	db      *DB
	graph   *graph
	ahead   uint32 // links to read at a time; 0: those of one page
	anchors bool   // have been wanted
	read    []survey.PageLinks
}

// maxLinksAhead is the greatest number of links that a scan reads at a time.
const maxLinksAhead = 1 << 16

// fill reads what a link is whose ends are known.
func (s *linkScan) fill(row *linkRow, anchor bool) error {
	i, ok := s.find(row.From)
	if !ok || anchor && !s.anchors {
		s.anchors = s.anchors || anchor
		if err := s.readFrom(schema.ID(row.From)); err != nil {
			return err
		}
		if i, ok = s.find(row.From); !ok {
			return fmt.Errorf("%w: the links of page %d are gone", kv.ErrDamaged, row.From)
		}
	}
	page := &s.read[i]
	at, ok := slices.BinarySearchFunc(page.Links, row.To, func(l schema.Link, to uint32) int {
		return cmp.Compare(uint32(l.To), to)
	})
	if !ok {
		return fmt.Errorf("%w: the link of page %d to %d is gone", kv.ErrDamaged, row.From, row.To)
	}
	row.Link = export.NewPageLink(page.Page, &page.Links[at], page.First[at], page.Last)
	row.anchored = s.anchors
	return nil
}

// find finds a page among those that were read last.
func (s *linkScan) find(page uint32) (int, bool) {
	return slices.BinarySearchFunc(s.read, page, func(l survey.PageLinks, page uint32) int {
		return cmp.Compare(uint32(l.Page), page)
	})
}

func (s *linkScan) readFrom(page schema.ID) (err error) {
	last := page
	if s.ahead > 0 {
		s.ahead = min(2*s.ahead, maxLinksAhead)
		last = s.graph.from(min(s.graph.start[page]+s.ahead, uint32(len(s.graph.to))-1))
	}
	s.read, err = s.db.survey.Links.Range(page, max(page, last), s.anchors)
	return err
}

// mark says of a link that has been read whether it is site-wide.
func (s *linkScan) mark(row *linkRow) error {
	wide, err := s.db.survey.Links.SiteWide(schema.ID(row.From), *row.Page)
	if err != nil {
		return err
	}
	if wide {
		row.SiteWide = 1
	}
	row.marked = true
	return nil
}
