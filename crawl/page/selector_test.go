package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/schema/process"
)

// TestSelectors compares the results of selectors with those of cascadia, node by node.
func TestSelectors(t *testing.T) {
	compounds := []string{"*", "div", "p", "h2", "span", ".x", "p.y", `[class="x > y, p"]`, `[class!='x  y']`,
		`h\32 `, `.m\:x`, ":not(div p, .x ~ h2)", "div:has(p + p)", `:contains("one, > two")`, ":nth-child(2n + 1)",
		":root", "[id] "}
	combinators := []string{" ", "\n", ">", " > ", "> ", "+", " + ", "~", " ~", "/* a > b, c */ ", " /**/ > /* + */ "}
	pieces := []string{"<div$>", "<p$>", "<h2$>", "<span class=x$>", "<div class=y$>", "<p class='y x'$>",
		"<p class='x > y, p'$>", "<p class=m:x$>", "</div>", "</div>", "</p>", "</h2>", "</span>",
		"one, > two", "<!-- x -->", " "}
	rapid.Check(t, func(t *rapid.T) {
		var css, text strings.Builder
		for i := range rapid.IntRange(1, 6).Draw(t, "compounds") {
			if i > 0 {
				css.WriteString(rapid.SampledFrom(append(combinators, ", ", ",")).Draw(t, "combinator"))
			}
			css.WriteString(rapid.SampledFrom(compounds).Draw(t, "compound"))
		}
		for i := range rapid.IntRange(1, 80).Draw(t, "pieces") {
			piece := rapid.SampledFrom(pieces).Draw(t, "piece")
			text.WriteString(strings.Replace(piece, "$", fmt.Sprint(" id=", i), 1))
		}
		x, err := NewExtract("x", css.String(), "id")
		if err != nil {
			t.Fatal(err)
		}
		root := treeOf([]byte(text.String()))
		var want, got []string
		for _, n := range cascadia.QueryAll(root, cascadia.MustCompile(css.String())) {
			if i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "id" }); i >= 0 {
				want = append(want, n.Attr[i].Val)
			}
		}
		for _, f := range facts([]Extract{x}, []byte(text.String()), "") {
			got = append(got, f.Value)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q finds %v, want %v: %s", css.String(), got, want, text.String())
		}
	})
}

// Selectors that do not look around find something on any page, others on pages of usual size.
func TestSelectorsOfLongPages(t *testing.T) {
	rows := func(n int) string { return "<h1>x</h1><table>" + strings.Repeat("<tr><td>x", n) }
	for _, tt := range []struct {
		selector string
		rows     int
		found    bool
	}{
		{"h1:not(.x)", 30_000, true}, {`tr:first-child, [class="("]`, 30_000, true}, {"tr:nth-child(odd)", 15_000, true},
		{"tr:nth-child(odd)", 30_000, false}, {"h1:NOT(tr ~ h1)", 30_000, false},
		{"h1:first-of-type", 30_000, false}, {`\68 1`, 30_000, false},
	} {
		found := facts([]Extract{mustExtract(t, "x", tt.selector, "")}, []byte(rows(tt.rows)), "")
		if len(found) > 0 != tt.found {
			t.Errorf("%q in %d rows: %d facts", tt.selector, tt.rows, len(found))
		}
	}
}

// Pages that are deeply nested, or have many siblings, take no longer than others.
func TestSelectorsOfHostilePages(t *testing.T) {
	const limit = 2 * time.Second
	long := strings.Repeat("<p></p>", 100_000)
	comments := "<div>" + strings.Repeat("x<!---->", 50_000) + long[:len(long)/2] + "<br>" +
		strings.Repeat("x<!---->", 5_000)
	deep := strings.Repeat("<div>", 480) + long[:len(long)/20]
	for selector, src := range map[string]string{
		"main div div div p": deep, "main > div div p, main * p": deep, "h2 ~ p": long, "h2 ~ p ~ p + p": long,
		"p:first-child + h2": comments, "h2 + p:last-child": comments,
		"p:nth-child(odd)": long, "div:has(main p)": deep, `div:not(main div div p):contains("x")`: deep,
	} {
		if treeOf([]byte(src)) == nil {
			t.Fatal("it has no tree")
		}
		x := mustExtract(t, "x", selector, "")
		took, _ := cost(limit, func() {
			if found := facts([]Extract{x}, []byte(src), ""); len(found) != 0 {
				t.Errorf("%q: %v", selector, found)
			}
		})
		if took > limit && !process.Race {
			t.Errorf("%q took %v", selector, took)
		}
	}
}
