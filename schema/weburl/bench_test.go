package weburl_test

import (
	"fmt"
	"testing"
)

// hrefs returns 141 references typical of a documentation page: half of them begin with "./" or "../",
// some repeat, few are absolute, hardly any is odd.
func hrefs() []string {
	refs := []string{
		"#content", "#", "/", "https://www.example.org/", "https://github.com/example/project",
		"https://www.example.net/about/",
		"?highlight=socket&page=2", "/search?q=index&check_keywords=yes&area=default", "mailto:docs@example.com",
		"https://docs.example.com/3/library/index.html?utm_source=nav", "M%C3%BCller.html",
	}
	for i := range 50 {
		refs = append(refs, fmt.Sprintf("../library/chapter-%d.html#section-%d", i%30, i), fmt.Sprintf("page%d.html", i))
	}
	for i := range 15 {
		refs = append(refs, fmt.Sprintf("/3/whatsnew/%d.html", i), fmt.Sprintf("./topic-%d/", i))
	}
	return refs
}

func BenchmarkNormalize(b *testing.B) {
	base, err := newRules(b).Base("https://docs.example.com/3/tutorial/intro.html")
	if err != nil {
		b.Fatal(err)
	}
	refs := hrefs()
	b.ReportAllocs()
	for b.Loop() {
		for _, ref := range refs {
			_, _ = base.Parse(ref)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(refs)), "ns/href")
}

func BenchmarkSlowHost(b *testing.B) {
	rules := newRules(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = rules.Parse("https://www.bücher.example/ä?ö")
	}
}
