package page

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A view is the content of a page, for comparison with its tree.
type view struct {
	Title string
	Links map[string]view1
}

type view1 struct {
	Kinds  schema.Kinds
	Rel    schema.Rel
	Place  schema.Place
	Anchor string
}

func viewOf(p *Page) view {
	v := view{squeeze(p.Title), make(map[string]view1)}
	for _, l := range p.Links {
		v.Links[l.URL.Norm] = view1{l.Kinds, l.Rel, l.Place, squeeze(l.Anchor)}
	}
	return v
}

// squeeze removes all white space, which differs between tree and scanner.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// treeView extracts the same content from the tree with goquery, or reports that there is no tree.
func treeView(src []byte, base *weburl.Base, self string) (view, bool) {
	root, err := html.ParseWithOptions(bytes.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		return view{}, false
	}
	doc := goquery.NewDocumentFromNode(root)
	if href, ok := doc.Find("base[href]").First().Attr("href"); ok {
		if b, err := base.With(href); err == nil {
			base = b
		}
	}
	title := doc.Find("title").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return s.Get(0).Namespace == "" && s.Closest("template").Length() == 0
	})
	v := view{squeeze(clip(title.First().Text(), titleLength)), make(map[string]view1)}
	doc.Find("a[href], area[href], link[href], frame[src], meta[http-equiv]").Each(func(_ int, s *goquery.Selection) {
		target, kinds, ok := treeTarget(s)
		if kinds.Has(schema.LinkAnchor) && s.Closest("template:not([shadowrootmode])").Length() > 0 {
			return // not part of the document
		}
		u, err := base.Parse(target)
		if !ok || err != nil || u.Norm == self {
			return
		}
		rel := schema.Rel(0)
		if kinds.Has(schema.LinkAnchor) || goquery.NodeName(s) == "link" {
			rel = relFlags([]byte(s.AttrOr("rel", "")))
		}
		l, seen := v.Links[u.Norm]
		place := noPlace
		if goquery.NodeName(s) != "link" {
			place = treePlace(s)
		}
		if !seen {
			l = view1{Rel: rel, Place: noPlace}
		}
		quiet := place == noPlace && !kinds.Has(schema.LinkCanonical)
		quietBefore := l.Place == noPlace && !l.Kinds.Has(schema.LinkCanonical)
		switch {
		case quietBefore && !quiet:
			l.Rel = rel
		case quietBefore == quiet:
			l.Rel &= rel
		}
		l.Kinds, l.Place = l.Kinds|kinds, min(l.Place, place)
		if l.Anchor == "" {
			l.Anchor = squeeze(treeAnchor(s))
		}
		v.Links[u.Norm] = l
	})
	for to, l := range v.Links {
		if l.Place == noPlace {
			l.Place = schema.PlaceBody
			v.Links[to] = l
		}
	}
	return v, true
}

func treeTarget(s *goquery.Selection) (target string, kinds schema.Kinds, ok bool) {
	rel := " " + strings.ToLower(strings.Join(strings.FieldsFunc(s.AttrOr("rel", ""), isSeparator), " ")) + " "
	for word, kind := range map[string]schema.LinkKind{"me": schema.LinkMe, "blogroll": schema.LinkBlogroll} {
		if strings.Contains(rel, " "+word+" ") {
			kinds = kinds.Add(kind)
		}
	}
	switch goquery.NodeName(s) {
	case "link":
		if strings.Contains(rel, " canonical ") {
			kinds = kinds.Add(schema.LinkCanonical)
		}
		if kind, _, _ := mime.ParseMediaType(s.AttrOr("type", "")); strings.Contains(rel, " alternate ") &&
			slices.Contains([]string{"application/rss+xml", "application/atom+xml", "application/feed+json"}, kind) {
			kinds = kinds.Add(schema.LinkFeed)
		}
		return s.AttrOr("href", ""), kinds, kinds != 0
	case "frame":
		return s.AttrOr("src", ""), schema.Kinds(0).Add(schema.LinkFrame), true
	case "meta":
		target = refreshTarget(s.AttrOr("content", ""))
		return target, schema.Kinds(0).Add(schema.LinkRefresh), target != "" && strings.EqualFold(s.AttrOr("http-equiv", ""), "refresh")
	}
	_, download := s.Attr("download")
	return s.AttrOr("href", ""), kinds.Add(schema.LinkAnchor), !download
}

// treeRoles and treeElements map roles and elements to the places of their content.
var treeRoles = map[string]schema.Place{
	"main": schema.PlaceMain, "complementary": schema.PlaceAside, "banner": schema.PlaceHeader,
	"contentinfo": schema.PlaceFooter, "navigation": schema.PlaceNav,
}

