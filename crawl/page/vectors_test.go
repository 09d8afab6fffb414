package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// vectors reads a file of published conformance data, or skips the test.
func vectors[T any](t *testing.T, name string) []T {
	t.Helper()
	folder := os.Getenv("RIPPLE_VECTORS")
	if folder == "" {
		t.Skip("RIPPLE_VECTORS is not set: no published conformance data to run against")
	}
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	var entries []T
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return entries
}

func TestLinkVectors(t *testing.T) {
	// This package counts frames and areas, which this file does not, and <a href> anywhere: also in <svg>,
	// where browsers follow it and html5lib sees a different element of that name.
	contradicted := map[string][]string{
		"TestDOMContentUtils#4": {"https://nutch.org/frames/top.html", "https://nutch.org/frames/left.html",
			"https://nutch.org/frames/invalid.html", "https://nutch.org/frames/right.html"},
		"TestDOMContentUtils#5": {"https://nutch.org/index.html", "https://nutch.org/bot.html"},
		"main-element.dat#2":    {"https://example.com/dir/l1"},
		"search-element.dat#2":  {"https://example.com/dir/l1"},
	}
	type entry struct {
		Name, HTML string
		Base       string   `json:"base_url"`
		Links      []string `json:"expected_links"`
		Disputed   any
	}
	rules := testRules(t)
	for _, v := range vectors[entry](t, "links.json") {
		if v.Disputed != nil {
			continue
		}
		base, self := testBase(t, rules, v.Base)
		want := contradicted[v.Name]
		for _, link := range v.Links {
			u, err := rules.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, u.Norm)
		}
		page := NewExtractor(Options{}).Extract([]byte(v.HTML), "text/html; charset=utf-8", base, self)
		// A tree moves some links; here they are in order of writing, once each, without the page itself.
		got, want := sortedNorms(page.Links), sortedSet(want, self)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q: links %q, want %q", v.Name, v.HTML, got, want)
		}
	}
}

func TestCharsetVectors(t *testing.T) {
	type entry struct {
		Name     string
		Body     []byte `json:"body_b64"`
		Encoding string
		Title    string
		Disputed any
	}
	base, self := testBase(t, testRules(t), "https://example.com/")
	e := NewExtractor(Options{})
	for _, v := range vectors[entry](t, "charset.json") {
		if v.Disputed != nil {
			continue
		}
		page := e.Extract(v.Body, "text/html", base, self)
		if page.Charset != v.Encoding {
			t.Errorf("%s: charset %q, want %q", v.Name, page.Charset, v.Encoding)
		}
		if v.Title != "" && page.Title != v.Title {
			t.Errorf("%s: title %q, want %q", v.Name, page.Title, v.Title)
		}
	}
}

func testRules(t testing.TB) *weburl.Rules {
	t.Helper()
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func testBase(t testing.TB, rules *weburl.Rules, raw string) (*weburl.Base, string) {
	t.Helper()
	base, err := rules.Base(raw)
	if err != nil {
		t.Fatal(err)
	}
	u, err := rules.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return base, u.Norm
}

func sortedNorms(links []Link) []string {
	var norms []string
	for _, l := range links {
		norms = append(norms, l.URL.Norm)
	}
	slices.Sort(norms)
	return norms
}

func sortedSet(norms []string, without string) []string {
	norms = slices.DeleteFunc(slices.Clone(norms), func(s string) bool { return s == without })
	slices.Sort(norms)
	return slices.Compact(norms)
}
