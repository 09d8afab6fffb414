package page

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema"
)

func mustExtract(t *testing.T, name, selector, attr string) Extract {
	t.Helper()
	x, err := NewExtract(name, selector, attr)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFacts(t *testing.T) {
	const src = `<meta name=author content=" A &amp; B "><h2 class=x>one <b>two</b></h2><h2 class=x> </h2>
		<h2 class=x>three</h2><noscript><p id=n>qu<!-- x -->i<!-- y -->et</p></noscript>`
	elsewhere := mustExtract(t, "elsewhere", "h2", "")
	elsewhere.On = func(host string) bool { return host != "example.com" }
	extracts := []Extract{
		mustExtract(t, "head", "h2.x, #n", ""), elsewhere,
		mustExtract(t, "author", `meta[name="author"]`, "Content"), mustExtract(t, "none", "h2", "title"),
	}
	want := []schema.Fact{{Name: "head", Value: "one two"}, {Name: "head", Value: "three"}, {Name: "head", Value: "quiet"},
		{Name: "author", Value: "A & B"}}
	if diff := cmp.Diff(want, extract(t, src, Options{Extracts: extracts}).Facts); diff != "" {
		t.Error(diff)
	}
}

func TestNewExtractRefusesBadSelectors(t *testing.T) {
	for _, selector := range []string{"", "h2[", "a:nothing"} {
		if _, err := NewExtract("x", selector, ""); err == nil || !strings.Contains(err.Error(), "selector") {
			t.Errorf("%q: %v", selector, err)
		}
	}
}

func TestFactsAreBounded(t *testing.T) {
	p := extract(t, strings.Repeat("<p>"+strings.Repeat("é", 1200), 300), Options{Extracts: []Extract{
		mustExtract(t, "a", "p:nth-child(2n)", ""), mustExtract(t, "b", "p", ""),
	}})
	checkPage(t, &p)
	if len(p.Facts) != maxFacts || p.Facts[99].Name != "a" || len(p.Facts[0].Value) != 2*factLength {
		t.Errorf("%d facts, first of %d bytes", len(p.Facts), len(p.Facts[0].Value))
	}
}

// Pages that html.Parse refuses, or that would take gigabytes, have links and no facts.
func TestFactsOfHostilePages(t *testing.T) {
	bomb := new(strings.Builder)
	bomb.WriteString("<p>")
	for i := range 400 {
		fmt.Fprintf(bomb, "<b id=%d>", i)
	}
	attributes := new(strings.Builder)
	for i := range 2000 {
		fmt.Fprintf(attributes, " a%d", i)
	}
	cells := "<table><td></b></b></b><td>" // in which an end tag closes nothing outside
	tests := []struct{ name, src string }{
		{"deep", strings.Repeat("<div>", 1000)},
		{"formatting opened again in every paragraph", bomb.String() + strings.Repeat("<p>x", 200_000)},
		{"the same in cells", bomb.String() + strings.Repeat("<p>", 300) + cells + strings.Repeat("<p>x", 200_000)},
		{"attributes opened again", "<p><b" + attributes.String() + ">" + strings.Repeat("<p>x", 4_000)},
		{"attributes of a link opened again", "<p><a" + attributes.String() + ">" + strings.Repeat("<p>x", 4_000)},
		{"root attributes", strings.Repeat("<html a>", 10) + manyRoots()},
		{"long", strings.Repeat(" ", maxTreeBytes)},
	}
	opt := Options{Extracts: []Extract{mustExtract(t, "x", "a", "")}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := extract(t, tt.src+"<a href=x>x</a>", opt)
			if len(p.Links) == 0 || len(p.Facts) != 0 {
				t.Errorf("%d links, facts %v", len(p.Links), p.Facts)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
				t.Errorf("took %d MB", took>>20)
			}
		})
	}
}

func manyRoots() string {
	var b strings.Builder
	for i := b.Len(); b.Len() < maxTreeBytes-1000; i++ {
		fmt.Fprintf(&b, "<html a%d>", i)
	}
	return b.String()
}