var treeElements = map[string]schema.Place{
	"main": schema.PlaceMain, "aside": schema.PlaceAside, "header": schema.PlaceHeader,
	"footer": schema.PlaceFooter, "nav": schema.PlaceNav,
}

func treePlace(s *goquery.Selection) schema.Place {
	for parent := s.Parent(); parent.Length() > 0; parent = parent.Parent() {
		name := goquery.NodeName(parent)
		for role := range strings.FieldsSeq(strings.ToLower(parent.AttrOr("role", ""))) {
			if place, ok := treeRoles[role]; ok && closes([]byte(name)) {
				return place
			}
		}
		if place, ok := treeElements[name]; ok {
			return place
		}
	}
	return schema.PlaceBody
}

func treeAnchor(s *goquery.Selection) string {
	if goquery.NodeName(s) == "area" {
		return clip(s.AttrOr("alt", ""), anchorLength)
	}
	if goquery.NodeName(s) != "a" {
		return ""
	}
	if anchor := clip(treeText(s.Get(0)), anchorLength); anchor != "" {
		return anchor
	}
	alt := ""
	s.Find("img[alt]").EachWithBreak(func(_ int, img *goquery.Selection) bool {
		alt = clip(img.AttrOr("alt", ""), anchorLength)
		return alt == ""
	})
	return alt
}

// treeText returns the text below n, without code and the text of nested links.
func treeText(n *html.Node) string {
	switch {
	case n.Type == html.TextNode:
		return n.Data
	case n.Data == "script" || n.Data == "style":
		return ""
	case n.Namespace == "" && (n.Data == "textarea" || n.Data == "iframe" || n.Data == "title"):
		return ""
	}
	var text strings.Builder
	for child := range n.ChildNodes() {
		text.WriteString(treeText(child))
	}
	return text.String()
}

// FuzzTree: on pages that a browser would leave as written, the links, the title and the places equal those
// that goquery finds in the tree.
func FuzzTree(f *testing.F) {
	for i := range byte(20) {
		f.Add(bytes.Repeat([]byte{i, 7 * i, 31, i + 3}, 12))
	}
	base, self := testBase(f, testRules(f), "https://example.com/dir/page")
	f.Fuzz(func(t *testing.T, choices []byte) {
		src := compose(choices)
		want, ok := treeView(src, base, self)
		if !ok {
			t.Skip("deeper than html.Parse goes")
		}
		p := NewExtractor(Options{}).Extract(src, "text/html; charset=utf-8", base, self)
		if diff := cmp.Diff(want, viewOf(&p)); diff != "" {
			t.Errorf("%s\n(-tree +scanner):\n%s", src, diff)
		}
	})
}

