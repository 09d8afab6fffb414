package page

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// usualPage returns a page of typical size: 34 kB, 141 links, 41 distinct hrefs.
func usualPage() []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := bytes.Fields([]byte(`the terrain of web pages around curated domains is walked outward a few links
		and every page says who leads to whom &amp; why &mdash; nothing more`))
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Usual page &amp; more</title>
<link rel="stylesheet" href="/style.css"><link rel="canonical" href="https://example.com/usual/">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>.nav > li { color: #333 }</style>
<script>if (a < b) { document.write("<a href='no'>no</a>") }</script></head><body class="page">`)
	for i := range 141 {
		if i%20 == 0 {
			fmt.Fprintf(&b, `<div class="section level-%d" id="s%d"><nav>`, i%3, i)
		}
		fmt.Fprintf(&b, `<li class="item item-%d"><a class="reference internal" href="%s" title="to %d">`, i,
			usualHref(i%41), i%41)
		fmt.Fprintf(&b, `<span class="std">%s</span></a></li>`, words[i%len(words)])
		if i%20 == 19 {
			b.WriteString(`</nav></div>`)
		}
		b.WriteString("\n<p class=\"text\">")
		for range 6 {
			b.Write(words[rng.IntN(len(words))])
			b.WriteByte(' ')
		}
		b.WriteString(`<code class="literal"><span class="pre">x</span></code></p>`)
	}
	b.WriteString("</body></html>")
	return b.Bytes()
}

func usualHref(i int) string {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("../section-%d/page.html#part", i)
	case 1:
		return fmt.Sprintf("/docs/topic-%d/", i)
	case 2:
		return fmt.Sprintf("https://other-%d.example.org/path/?a=1&amp;b=%d", i, i)
	}
	return fmt.Sprintf("page-%d.html", i)
}

func TestUsualPage(t *testing.T) {
	src := usualPage()
	base, self := testBase(t, testRules(t), "https://example.com/docs/start/")
	page := NewExtractor(Options{}).Extract(src, "text/html; charset=utf-8", base, self)
	// 41 hrefs and the canonical one.
	if len(page.Links) != 42 || len(src) < 30_000 || len(src) > 38_000 {
		t.Errorf("%d targets, %d bytes", len(page.Links), len(src))
	}
}

// BenchmarkExtract reads the usual page; "x/tokenizer" is how many times faster that is than the tokenizer of
// x/net/html alone.
func BenchmarkExtract(b *testing.B) {
	src := usualPage()
	base, self := testBase(b, testRules(b), "https://example.com/docs/start/")
	e := NewExtractor(Options{})
	const rounds = 200
	start := time.Now()
	for range rounds {
		tokenize(src)
	}
	bare := time.Since(start) / rounds
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		e.Extract(src, "text/html; charset=utf-8", base, self)
	}
	b.ReportMetric(float64(bare)/float64(b.Elapsed()/time.Duration(b.N)), "x/tokenizer")
}

// tokenize reads all tags and attributes with the tokenizer of x/net/html.
func tokenize(src []byte) {
	z := html.NewTokenizer(bytes.NewReader(src))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			_, more := z.TagName()
			for more {
				_, _, more = z.TagAttr()
			}
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	src := usualPage()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	var s scanner
	for b.Loop() {
		s.reset(src)
		for s.next() != tokenEOF {
		}
	}
}

func BenchmarkTokenizer(b *testing.B) {
	src := usualPage()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		tokenize(src)
	}
}
