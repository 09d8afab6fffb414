package graph

import (
	"math"
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

const jsonlHead = `{"type":"graph","ripple":"graph"`

// jsonl writes one JSON object per line: the graph, then its nodes, then its links. A number that JSON
// cannot represent is a string formatted as in XML Schema.
func jsonl(o *output, g *export.Graph, _ Options) error {
	nodes, links := g.NodeColumns(), g.LinkColumns()
	ofNodes, ofLinks, label := spell(nodes, jsonBefore), spell(links, jsonBefore), jsonBefore(0, "label")
	o.say(`{"type":"graph"`)
	for i, f := range facts(g) {
		jsonValue(o, jsonBefore(i, f.name), export.Value{Text: f.text}, export.Text)
	}
	o.say("}\n")
	err := eachNode(g, func(n *export.Node) error {
		o.say(`{"type":"node","id":`)
		o.line = strconv.AppendUint(o.line, uint64(n.ID), 10)
		jsonValue(o, label, export.Value{Text: n.Name}, export.Text)
		for i := range ofNodes {
			jsonValue(o, ofNodes[i].before, ofNodes[i].Of(n), ofNodes[i].Kind)
		}
		o.say("}\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	err = eachLink(g, g.EachLink, func(l *export.Link) error {
		o.say(`{"type":"edge","source":`)
		o.line = strconv.AppendUint(o.line, uint64(l.From), 10)
		o.say(`,"target":`)
		o.line = strconv.AppendUint(o.line, uint64(l.To), 10)
		o.say(`,"weight":`)
		o.line = strconv.AppendInt(o.line, int64(l.Links), 10)
		for i := range ofLinks {
			jsonValue(o, ofLinks[i].before, ofLinks[i].Of(l), ofLinks[i].Kind)
		}
		o.say("}\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	return o.put()
}

func jsonBefore(_ int, name string) string { return `,"` + name + `":` }

func jsonValue(o *output, before string, v export.Value, k export.Kind) {
	if v.None {
		return
	}
	o.line = append(o.line, before...)
	switch {
	case k == export.Text:
		o.line = sanitize.AppendQuoted(o.line, v.Text)
	case k == export.Real && (math.IsNaN(v.Real) || math.IsInf(v.Real, 0)):
		o.line = append(appendReal(append(o.line, '"'), v.Real), '"')
	default:
		o.line = appendNumber(o.line, v, k)
	}
}
