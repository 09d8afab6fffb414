package graph

import (
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// The beginnings of files in the versions of GEXF (https://gexf.net/schema.html). The rest is the same
// in both, except that 1.2 has no title.
const (
	gexfHead = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
<meta lastmodifieddate="`
	gexf12Head = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
<meta lastmodifieddate="`
)

// gexf writes GEXF. Above page level it is a picture: nodes have a position, a colour and a size, and
// if there are many links only the heaviest are included.
func gexf(o *output, g *export.Graph, opts Options) error {
	each, pruned, err := shown(g)
	if err != nil {
		return err
	}
	head, title := gexfHead, "<title>The terrain at "+g.Level().String()+" level</title>"
	if opts.GEXF12 {
		head, title = gexf12Head, ""
	}
	o.say(head, g.Meta().Date(), "\"><creator>Ripple</creator>", title, "<description>")
	o.line = sanitize.AppendXML(o.line, sentence(g, pruned))
	o.say("</description></meta>\n<graph defaultedgetype=\"directed\" mode=\"static\" idtype=\"integer\">\n")
	nodes, links := g.NodeColumns(), g.LinkColumns()
	gexfAttributes(o, "node", nodes)
	gexfAttributes(o, "edge", links)
	ofNodes, ofLinks := spell(nodes, gexfBefore), spell(links, gexfBefore)
	outside, err := g.OutsideCount()
	if err != nil {
		return err
	}
	o.say("<nodes count=\"", strconv.Itoa(g.Len()+outside), "\">\n")
	number := gexfNumbers(g)
	err = eachNode(g, func(n *export.Node) error {
		gexfNode(o, number(n.ID), n, ofNodes)
		return o.put()
	})
	if err != nil {
		return err
	}
	o.say("</nodes>\n<edges>\n")
	id := int64(0)
	err = eachLink(g, each, func(l *export.Link) error {
		gexfLink(o, id, [2]uint32{number(l.From), number(l.To)}, l, ofLinks)
		id++
		return o.put()
	})
	if err != nil {
		return err
	}
	o.say("</edges>\n</graph>\n</gexf>\n")
	return o.put()
}

// shown returns an iterator over the links in the picture of a graph, or over all links if there is
// no picture. pruned describes the omitted links.
func shown(g *export.Graph) (each func(func(*export.Link) error) error, pruned string, err error) {
	if g.Level() == export.LevelPage {
		return g.EachLink, "", nil
	}
	p, err := g.Picture()
	if err != nil {
		return nil, "", err
	}
	return func(f func(*export.Link) error) error {
		for i := range p.Links {
			if err := f(&p.Links[i]); err != nil {
				return err
			}
		}
		return nil
	}, p.Pruned(), nil
}

func gexfAttributes[T any](o *output, class string, columns []export.Column[T]) {
	o.say("<attributes class=\"", class, "\" mode=\"static\">\n")
	for i, c := range columns {
		o.say("<attribute id=\"", strconv.Itoa(i), "\" title=\"", c.Name, "\" type=\"", kindName(c.Kind), "\"/>\n")
	}
	o.say("</attributes>\n")
}

// gexfNumbers returns a function for the number of a node in the file. Above page level it is the rank
// by name, so that a terrain gives the same file in whatever order it was crawled; at page level, and of a host
// outside, it is the id.
func gexfNumbers(g *export.Graph) func(id uint32) uint32 {
	return func(id uint32) uint32 {
		if g.Level() == export.LevelPage {
			return id
		}
		place, ok := g.Rank(id)
		if !ok {
			return id
		}
		return uint32(place + 1)
	}
}

func gexfNode(o *output, number uint32, n *export.Node, columns []spelled[export.Node]) {
	o.say("<node id=\"")
	o.line = strconv.AppendUint(o.line, uint64(number), 10)
	o.say("\" label=\"")
	o.line = sanitize.AppendXML(o.line, n.Name)
	o.say("\">")
	gexfValues(o, n, columns)
	if n.Placed {
		c := n.Colour()
		o.say("<viz:color r=\"", strconv.Itoa(c[0]), "\" g=\"", strconv.Itoa(c[1]), "\" b=\"", strconv.Itoa(c[2]),
			"\"/><viz:position x=\"")
		o.line = appendReal(o.line, float64(n.X))
		o.say("\" y=\"")
		o.line = appendReal(o.line, -float64(n.Y)) // upwards
		o.say("\" z=\"0\"/><viz:size value=\"")
		o.line = appendReal(o.line, n.Radius)
		o.say("\"/>")
	}
	o.say("</node>\n")
}

func gexfLink(o *output, id int64, ends [2]uint32, l *export.Link, columns []spelled[export.Link]) {
	o.say("<edge id=\"")
	o.line = strconv.AppendInt(o.line, id, 10)
	o.say("\" source=\"")
	o.line = strconv.AppendUint(o.line, uint64(ends[0]), 10)
	o.say("\" target=\"")
	o.line = strconv.AppendUint(o.line, uint64(ends[1]), 10)
	o.say("\" weight=\"")
	o.line = strconv.AppendInt(o.line, int64(l.Links), 10)
	o.say("\">")
	gexfValues(o, l, columns)
	o.say("</edge>\n")
}

func gexfBefore(i int, _ string) string { return "<attvalue for=\"" + strconv.Itoa(i) + "\" value=\"" }

func gexfValues[T any](o *output, of *T, columns []spelled[T]) {
	o.say("<attvalues>")
	for i := range columns {
		v := columns[i].Of(of)
		if v.None {
			continue
		}
		o.line = append(o.line, columns[i].before...)
		if columns[i].Kind == export.Text {
			o.line = sanitize.AppendXML(o.line, v.Text)
		} else {
			o.line = appendNumber(o.line, v, columns[i].Kind)
		}
		o.line = append(o.line, "\"/>"...)
	}
	o.say("</attvalues>")
}
