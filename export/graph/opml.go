package graph

import (
	"cmp"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

const opmlHead = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Ripple -->
<opml version="2.0">
`

// opml writes OPML 2.0 (https://opml.org/spec2.opml), a list to subscribe to: for each node its title, its front
// page and, where the map knows one, the feed that this page names. Of several feeds it is the one with the
// shortest address, and of equally long ones the first in byte order.
func opml(o *output, g *export.Graph, _ Options) error {
	o.say(opmlHead, "<head><title>")
	o.line = sanitize.AppendXML(o.line, sentence(g, ""))
	o.say("</title></head>\n<body>\n")
	err := g.EachLeading(func(n *export.Node) error {
		at, err := frontOf(g.Survey(), n)
		if err != nil {
			return err
		}
		o.say("<outline")
		opmlAttribute(o, "text", cmp.Or(n.Title, n.Name))
		if at.feed != "" {
			opmlAttribute(o, "type", "rss")
			opmlAttribute(o, "xmlUrl", at.feed)
		}
		opmlAttribute(o, "htmlUrl", at.page)
		o.say("/>\n")
		return o.put()
	})
	if err != nil {
		return err
	}
	o.say("</body>\n</opml>\n")
	return o.put()
}

func opmlAttribute(o *output, name, value string) {
	o.say(" ", name, `="`)
	o.line = sanitize.AppendXML(o.line, value)
	o.say(`"`)
}

// A front is what a list says about a node: the address of its front page, and of a feed; empty: none is known.
type front struct{ page, feed string }

// frontOf reads the front page of a node; of a page, that is itself. If it redirects within its host, the feed is
// that of the page where this ends.
func frontOf(s *survey.Survey, n *export.Node) (front, error) {
	address := n.Name
	if n.Page == nil {
		address = "https://" + n.Name
		if !strings.Contains(n.Name, "/") {
			address += "/"
		}
	}
	id, known, err := s.Lookup(address)
	if err == nil && known {
		known, err = s.Maps(id)
	}
	if err != nil || !known {
		return front{page: address}, err
	}
	p, err := s.Page(id)
	if err != nil {
		return front{}, err
	}
	found := front{page: cmp.Or(p.FetchURL, address)}
	for range schema.MaxRedirects {
		if p.RedirectTo == 0 || s.Hosts.Of(p.RedirectTo) != p.Host {
			break
		}
		if p, err = s.Page(p.RedirectTo); err != nil {
			return front{}, err
		}
	}
	links, err := s.Links.Out(p.ID)
	if err != nil {
		return front{}, err
	}
	best := ""
	for _, l := range links {
		if !l.Kinds.Has(schema.LinkFeed) {
			continue
		}
		feed, err := s.Norm(l.To)
		if err != nil {
			return front{}, err
		}
		if best != "" && cmp.Or(cmp.Compare(len(best), len(feed)), cmp.Compare(best, feed)) < 0 {
			continue
		}
		forms, err := s.Forms(l.To)
		if err != nil {
			return front{}, err
		}
		best, found.feed = feed, forms[0]
	}
	return found, nil
}
