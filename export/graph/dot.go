package graph

import (
	"fmt"
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/inert"
)

const dotHead = "// Ripple\ndigraph terrain {\n"

// dot writes the DOT language (https://graphviz.org/doc/info/lang.html). Nodes have
// their places, for neato -n2.
func dot(o *output, g *export.Graph) error {
	nodes, links := g.NodeColumns(), g.LinkColumns()
	o.say(dotHead, "graph [")
	for i, f := range facts(g, "") {
		if i > 0 {
			o.say(", ")
		}
		o.say(f.name, "=")
		o.line = inert.AppendQuoted(o.line, f.text)
	}
	o.say("];\nnode [shape=circle, style=filled, fixedsize=shape];\n")
	err := g.EachNode(func(n *export.Node) error {
		o.line = strconv.AppendUint(o.line, uint64(n.ID), 10)
		o.say(" [label=")
		o.line = inert.AppendQuoted(o.line, n.Name)
		for i := range nodes {
			dotValue(o, nodes[i].Name, nodes[i].Of(n), nodes[i].Kind)
		}
		if n.Placed {
			c := colour(n.Class)
			o.say(fmt.Sprintf(`, pos="%.1f,%.1f!", width=%.3f, fillcolor="#%02x%02x%02x"`, n.X*dotScale, -n.Y*dotScale,
				n.Radius*dotScale/36, c[0], c[1], c[2]))
		}
		o.say("];\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	err = g.EachLink(func(l *export.Link) error {
		o.line = strconv.AppendUint(o.line, uint64(l.From), 10)
		o.say(" -> ")
		o.line = strconv.AppendUint(o.line, uint64(l.To), 10)
		o.say(" [weight=")
		o.line = strconv.AppendInt(o.line, int64(l.Links), 10)
		for i := range links {
			dotValue(o, links[i].Name, links[i].Of(l), links[i].Kind)
		}
		o.say("];\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	o.say("}\n")
	return o.put()
}

// dotScale is the radius of a small node in points.
const dotScale = 8

func dotValue(o *output, name string, v export.Value, k export.Kind) {
	if v.None {
		return
	}
	o.say(", ", name, "=")
	if k == export.Text {
		o.line = inert.AppendQuoted(o.line, v.Text)
		return
	}
	o.line = append(o.line, '"')
	o.line = append(appendNumber(o.line, v, k), '"')
}
