package page

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestGauge holds the bound of a tree's elements to the tree that html.Parse makes of any tags.
func TestGauge(t *testing.T) {
	names := strings.Fields("a b i font u em nobr code p div table tr td th caption select option svg math mi desc title " +
		"template object marquee applet frameset html body h1 li dd form button span foreignObject annotation-xml")
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for i := range rapid.IntRange(1, 400).Draw(t, "tags") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0, 1:
				fmt.Fprintf(&text, "</%s>", name)
			case 2:
				fmt.Fprintf(&text, "<%s id=%d>x", name, i)
			case 3:
				text.WriteString(strings.Repeat(fmt.Sprintf("<%s>", name), 3))
			default:
				fmt.Fprintf(&text, "<%s>", name)
			}
		}
		root, err := html.ParseWithOptions(strings.NewReader(text.String()), html.ParseOptionEnableScripting(false))
		if err != nil {
			return // it nests too deep
		}
		made := 0
		for range root.Descendants() {
			made++
		}
		if g := gaugeOf([]byte(text.String())); made > g.nodes+10 {
			t.Fatalf("%d nodes, at most %d were expected: %s", made, g.nodes, text.String())
		}
	})
}

// TestFactsBesideOthers reads large pages side by side: what a page says depends on nothing else.
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
