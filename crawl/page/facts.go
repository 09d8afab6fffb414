package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/metrics"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// Bounds of the facts of one page.
const (
	maxFacts     = 100
	factLength   = 1_000   // runes
	maxTreeBytes = 1 << 20 // longer pages have no facts
	maxTreeAlloc = 96 << 20
)

// An Extract is one [[extract]] of the configuration: a fact of the user's own
// from every page that matches.
type Extract struct {
	Name     string
	Selector cascadia.Selector
	Attr     string                 // the attribute that is the fact; "": the text
	On       func(host string) bool // the hosts it is for; nil: all
}

// A Fact is what an [Extract] found.
type Fact struct{ Name, Value string }

// NewExtract compiles a CSS selector.
func NewExtract(name, selector, attr string) (Extract, error) {
	s, err := cascadia.Compile(selector)
	if err != nil {
		return Extract{}, fmt.Errorf("selector %q: %w", selector, err)
	}
	return Extract{Name: name, Selector: s, Attr: strings.ToLower(attr)}, nil
}

// facts finds what the extracts ask for, in their order, then the document's.
// A page that no tree can be built of in reasonable memory has none.
func facts(extracts []Extract, text []byte, host string) []Fact {
	var wanted []Extract
	for _, x := range extracts {
		if x.On == nil || x.On(host) {
			wanted = append(wanted, x)
		}
	}
	if len(wanted) == 0 || len(text) > maxTreeBytes {
		return nil
	}
	root, err := html.ParseWithOptions(newMeter(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	var found []Fact
	doc := goquery.NewDocumentFromNode(root)
	for _, x := range wanted {
		doc.FindMatcher(x.Selector).EachWithBreak(func(_ int, s *goquery.Selection) bool {
			if value := x.value(s); value != "" && len(found) < maxFacts {
				found = append(found, Fact{x.Name, value})
			}
			return len(found) < maxFacts
		})
	}
	return found
}

func (x *Extract) value(s *goquery.Selection) string {
	if x.Attr == "" {
		return clip(s.Text(), factLength)
	}
	return clip(s.AttrOr(x.Attr, ""), factLength)
}

var errTooCostly = errors.New("page takes too much memory to parse")

// A meter reads a text in small pieces for as long as its reader allocates no
// more than a page may cost. html.Parse opens unclosed <b> again in every
// paragraph: a few kilobytes can become gigabytes, and it takes no limit.
type meter struct {
	text   *bytes.Reader
	sample []metrics.Sample
	limit  uint64
}

func newMeter(text []byte) *meter {
	m := &meter{
		text:   bytes.NewReader(text),
		sample: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}},
	}
	m.limit = m.allocated() + maxTreeAlloc
	return m
}

func (m *meter) Read(p []byte) (int, error) {
	if m.allocated() > m.limit {
		return 0, errTooCostly
	}
	return io.LimitReader(m.text, 512).Read(p)
}

func (m *meter) allocated() uint64 {
	metrics.Read(m.sample)
	return m.sample[0].Value.Uint64()
}
