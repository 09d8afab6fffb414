package sitemap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/sitemap"
)

func BenchmarkParse(b *testing.B) {
	var xml, text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&xml,
			"<url>\n  <loc>https://example.com/products/%d?page=1&amp;size=2</loc>\n"+
				"  <lastmod>2024-05-17T10:20:30+00:00</lastmod>\n  <changefreq>weekly</changefreq>\n</url>\n", i)
		fmt.Fprintf(&text, "https://example.com/products/%d?page=1&size=2\n", i)
	}
	whole := `<?xml version="1.0" encoding="UTF-8"?>` + urlset(xml.String())
	for _, tt := range []struct{ name, body string }{
		{"xml", whole}, {"gzip", gzipped(1, whole)}, {"text", text.String()},
	} {
		b.Run(tt.name, func(b *testing.B) {
			body := []byte(tt.body)
			b.ReportAllocs()
			b.SetBytes(int64(len(whole)))
			if tt.name == "text" {
				b.SetBytes(int64(len(body)))
			}
			for b.Loop() {
				f, err := sitemap.Parse(body, base, "", sitemap.DefaultLimits())
				if err != nil || len(f.Entries) != 50_000 {
					b.Fatal(err, len(f.Entries))
				}
			}
		})
	}
}
