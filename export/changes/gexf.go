package changes

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

const (
	gexfHead = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
<meta><creator>Ripple</creator><title>What changed</title><description>run #%d (%s) to run #%d (%s)</description></meta>
<graph defaultedgetype="directed" mode="static" idtype="integer">
<attributes class="node" mode="static">
<attribute id="0" title="change" type="string"/>
<attribute id="1" title="before" type="string"/>
<attribute id="2" title="after" type="string"/>
</attributes>
<attributes class="edge" mode="static">
<attribute id="0" title="change" type="string"/>
<attribute id="1" title="kind" type="string"/>
</attributes>
<nodes>
`
	gexfMark = "<creator>Ripple</creator><title>What changed</title>"
)

// IsOurs reports whether a file with this beginning was written by GEXF.
func IsOurs(head []byte) bool { return bytes.Contains(head, []byte(gexfMark)) }

// colour returns the colour of a change. The colours are distinguishable to people with colour
// blindness.
func colour(c survey.Change) string {
	switch c {
	case survey.Came:
		return `<viz:color r="0" g="158" b="115"/>`
	case survey.Went:
		return `<viz:color r="213" g="94" b="0"/>`
	case survey.Changed:
		return `<viz:color r="230" g="159" b="0"/>`
	}
	return `<viz:color r="150" g="150" b="150"/>`
}

// GEXF writes the pages that were added, removed or changed, and the links that were added or removed
// with the pages at their ends. Colours show the kind of change.
func GEXF(w io.Writer, s *survey.Survey, d *survey.Diff) error {
	g := &graph{out: bufio.NewWriter(w), drawn: map[schema.ID]bool{}}
	fmt.Fprintf(g.out, gexfHead, d.From.ID, d.From.Status, d.To.ID, d.To.Status)
	err := d.EachPage(func(c *survey.PageChange) error {
		g.node(c.ID, c.URL, c.Change, c.Before, c.After)
		return nil
	})
	if err == nil {
		err = g.ends(s, d)
	}
	if err != nil {
		return err
	}
	fmt.Fprint(g.out, "</nodes>\n<edges>\n")
	id := 0
	err = d.EachLink(func(c *survey.LinkChange) error {
		fmt.Fprintf(g.out, `<edge id="%d" source="%d" target="%d"><attvalues>`, id, c.From, c.To)
		fmt.Fprintf(g.out, `<attvalue for="0" value="%s"/><attvalue for="1" value="%s"/></attvalues>%s</edge>`+"\n",
			c.Change, c.Link.Kinds.First(), colour(c.Change))
		id++
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprint(g.out, "</edges>\n</graph>\n</gexf>\n")
	return g.out.Flush() // reports the first error of any write
}

// A graph is a graph being written.
type graph struct {
	out   *bufio.Writer
	drawn map[schema.ID]bool
}

func (g *graph) node(id schema.ID, url string, change survey.Change, before, after *schema.Visit) {
	g.drawn[id] = true
	fmt.Fprintf(g.out, `<node id="%d" label="%s"><attvalues>`, id, sanitize.AppendXML(nil, url))
	fmt.Fprintf(g.out, `<attvalue for="0" value="%s"/><attvalue for="1" value="%s"/><attvalue for="2" value="%s"/>`,
		change, answerText(before), answerText(after))
	fmt.Fprintf(g.out, "</attvalues>%s</node>\n", colour(change))
}

// ends writes the pages at the ends of links that have not been written yet.
func (g *graph) ends(s *survey.Survey, d *survey.Diff) error {
	var ends []schema.ID
	err := d.EachLink(func(c *survey.LinkChange) error {
		for _, id := range []schema.ID{c.From, c.To} {
			if !g.drawn[id] {
				g.drawn[id] = true
				ends = append(ends, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(ends)
	for _, id := range ends {
		url, err := s.Norm(id)
		if err != nil {
			return err
		}
		before, after, err := d.Visits(id)
		if err != nil {
			return err
		}
		g.node(id, url, survey.Same, before, after)
	}
	return nil
}
