package graph

import (
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

const graphmlHead = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<!-- Ripple -->
`

// graphml writes GraphML (http://graphml.graphdrawing.org). Keys begin with the letter of the element
// they belong to: g, n or e.
func graphml(o *output, g *export.Graph, _ Options) error {
	nodes, links, said := g.NodeColumns(), g.LinkColumns(), facts(g)
	o.say(graphmlHead)
	for i, f := range said {
		graphmlKey(o, "graph", i, f.name, export.Text)
	}
	graphmlKey(o, "node", 0, "label", export.Text)
	for i, c := range nodes {
		graphmlKey(o, "node", i+1, c.Name, c.Kind)
	}
	graphmlKey(o, "edge", 0, "weight", export.Integer)
	for i, c := range links {
		graphmlKey(o, "edge", i+1, c.Name, c.Kind)
	}
	o.say("<graph id=\"terrain\" edgedefault=\"directed\">\n")
	for i, f := range said {
		graphmlData(o, graphmlBefore('g', i), export.Value{Text: f.text}, export.Text)
	}
	o.say("\n")
	ofNodes := spell(nodes, func(i int, _ string) string { return graphmlBefore('n', i+1) })
	ofLinks := spell(links, func(i int, _ string) string { return graphmlBefore('e', i+1) })
	label, weight := graphmlBefore('n', 0), graphmlBefore('e', 0)
	err := eachNode(g, func(n *export.Node) error {
		o.say("<node id=\"")
		o.line = strconv.AppendUint(o.line, uint64(n.ID), 10)
		o.say("\">")
		graphmlData(o, label, export.Value{Text: n.Name}, export.Text)
		for i := range ofNodes {
			graphmlData(o, ofNodes[i].before, ofNodes[i].Of(n), ofNodes[i].Kind)
		}
		o.say("</node>\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	err = eachLink(g, g.EachLink, func(l *export.Link) error {
		o.say("<edge source=\"")
		o.line = strconv.AppendUint(o.line, uint64(l.From), 10)
		o.say("\" target=\"")
		o.line = strconv.AppendUint(o.line, uint64(l.To), 10)
		o.say("\">")
		graphmlData(o, weight, export.Value{Count: int64(l.Links)}, export.Integer)
		for i := range ofLinks {
			graphmlData(o, ofLinks[i].before, ofLinks[i].Of(l), ofLinks[i].Kind)
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

func graphmlKey(o *output, of string, i int, name string, k export.Kind) {
	o.say("<key id=\"", of[:1], strconv.Itoa(i), "\" for=\"", of, "\" attr.name=\"", name, "\" attr.type=\"", kindName(k),
		"\"/>\n")
}

func graphmlBefore(letter byte, i int) string {
	return "<data key=\"" + string(letter) + strconv.Itoa(i) + "\">"
}

func graphmlData(o *output, before string, v export.Value, k export.Kind) {
	if v.None {
		return
	}
	o.line = append(o.line, before...)
	if k == export.Text {
		o.line = sanitize.AppendXML(o.line, v.Text)
	} else {
		o.line = appendNumber(o.line, v, k)
	}
	o.say("</data>")
}
