package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	diffGexfHead = `<?xml version="1.0" encoding="UTF-8"?>
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
	diffGexfMark = "<creator>Ripple</creator><title>What changed</title>"
)

func isOurDiffGexf(head []byte) bool { return bytes.Contains(head, []byte(diffGexfMark)) }

// diffColour is that of a change: apart also for those who see few colours.
func diffColour(c survey.Change) string {
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

// writeDiffGexf writes the pages that came, went or changed, and the links that
// came or went with the pages at their ends, coloured by what changed.
func writeDiffGexf(w io.Writer, s *survey.Survey, d *survey.Diff) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, diffGexfHead, d.From.ID, d.From.Status, d.To.ID, d.To.Status)
	drawn := map[schema.ID]bool{}
	node := func(id schema.ID, url string, change survey.Change, before, after *schema.Visit) error {
		drawn[id] = true
		fmt.Fprintf(out, `<node id="%d" label="`, id)
		err := xml.EscapeText(out, []byte(url))
		fmt.Fprintf(out, `"><attvalues><attvalue for="0" value="%s"/><attvalue for="1" value="%s"/><attvalue for="2" value="%s"/></attvalues>%s</node>`+"\n",
			change, answerText(before), answerText(after), diffColour(change))
		return err
	}
	err := d.EachPage(func(c *survey.PageChange) error { return node(c.ID, c.URL, c.Change, c.Before, c.After) })
	if err != nil {
		return err
	}
	var ends []schema.ID
	err = d.EachLink(func(c *survey.LinkChange) error {
		for _, id := range []schema.ID{c.From, c.To} {
			if !drawn[id] {
				drawn[id] = true
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
		p, err := s.Page(id)
		if err == nil {
			err = node(id, p.URL, survey.Same, p.Visit, p.Visit)
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprint(out, "</nodes>\n<edges>\n")
	id := 0
	err = d.EachLink(func(c *survey.LinkChange) error {
		fmt.Fprintf(out, `<edge id="%d" source="%d" target="%d"><attvalues><attvalue for="0" value="%s"/><attvalue for="1" value="%s"/></attvalues>%s</edge>`+"\n",
			id, c.From, c.To, c.Change, c.Link.Kinds.First(), diffColour(c.Change))
		id++
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprint(out, "</edges>\n</graph>\n</gexf>\n")
	return out.Flush()
}
