package page

import (
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/schema"
)

// Limits of the facts of one page.
const (
	maxFacts   = 100
	factLength = 1_000 // runes
)

// An Extract is one [[extract]] of the configuration: a user-defined fact from every matching page.
type Extract struct {
	Name     string
	selector selector
	Attr     string                 // the attribute to extract; "": the text
	On       func(host string) bool // the hosts it applies to; nil: all
}

// NewExtract compiles a CSS selector.
func NewExtract(name, css, attr string) (Extract, error) {
	s, err := parseSelector(css)
	if err != nil {
		return Extract{}, fmt.Errorf("selector %q: %w", css, err)
	}
	return Extract{Name: name, selector: s, Attr: strings.ToLower(attr)}, nil
}

// facts evaluates the extracts in their order, each in document order. A page without a tree, see [treeOf],
// has none.
func facts(extracts []Extract, text []byte, host string) []schema.Fact {
	var wanted []Extract
	for _, x := range extracts {
		if x.On == nil || x.On(host) {
			wanted = append(wanted, x)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	root := treeOf(text)
	if root == nil {
		return nil
	}
	dropComments(root)
	var found []schema.Fact
	for _, x := range wanted {
		matches := x.selector.find(root)
		for n := range root.Descendants() {
			if len(found) == maxFacts {
				return found
			}
			if !matches[n] {
				continue
			}
			if value := x.value(n); value != "" {
				found = append(found, schema.Fact{Name: x.Name, Value: value})
			}
		}
	}
	return found
}

func (x *Extract) value(n *html.Node) string {
	s := goquery.NewDocumentFromNode(n)
	if x.Attr == "" {
		return clip(s.Text(), factLength)
	}
	return clip(s.AttrOr(x.Attr, ""), factLength)
}