// compose builds a page from choices: pieces of a head, then pieces of a body, with containers opened and
// closed in order, and sometimes left open within another.
func compose(choices []byte) []byte {
	head := []string{
		`<title>T &amp; t</title>`, `<base href="/base/x">`, `<base target=_top>`, `<link rel=canonical href=c>`,
		`<link rel=icon href=i>`, `<link rel=alternate type="application/rss+xml; charset=utf-8" href=feed>`,
		`<link rel="Alternate me" type=application/feed+json href=n>`, `<link rel=alternate type=text/html href=de>`,
		`<link rel="me nofollow" href=a>`, `<link rel=blogroll type="text/xml" href=roll>`,
		`<meta http-equiv=refresh content="5; url=r">`, `<script>"<a href=s>"<!-- <script> --></script>`,
		`<style><a href=s></style>`,
		`<!-- <a href=s> -->`, `<noscript><link rel=canonical href=n></noscript>`,
		`<template><a href=t>tt</a></template>`,
	}
	body := []string{
		`<a href=a>one</a>`, `<a href='./a#f' rel="nofollow x">two</a>`,
		`<a href="http://www.example.com/dir/a?&amp;" rel=ugc></a>`, `<a name=x>no</a>`,
		`<a href=b download>d</a>`, `<A HREF="mailto:x">m</A>`, `<a href=page>self</a>`,
		`<a href=b><img alt=" pic "><span>&nbsp;</span></a>`,
		`<a href="q?b=1&copy=2&amp;a=&#x41;">q <b>bold</b> &lt;x</a>`, `text &amp; <b>bold</b> < 3`,
		`<map><area href=z alt=zed></map>`,
		`<svg><title>logo</title><a xlink:href=v><text>vee</text></a></svg>`, `<noscript><a href=n>nn</a></noscript>`,
		`<template><title>part</title></template>`, `<template shadowrootmode=open><a href=sr>sr</a></template>`,
		`<svg><foreignObject><p>f</p></foreignObject><title>logo</title></svg>`, `<textarea><a href=s></textarea>`,
		`<svg><style>a > b {}<a href=vs>in style</a></style><a href=vt>vt</a></svg>`,
		`<svg><style/><a href=vu>vu</a></svg>`,
		`<svg><style><![CDATA[a > b {<a href=s>}]]></style><script>"<a href=vv>vv</a>"</script></svg>`,
		`<a href=w><svg><title>logo</title><style>.c > .d {}</style><script>x()</script><g/></svg> tail</a>`,
		`<svg><desc><style><a href=s></style></desc></svg>`,
		`<math><mi><style><a href=s></style></mi><style><a href=mm>m</a></style></math>`,
		`<svg><font size=1><style><a href=s></style>`, `<svg><textarea><a href=vw>vw</a></textarea></svg>`,
		`<iframe src=f><a href=s></iframe>`, `<a href=//other.example/?x=1>o<script>no</script>ther</a>`, `<p>para<br>`,
		`<a href="  d e  ">sp</a>`,
		"<a href='li\nne'>line</a>", `<a href=a><i>i</i></a>`, `</b>`, `</nope>`, `<!-- x --!>`, `<?pi?>`,
		`<a href=é>é</a>`, `<a href=c rel="me">I</a>`, `<a href=feed rel="nofollow blogroll">f</a>`, `<area rel=ME href=roll>`,
		`<link rel=me href=b>`,
	}
	containers := []string{
		"div", "section", "article", "main", "aside", "header", "footer", "nav", "ul", "x-menu",
		"div role=navigation", `nav class=x ROLE="none main"`, "header role=note", "ul role=Banner",
		"x-menu role=complementary", "fieldset role='doc-toc contentinfo'",
	}
	b := bytes.NewBufferString("<!DOCTYPE html><head>")
	var open []string
	inBody := false
	for _, c := range choices {
		switch n := int(c); {
		case !inBody && n < 100:
			b.WriteString(head[n%len(head)])
			continue
		case !inBody:
			b.WriteString("</head><body>")
			inBody = true
			fallthrough
		case n < 150:
			piece := body[n%len(body)]
			if b.WriteString(piece); strings.HasPrefix(piece, "<p>") && slices.Contains(open, "x-menu") {
				b.WriteString("</p>") // while a paragraph is open, a tree leaves it open, too
			}
		case n < 200:
			tag := containers[n%len(containers)]
			if strings.HasPrefix(tag, "x-menu") {
				b.WriteString("</p>") // an open paragraph around it ends, in a tree, with the next one in it
			}
			b.WriteString("<" + tag + ">")
			name, _, _ := strings.Cut(tag, " ")
			open = append(open, name)
		case len(open) > 0:
			// Sometimes what is open in it is left to be closed by it.
			i := max(0, len(open)-1-n%3%2)
			// A tree leaves an x-menu open while a container in it is open. A ul without a role is not tracked.
			if open[i] == "x-menu" || open[i] == "ul" {
				i = len(open) - 1
			}
			i = slices.Index(open, open[i]) // the outermost of its name is no closer
			if last := lastIndex(open, open[i]); last > i {
				i = last
			}
			b.WriteString("</" + open[i] + ">")
			open = open[:i]
		}
	}
	return b.Bytes()
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; ; i-- {
		if list[i] == s {
			return i
		}
	}
}

// TestRealPages compares with the tree on the machine's HTML documentation.
func TestRealPages(t *testing.T) {
	pages := realPages(t)
	if len(pages) == 0 {
		t.Skip("no HTML below /usr/share/doc: install a -doc package to compare real pages")
	}
	base, self := testBase(t, testRules(t), "https://docs.example/manual/page.html")
	e := NewExtractor(Options{})
	for _, name := range pages {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := e.Extract(src, "text/html", base, self)
		text, _ := decode(src, "text/html")
		want, ok := treeView(text, base, self)
		if !ok || p.Distinct > len(p.Links) {
			continue
		}
		if diff := cmp.Diff(want, viewOf(&p)); diff != "" {
			t.Errorf("%s (-tree +scanner):\n%s", name, diff)
		}
	}
	t.Logf("%d pages", len(pages))
}

// realPages returns a sample of at most 200 pages.
func realPages(t testing.TB) []string {
	t.Helper()
	folder := os.Getenv("RIPPLE_PAGES")
	if folder == "" {
		folder = "/usr/share/doc"
	}
	var pages []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(path, ".html") {
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	return pages[:min(200, len(pages))]
}
