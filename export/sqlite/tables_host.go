package sqlite

import (
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
)

func (d *DB) hostCount() int64 { return int64(d.survey.Hosts.Count()) }

func hostView(d *DB) virtual {
	scan := func(s span) (next[hostRow], error) {
		return eachPlace(s, d.survey.Hosts.Count(), func(at int, row *hostRow) (bool, error) {
			*row = hostRow{id: schema.HostID(at + 1)}
			return d.survey.Hosts.Maps(row.id)
		}), nil
	}
	v := newView(d, hostRelation(), d.hostCount, func(h *hostRow) int64 { return int64(h.id) }, scan)
	v.ordered = true
	v.load = d.loadHost
	v.keys = []key[hostRow]{{"domain", onlyOne, func(name any) (next[hostRow], error) {
		id, ok, err := d.survey.Hosts.Lookup(name.(string))
		if !ok || err != nil {
			return none[hostRow], err
		}
		return scan(span{int64(id), int64(id), false})
	}}}
	return v
}

// loadHost loads the part of a host that a column needs. All but the name first require a walk over all
// pages.
func (d *DB) loadHost(h *hostRow, column string) (err error) {
	switch column {
	case "id":
		return nil
	case "domain":
		h.name, err = d.survey.Hosts.Name(h.id)
		return err
	case "site_id":
		of, err := d.sites()
		if err == nil {
			h.site = of[h.id]
		}
		return err
	case "duplicate_share":
		h.duplicates, err = d.survey.Duplicates()
		return err
	}
	if h.HostReport == nil {
		h.HostReport, err = d.survey.Hosts.Report(h.id)
	}
	return err
}

func domainView(d *DB) virtual {
	scan := func(s span) (next[domainRow], error) {
		ids, err := d.hosts()
		if err != nil {
			return nil, err
		}
		return eachPlace(s, len(ids), func(at int, row *domainRow) (bool, error) {
			r, err := d.survey.Hosts.Report(ids[at])
			if err != nil {
				return false, err
			}
			of, err := domainOf(d.survey, r.Host)
			if err != nil || of == nil {
				return false, err
			}
			*row = *of
			row.id = int64(at) + 1
			return true, nil
		}), nil
	}
	v := newView(d, domainRelation(), d.hostCount, func(r *domainRow) int64 { return r.id }, scan)
	v.ordered = true
	return v
}

func sitemapView(d *DB) virtual {
	type row = numberedSitemap
	r := through(sitemapRelation(), func(s *row) *sitemapRow { return &s.sitemapRow })
	v := newView(d, r, d.urls, func(s *row) int64 { return s.number }, d.eachSitemapRow)
	v.load = func(s *row, column string) error {
		if column != "linked" {
			return nil
		}
		g, err := d.links.graph()
		if err == nil {
			s.linked = len(g.toward(s.To)) > 0
		}
		return err
	}
	return v
}

// A numberedSitemap is an entry of a sitemap with its row number.
type numberedSitemap struct {
	sitemapRow
	number int64
}

func (d *DB) eachSitemapRow(s span) (next[numberedSitemap], error) {
	named, err := d.names()
	if err != nil {
		return nil, err
	}
	var sitemap schema.ID // the one read last
	var url string
	var entries []schema.SitemapEntry
	return eachPlace(s, len(named), func(at int, row *numberedSitemap) (_ bool, err error) {
		if n := named[at]; n.sitemap != sitemap {
			if url, entries, err = d.survey.Sitemap(n.sitemap); err != nil {
				return false, err
			}
			sitemap = n.sitemap
		}
		*row = numberedSitemap{sitemapRow{url, entries[named[at].at], false}, int64(at) + 1}
		return true, nil
	}), nil
}

func nodeView(d *DB, r relation[export.Node], level export.Level) virtual {
	return ofSlice(d, r, d.hostCount, func(n *export.Node) int64 { return int64(n.ID) }, func() ([]export.Node, error) {
		f, err := d.fold(level)
		if err != nil {
			return nil, err
		}
		return f.nodes, nil
	})
}

// A numberedLink is a link between nodes with its row number.
type numberedLink struct {
	*export.Link
	number int64
}

func levelLinkView(d *DB, level export.Level) virtual {
	r := through(levelLinks(level.String(), d.columns), func(l *numberedLink) *export.Link { return l.Link })
	v := newView(d, r, func() int64 { return 10 * d.hostCount() }, func(l *numberedLink) int64 { return l.number },
		func(s span) (next[numberedLink], error) {
			f, err := d.fold(level)
			if err != nil {
				return nil, err
			}
			return eachPlace(s, len(f.links), f.link), nil
		})
	v.keys = []key[numberedLink]{
		{"from_id", 10, func(node any) (next[numberedLink], error) {
			f, err := d.fold(level)
			if err != nil {
				return nil, err
			}
			return f.linksFrom(node.(int64)), nil
		}},
		{"to_id", 11, func(node any) (next[numberedLink], error) {
			f, err := d.fold(level)
			if err != nil {
				return nil, err
			}
			places := f.toward(node.(int64))
			return eachPlace(all(), len(places), func(i int, row *numberedLink) (bool, error) {
				return f.link(int(places[i]), row)
			}), nil
		}},
	}
	return v
}

// link returns the link at a position.
func (f *folded) link(at int, row *numberedLink) (bool, error) {
	*row = numberedLink{&f.links[at], int64(at) + 1}
	return true, nil
}

func (f *folded) linksFrom(node int64) next[numberedLink] {
	from, to := equal(len(f.links), node, func(i int) uint32 { return f.links[i].From })
	return eachPlace(span{int64(from) + 1, int64(to), false}, len(f.links), f.link)
}

func metricView(d *DB, level export.Level) virtual {
	return ofSlice(d, metricRelation(level.String(), d.columns), d.hostCount,
		func(m *export.Measured) int64 { return int64(m.ID) }, func() ([]export.Measured, error) { return d.measure(level) })
}

func pageMetricView(d *DB) virtual {
	return ofSlice(d, metricRelation("page", d.columns), d.urls,
		func(m *export.Measured) int64 { return int64(m.ID) }, d.measurePages)
}
