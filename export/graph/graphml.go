package graph

import (
	"strconv"

	"github.com/sumi-ripple/ripple/export"
)

const graphmlHead = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<!-- Ripple -->
`

// graphml writes GraphML (http://graphml.graphdrawing.org). Keys begin with the
// letter of what they belong to: g, n or e.
func graphml(o *output, g *export.Graph) error {
	nodes, links, said := nodeColumns(g.Level()), linkColumns(g.Level()), facts(g, "")
	o.say(graphmlHead)
	for i, f := range said {
		graphmlKey(o, "graph", i, f.name, text)
	}
	graphmlKey(o, "node", 0, "label", text)
	for i, c := range nodes {
		graphmlKey(o, "node", i+1, c.name, c.kind)
	}
	graphmlKey(o, "edge", 0, "weight", integer)
	for i, c := range links {
		graphmlKey(o, "edge", i+1, c.name, c.kind)
	}
	o.say("<graph id=\"terrain\" edgedefault=\"directed\">\n")
	for i, f := range said {
		graphmlData(o, 'g', i, value{text: f.text}, text)
	}
	o.say("\n")
	err := g.EachNode(func(n *export.Node) error {
		o.say("<node id=\"")
		o.line = strconv.AppendUint(o.line, uint64(n.ID), 10)
		o.say("\">")
		graphmlData(o, 'n', 0, value{text: n.Name}, text)
		for i := range nodes {
			graphmlData(o, 'n', i+1, nodes[i].of(n), nodes[i].kind)
		}
		o.say("</node>\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	err = g.EachLink(func(l *export.Link) error {
		o.say("<edge source=\"")
		o.line = strconv.AppendUint(o.line, uint64(l.From), 10)
		o.say("\" target=\"")
		o.line = strconv.AppendUint(o.line, uint64(l.To), 10)
		o.say("\">")
		graphmlData(o, 'e', 0, number(int64(l.Links)), integer)
		for i := range links {
			graphmlData(o, 'e', i+1, links[i].of(l), links[i].kind)
		}
		o.say("</edge>\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	o.say("</graph>\n</graphml>\n")
	return o.put()
}

func graphmlKey(o *output, of string, i int, name string, k kind) {
	o.say("<key id=\"", of[:1], strconv.Itoa(i), "\" for=\"", of, "\" attr.name=\"", name, "\" attr.type=\"",
		[...]string{"string", "long", "double"}[k], "\"/>\n")
}

func graphmlData(o *output, letter byte, i int, v value, k kind) {
	if v.none {
		return
	}
	o.say("<data key=\"")
	o.line = append(o.line, letter)
	o.line = strconv.AppendInt(o.line, int64(i), 10)
	o.say("\">")
	if k == text {
		o.line = appendXML(o.line, v.text)
	} else {
		o.line = v.appendNumber(o.line, k)
	}
	o.say("</data>")
}
