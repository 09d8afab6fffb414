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

// A linkReader reads links by position.
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

// A linkScan reads the details of links, page by page. If links are read in order, it reads following
// pages ahead, more and more at a time.
type linkScan struct {
	db      *DB
	graph   *graph
	ahead   uint32 // number of links to read at a time; 0: those of one page
	anchors bool   // anchors have been requested
	read    []survey.PageLinks
}

// maxLinksAhead is the maximum number of links that a scan reads at a time.
const maxLinksAhead = 1 << 16

// fill reads the details of a link whose ends are known.
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

// find finds a page among those read last.
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

// mark sets whether a link that has been read is site-wide.
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
