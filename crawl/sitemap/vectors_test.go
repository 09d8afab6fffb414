package sitemap_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/sitemap"
)

type vector struct {
	Name         string
	URL          string
	Content      string
	ContentBytes []byte `json:"content_b64"`
	ContentType  string `json:"content_type"`
	Kind         string
	URLs         []string
	Disputed     bool
}

// TestVectors runs the published cases of crawler-commons and sitemaps.org, including all disputed ones but
// one: a file with a stray end tag is an error there, while here its one good URL is kept.
func TestVectors(t *testing.T) {
	folder := os.Getenv("RIPPLE_VECTORS")
	if folder == "" {
		t.Skip("RIPPLE_VECTORS is not set: no published vectors")
	}
	data, err := os.ReadFile(filepath.Join(folder, "sitemap.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []vector
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 30 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, tt := range cases {
		if tt.Disputed && tt.Name == "SiteMapParserTest.testSitemapParserBrokenXml" {
			continue
		}
		t.Run(tt.Name, func(t *testing.T) { check(t, tt) })
	}
}

func check(t *testing.T, tt vector) {
	body := append([]byte(tt.Content), tt.ContentBytes...)
	f, err := sitemap.Parse(body, tt.URL, tt.ContentType, sitemap.DefaultLimits())
	if (tt.Kind == "error") != errors.Is(err, sitemap.ErrNotSitemap) {
		t.Fatalf("%v; want %s", err, tt.Kind)
	}
	entries := f.Entries
	if tt.Kind == "index" {
		entries = f.Children
		if f.Kind != sitemap.Index {
			t.Errorf("kind %v", f.Kind)
		}
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Loc)
	}
	if diff := cmp.Diff(tt.URLs, got); diff != "" {
		t.Error(diff)
	}
}
