package graph

import (
	"math"
	"strconv"

	"github.com/sumi-ripple/ripple/export"
)

const jsonlHead = `{"type":"graph","ripple":"graph"`

// jsonl writes one JSON object a line: the graph, then its nodes, then its links.
// A number that JSON cannot write is a string as XML Schema spells it.
func jsonl(o *output, g *export.Graph) error {
	nodes, links := nodeColumns(g.Level()), linkColumns(g.Level())
	o.say(`{"type":"graph"`)
	for _, f := range facts(g, "") {
		jsonValue(o, f.name, value{text: f.text}, text)
	}
	o.say("}\n")
	err := g.EachNode(func(n *export.Node) error {
		o.say(`{"type":"node","id":`)
		o.line = strconv.AppendUint(o.line, uint64(n.ID), 10)
		jsonValue(o, "label", value{text: n.Name}, text)
		for i := range nodes {
			jsonValue(o, nodes[i].name, nodes[i].of(n), nodes[i].kind)
		}
		o.say("}\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	err = g.EachLink(func(l *export.Link) error {
		o.say(`{"type":"edge","source":`)
		o.line = strconv.AppendUint(o.line, uint64(l.From), 10)
		o.say(`,"target":`)
		o.line = strconv.AppendUint(o.line, uint64(l.To), 10)
		o.say(`,"weight":`)
		o.line = strconv.AppendInt(o.line, int64(l.Links), 10)
		for i := range links {
			jsonValue(o, links[i].name, links[i].of(l), links[i].kind)
		}
		o.say("}\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	return o.put()
}

func jsonValue(o *output, name string, v value, k kind) {
	if v.none {
		return
	}
	o.say(`,"`, name, `":`)
	switch {
	case k == text:
		o.line = appendQuoted(o.line, v.text)
	case k == real && (math.IsNaN(v.real) || math.IsInf(v.real, 0)):
		o.line = append(appendReal(append(o.line, '"'), v.real), '"')
	default:
		o.line = v.appendNumber(o.line, k)
	}
}
