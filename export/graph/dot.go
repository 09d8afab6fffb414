package graph

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

const dotHead = "// Ripple\ndigraph terrain {\n"

// dotStyle makes the graph readable without options: force-directed on a white background, no
// overlapping labels, links behind them.
const dotStyle = `layout=sfdp, overlap=prism, outputorder=edgesfirst, bgcolor=white];
node [shape=box, style="rounded,filled", margin="0.06,0.03", height=0.1, width=0.1];
node [fontname="Helvetica", fontcolor="#1c2128"];
edge [color="#6f768066", arrowsize=0.5];
`

// dot writes the DOT language (https://graphviz.org/doc/info/lang.html). The positions of the nodes are
// those of the map, for neato -n with -Glayout=neato.
func dot(o *output, g *export.Graph, _ Options) error {
	nodes, links := g.NodeColumns(), g.LinkColumns()
	o.say(dotHead, "graph [")
	for _, f := range facts(g) {
		o.say(f.name, "=")
		o.line = sanitize.AppendQuoted(o.line, f.text)
		o.say(", ")
	}
	o.say(dotStyle)
	err := eachNode(g, func(n *export.Node) error {
		dotNode(o, n, nodes)
		return o.put()
	})
	if err != nil {
		return err
	}
	err = eachLink(g, g.EachLink, func(l *export.Link) error {
		dotLink(o, l, links)
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

func dotNode(o *output, n *export.Node, columns []export.Column[export.Node]) {
	o.line = strconv.AppendUint(o.line, uint64(n.ID), 10)
	o.say(" [label=")
	o.line = sanitize.AppendQuoted(o.line, n.Name)
	for i := range columns {
		dotValue(o, columns[i].Name, columns[i].Of(n), columns[i].Kind)
	}
	c := n.Colour()
	degree := float64(n.InDegree) + float64(n.OutDegree)
	o.say(fmt.Sprintf(`, fontsize=%.1f, color="%s", fillcolor="%s"`, 8+2*math.Log2(1+degree), c, c.Tint(0.2)))
	if n.Placed {
		o.say(fmt.Sprintf(`, pos="%.1f,%.1f"`, n.X*dotScale, -n.Y*dotScale))
	}
	o.say("];\n")
}

func dotLink(o *output, l *export.Link, columns []export.Column[export.Link]) {
	o.line = strconv.AppendUint(o.line, uint64(l.From), 10)
	o.say(" -> ")
	o.line = strconv.AppendUint(o.line, uint64(l.To), 10)
	o.say(" [weight=")
	o.line = strconv.AppendInt(o.line, int64(l.Links), 10)
	for i := range columns {
		dotValue(o, columns[i].Name, columns[i].Of(l), columns[i].Kind)
	}
	o.say("];\n")
}

func dotValue(o *output, name string, v export.Value, k export.Kind) {
	if v.None {
		return
	}
	o.say(", ", name, "=")
	if k == export.Text {
		o.line = sanitize.AppendQuoted(o.line, v.Text)
		return
	}
	o.line = append(o.line, '"')
	o.line = append(appendNumber(o.line, v, k), '"')
}
