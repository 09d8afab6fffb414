package sqlite

import (
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/sanitize"
	"github.com/sumi-ripple/ripple/schema/webgraph"
)

// An inlinkRow is a link from a host outside the terrain to an origin.
type inlinkRow struct {
	number          int64
	origin, release string
	schema.Inlink
}

func inlinkRelation() relation[inlinkRow] {
	return relation[inlinkRow]{"inlinks", []column[inlinkRow]{
		{"origin", text, func(l *inlinkRow) any { return l.origin }},
		{"host", text, func(l *inlinkRow) any { return sanitize.SQL(l.Host) }},
		{"site", text, func(l *inlinkRow) any { return sanitize.SQL(webgraph.Site(&l.Inlink)) }},
		{"release", text, func(l *inlinkRow) any { return sanitize.SQL(l.release) }},
		{"harmonic_rank", integer, func(l *inlinkRow) any { return number(l.HarmonicRank) }},
		{"pagerank_rank", integer, func(l *inlinkRow) any { return number(l.PageRank) }},
	}}
}

// addInlinks writes the links from outside.
func (e *exporter) addInlinks() error {
	g, ok, err := e.survey.Graph()
	if !ok {
		return err
	}
	return e.survey.EachInlink(func(l *schema.Inlink) error {
		for _, n := range l.Origins {
			if err := e.inlinks.put(&inlinkRow{0, g.Origins[n], g.Release, *l}); err != nil {
				return err
			}
		}
		return nil
	})
}

// inlinkView reads the links from outside in batches. What is read backwards is held in memory.
func inlinkView(d *DB) virtual {
	scan := func(s span) (next[inlinkRow], error) {
		g, ok, err := d.survey.Graph()
		if !ok {
			return none[inlinkRow], err
		}
		forward := d.eachInlink(&g, s)
		if !s.desc {
			return forward, nil
		}
		var rows []inlinkRow
		for {
			var row inlinkRow
			switch more, err := forward(&row); {
			case err != nil:
				return nil, err
			case more:
				rows = append(rows, row)
				continue
			}
			slices.Reverse(rows)
			return eachPlace(all(), len(rows), func(at int, row *inlinkRow) (bool, error) {
				*row = rows[at]
				return true, nil
			}), nil
		}
	}
	count := func() int64 {
		g, _, _ := d.survey.Graph() // an error is that of the scan, too
		return int64(g.Sources)
	}
	return newView(d, inlinkRelation(), count, func(l *inlinkRow) int64 { return l.number }, scan)
}

// eachInlink returns an iterator over the rows of a span, in ascending order.
func (d *DB) eachInlink(g *schema.Graph, s span) next[inlinkRow] {
	var batch []schema.Inlink
	after, number, origin := "", int64(0), 0
	return func(row *inlinkRow) (_ bool, err error) {
		for {
			if len(batch) == 0 {
				if batch, err = d.survey.Inlinks(after, 1<<10); err != nil || len(batch) == 0 {
					return false, err
				}
				after = batch[len(batch)-1].Host
			}
			if origin == len(batch[0].Origins) {
				batch, origin = batch[1:], 0
				continue
			}
			number++
			*row = inlinkRow{number, g.Origins[batch[0].Origins[origin]], g.Release, batch[0]}
			origin++
			if number >= s.lo {
				return number <= s.hi, nil
			}
		}
	}
}
