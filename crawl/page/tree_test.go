package page

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestCost checks the upper bound against the tree that html.Parse builds from any tags.
func TestCost(t *testing.T) {
	names := strings.Fields("a b i font u em nobr code p div table tbody tr td th caption select option svg math mi " +
		"desc title template object marquee applet frameset html body h1 li dd form button span foreignObject " +
		"annotation-xml sub img section path g")
	many := ""
	for i := range 50 {
		many += fmt.Sprintf(" a%d", i)
	}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 400).Draw(t, "tags") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0, 1:
				fmt.Fprintf(&text, "</%s>", name)
			case 2:
				fmt.Fprintf(&text, "<%s%s class='x'title=\"y\"/a=>x", name, many)
			case 3:
				text.WriteString(strings.Repeat(fmt.Sprintf("<%s>", name), 3))
			case 4:
				fmt.Fprintf(&text, "<%s/>", name)
			default:
				fmt.Fprintf(&text, "<%s>", name)
			}
		}
		root, err := html.ParseWithOptions(strings.NewReader(text.String()), html.ParseOptionEnableScripting(false))
		if err != nil {
			return // it is nested too deeply
		}
		made := 0
		for n := range root.Descendants() {
			made += nodeCost + len(n.Attr)
		}
		const frame = 4 * nodeCost // html, head and body
		if cost := costOf([]byte(text.String())); made > cost+frame {
			t.Fatalf("it costs %d, at most %d were expected: %s", made, cost, text.String())
		}
	})
}

// TestTreesOfPages builds trees of large pages of ordinary structure.
func TestTreesOfPages(t *testing.T) {
	const link = `<a href="https://example.com/one/two?three=4" class="card card-large" title="A title">`
	for name, src := range map[string]string{
		"icon links":     strings.Repeat(link+`<svg viewBox="0 0 1 1"><path d="M0 0"/></svg> x</a>`, 5_000),
		"cards":          strings.Repeat(link+"<div><h2>x</h2><p>y <b>z</b></p></div></a>", 5_000),
		"bold words":     strings.Repeat("<b>x</b> <i>y</i> ", 50_000),
		"open fonts":     "<table>" + strings.Repeat("<tr><td><font size=1><b>x<p>y<td><a name=x>z", 20_000) + "</table>",
		"tables":         strings.Repeat("<b>x<table><tr><td><i>x</i></td></tr></table></b>", 15_000),
		"lists":          strings.Repeat("<li><a href=/x><b>one</b></a> and two", 25_000),
		"open paragraph": strings.Repeat("<p>some <em>words</em> and <code>more</code>", 20_000),
	} {
		if treeOf([]byte(src)) == nil {
			t.Errorf("%s: %d bytes cost %d", name, len(src), costOf([]byte(src)))
		}
	}
}

// TestFactsBesideOthers reads large pages concurrently: the result depends on nothing else.
func TestFactsBesideOthers(t *testing.T) {
	src := "<meta name=author content=me>" + strings.Repeat("<li><a href=/x><b>one</b></a> and two", 25_000)
	opt := Options{Extracts: []Extract{mustExtract(t, "author", "meta[name=author]", "content")}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if p := extract(t, src, opt); len(p.Facts) != 1 {
				t.Error("a page has lost its fact")
			}
		})
	}
	all.Wait()
}
