package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema"
)

// extract extracts a page of https://example.com/dir/page.
func extract(t testing.TB, src string, opt Options) Page {
	t.Helper()
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	return NewExtractor(opt).Extract([]byte(src), "text/html; charset=utf-8", base, self)
}

// A row is a link in brief: identity, strongest kind, rel, place, anchor.
type row struct {
	Norm   string
	Kind   schema.LinkKind
	Rel    schema.Rel
	Place  schema.Place
	Anchor string
}

func rows(links []Link) []row {
	var list []row
	for _, l := range links {
		list = append(list, row{l.URL.Norm, l.Kinds.First(), l.Rel, l.Place, l.Anchor})
	}
	return list
}

const dir = "https://example.com/dir/"

func anchor(norm, text string) row {
	return row{norm, schema.LinkAnchor, 0, schema.PlaceBody, text}
}

// A linkRow is a page, and its links in order.
type linkRow struct {
	name, in string
	want     []row
}

// linkRows are links of every kind.
func linkRows() []linkRow {
	return []linkRow{
		{"plain", `<a href=a>A</a> <A HREF='b'>B</A>`, []row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
		{"area", `<map><area href=a alt="the &eacute;tage">`, []row{anchor(dir+"a", "the étage")}},
		{"canonical", `<link rel="x Canonical" href="/c"><link rel=stylesheet href=s>`,
			[]row{{"https://example.com/c", schema.LinkCanonical, 0, schema.PlaceBody, ""}}},
		{"no canonical of the document", `<template><link rel=canonical href=a></template><svg><link rel=canonical href=b></svg>` +
			"<link rel='x\u00a0canonical' href=c>", nil},
		{"rel and role with a no-break space", "<nav role='x\u00a0main'><a href=a rel='x\u00a0nofollow'>A</a></nav>",
			[]row{{dir + "a", schema.LinkAnchor, 0, schema.PlaceNav, "A"}}},
		{"frame, not iframe", `<frameset><frame src=f><iframe src=i></iframe>`,
			[]row{{dir + "f", schema.LinkFrame, 0, schema.PlaceBody, ""}}},
		{"no links", `<a href=a download>A</a><a href=" JavaScript:x">J</a><a href=mailto:x@y>M</a><a href=tel:1>` +
			`<a href=data:,x><a href=ftp://x/><a href="java&#10;script:x"><a name=x>`, nil},
		{"itself", `<a href="">1</a><a href=#x>2</a><a href=page>3</a><a href=//www.example.com/dir/page/>4</a>`, nil},
		{"base for earlier links too, the first with href",
			`<a href=a>A</a><base target=x><base href=/b/><base href=/c/>`,
			[]row{anchor("https://example.com/b/a", "A")}},
		{"base of a template", `<template><base href="https://b.test/"></template><a href=a>A</a>`, []row{anchor(dir+"a", "A")}},
		{"base of a drawing", `<svg><base href="https://b.test/"/></svg><a href=a>A</a>`, []row{anchor(dir+"a", "A")}},
		{"base of HTML in a drawing", `<svg><foreignObject><base href=/b/></foreignObject></svg><a href=a>A</a>`,
			[]row{anchor("https://example.com/b/a", "A")}},
		{"bad base", `<base href="https://[/"><a href=a>A</a>`, []row{anchor(dir+"a", "A")}},
		{"base without a URL", `<base href="data:,x"><a href=a>A</a>`, []row{anchor(dir+"a", "A")}},
		{"merged", `<nav><a href=a rel="nofollow ugc"></a></nav>` +
			`<main><a href=./a rel=nofollow>one</a></main><a href="a#x" rel=NoFollow>two</a>`,
			[]row{{dir + "a", schema.LinkAnchor, schema.RelNofollow, schema.PlaceMain, "one"}}},
		{"rel of one spelling", `<a href=a rel="nofollow sponsored">A</a><a href=a rel=sponsored>A</a>`,
			[]row{{dir + "a", schema.LinkAnchor, schema.RelSponsored, schema.PlaceBody, "A"}}},
		{"first anchor in document order", `<a href=a></a><a href=./a>one</a><a href=a>two</a>`,
			[]row{{dir + "a", schema.LinkAnchor, 0, schema.PlaceBody, "one"}}},
		{"kinds", `<a href=a>x</a><link rel=canonical href=a>`,
			[]row{{dir + "a", schema.LinkCanonical, 0, schema.PlaceBody, "x"}}},
		{"feeds", `<link rel=alternate type=application/rss+xml href=rss title=Posts>` +
			`<link rel="ALTERNATE home" type="Application/Atom+XML; charset=utf-8" href=atom>` +
			`<link rel=alternate type=application/feed+json href=json>` +
			`<link rel=alternate type=text/html hreflang=de href=de><link rel=alternate href=none>` +
			`<link rel=stylesheet type=application/rss+xml href=style><a rel=alternate type=application/rss+xml href=a>A</a>`,
			[]row{{dir + "rss", schema.LinkFeed, 0, schema.PlaceBody, ""}, {dir + "atom", schema.LinkFeed, 0, schema.PlaceBody, ""},
				{dir + "json", schema.LinkFeed, 0, schema.PlaceBody, ""}, anchor(dir+"a", "A")}},
		{"me", `<link rel=me href=https://social.test/@ann><footer><a rel="me noopener" href=https://code.test/ann>Code</a></footer>` +
			`<link rel=me href=mailto:ann@example.com><a rel="some men" href=a>A</a>`,
			[]row{{"https://social.test/@ann", schema.LinkMe, 0, schema.PlaceBody, ""},
				{"https://code.test/ann", schema.LinkAnchor, 0, schema.PlaceFooter, "Code"}, anchor(dir+"a", "A")}},
		{"blogroll", `<link rel=blogroll type=text/xml href=roll.opml><a href=reads rel=blogroll>What I read</a>`,
			[]row{{dir + "roll.opml", schema.LinkBlogroll, 0, schema.PlaceBody, ""}, anchor(dir+"reads", "What I read")}},
		{"a visible link has the place", `<link rel=me href=a><link rel=canonical href=b><nav><a href=b>B</a><a href=a>A</a></nav>`,
			[]row{{dir + "a", schema.LinkAnchor, 0, schema.PlaceNav, "A"}, {dir + "b", schema.LinkCanonical, 0, schema.PlaceNav, "B"}}},
		{"a link of the head next to one in the text", `<link rel=me href=a><main><a href=a>A</a></main>`,
			[]row{{dir + "a", schema.LinkAnchor, 0, schema.PlaceMain, "A"}}},
		{"a visible link has the flags", `<link rel=me href=a><a rel="me nofollow" href=a>A</a><link rel="me nofollow" href=b>`,
			[]row{{dir + "a", schema.LinkAnchor, schema.RelNofollow, schema.PlaceBody, "A"},
				{dir + "b", schema.LinkMe, schema.RelNofollow, schema.PlaceBody, ""}}},
		{"a link in a link ends it", `<a href=a>A<a href=b>B</a>C</a>`,
			[]row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
	}
}

// textRows distinguish text from markup.
func textRows() []linkRow {
	return []linkRow{
		{"controls are escaped",
			"<a href='a\x01b'>A</a><a href='a\x7f'>B</a><a href='a&#2;'>C</a><a href='a\x00'>D</a><a href='a&#31;b'>E</a>",
			[]row{
				anchor(dir+"a%01b", "A"), anchor(dir+"a%7F", "B"), anchor(dir+"a", "C"), anchor(dir+"a%EF%BF%BD", "D"),
				anchor(dir+"a%1Fb", "E")}},
		{"blanks beyond ASCII stay", "<a href='\u00a0a\u0085'>A</a><a href='\x0ba\x1f\f'>B</a>", []row{
			anchor(dir+"%C2%A0a%C2%85", "A"), anchor(dir+"a", "B")}},
		{"an error each", "<a href='a\xff'>A</a><a href='a\xff\xff'>B</a><a href='a\xe2\x82'>C</a>", []row{
			anchor(dir+"a%EF%BF%BD", "A"), anchor(dir+"a%EF%BF%BD%EF%BF%BD", "B")}},
		{"noscript and template", `<noscript><a href=a>A</a></noscript><template><a href=b>B</a></template>`,
			[]row{anchor(dir+"a", "A")}},
		{"shadow root", `<div><template shadowrootmode="open"><a href=a>A</a></template></div><template><a href=b>B</a></template>`,
			[]row{anchor(dir+"a", "A")}},
		{"text is no markup", `<script>"<a href=a>"</script><style><a href=b></style><textarea><a href=c></textarea>` +
			`<!-- <a href=d> --><iframe><a href=e></iframe><xmp><a href=f></xmp><title><a href=g></title>`, nil},
		{"svg", `<svg><title>x</title><a xlink:href=a>A</a><a href=b xlink:href=c>B</a></svg><a xlink:href=d>D</a>`,
			[]row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
		{"svg, text as it is", `<a href=a><svg><![CDATA[a &amp; <b>]]></svg> &amp;</a>`,
			[]row{anchor(dir+"a", "a &amp; <b> &")}},
		{"anchor text", "<a href=a> <b>x</b>y\n<br>z&nbsp;&amp;<!-- no --> <script>no</script>w</a>",
			[]row{anchor(dir+"a", "xy z & w")}},
		{"alt", `<a href=a> <img alt=""><img alt=one><img alt=two></a><a href=b><img alt=no>B</a>`,
			[]row{anchor(dir+"a", "one"), anchor(dir+"b", "B")}},
		{"hidden characters", "<a href=a>a\x00b\u202e&#x1b;[31m&#x202e;c\ufffe</a>", []row{anchor(dir+"a", "ab[31mc")}},
		{"entities in attributes", `<a href="x?a=1&copy=2&amp;b=&eacute;">x</a>`,
			[]row{anchor(dir+"x?a=1&b=%C3%A9&copy=2", "x")}},
		{"cut off tag", `<a href=a>A</a><a href=b`, []row{anchor(dir+"a", "A")}},
	}
}

func TestLinks(t *testing.T) {
	for _, tt := range slices.Concat(linkRows(), refreshRows(), textRows()) {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rows(extract(t, tt.in, Options{}).Links)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// The queries of all kinds of links use the encoding of the page.
func TestLegacyQueries(t *testing.T) {
	const src = "<base href='/b/?\xe0'><a href='?q=\xef\xf0\xe8\xec\xe5\xf0&amp;\xff&#8364;&#26085;'>A</a>" +
		"<link rel=canonical href='c?\xe0'>" +
		"<meta http-equiv=refresh content='0;url=r?\xe0'><frame src='\xe0?\xe0'><area href=\"?'\xe0\"><a href='#\xe0'>B</a>"
	tests := []struct {
		contentType string
		want        []string
	}{
		{"text/html; charset=windows-1251", []string{
			"/b/?q=%EF%F0%E8%EC%E5%F0&%FF%88%26%2326085%3B", "/b/c?%E0", "/b/r?%E0", "/b/%D0%B0?%E0", "/b/?%27%E0",
			"/b/?%E0",
		}},
		{"text/html;; x;charset=\"windows-1251", []string{
			"/b/?q=%EF%F0%E8%EC%E5%F0&%FF%88%26%2326085%3B", "/b/c?%E0", "/b/r?%E0", "/b/%D0%B0?%E0", "/b/?%27%E0",
			"/b/?%E0",
		}},
		{"text/html; charset=iso-8859-5", []string{
			"/b/?q=%EF%F0%E8%EC%E5%F0&%FF%26%238364%3B%26%2326085%3B", "/b/c?%E0", "/b/r?%E0", "/b/%D1%80?%E0",
			"/b/?%27%E0", "/b/?%E0",
		}},
	}
	for _, tt := range tests {
		base, self := testBase(t, testRules(t), "https://example.com/dir/page")
		p := NewExtractor(Options{}).Extract([]byte(src), tt.contentType, base, self)
		var got []string
		for _, l := range p.Links {
			got = append(got, strings.TrimPrefix(l.URL.Form, "https://example.com"))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.contentType, diff)
		}
	}
}

func TestTitle(t *testing.T) {
	tests := []struct{ in, want string }{
		{"<title> a\n&amp;\t<b>b </title><title>c</title>", "a & <b>b"},
		{"<svg><title>logo</title></svg><title>page</title>", "page"},
		{"<svg><title>logo<title>page</title>", "page"}, // the title of a drawing contains HTML again
		{"<svg><g><title>logo</title></g><foreignObject><title>page</title></foreignObject></svg>", "page"},
		{"<svg><desc></desc><title>logo</title></svg><title>page</title>", "page"},
		{"<svg><foreignObject></svg><title>page</title>", "page"},
		{"<svg><foreignObject/><title>logo</title></svg><title>page</title>", "page"},
		{"<svg/><title>page</title>", "page"},
		{"<svg><p><title>page</title>", "page"}, // a drawing cannot contain a paragraph
		{"<svg></p><title>page</title>", "page"},
		{"<SVG><svg><title>logo</title></svg><title>logo</title></SVG><title>page</title>", "page"},
		{"<math><title>formula</title></math><title>page</title>", "page"},
		{"<math><mi><title>page</title></mi></math>", "page"},
		{"<template><title>part</title></template><title>page</title>", "page"},
		{"<template><template></template><title>part</title></template><title>page</title>", "page"},
		{"<template><svg><title>x</title></template><title>page</title>", "page"},
		{"</template></svg><title>page</title>", "page"},
		{"<svg><template><title>logo</title></template></svg><title>page</title>", "page"},
		{"<template/><title>part</title>", ""},
		{"<body><p>a<title>page</title>", "page"},
		{"<title>page</title><svg><title>logo</title></svg>", "page"},
		{"<title></title><title>second</title>", ""},
		{"<title>\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f468\u200d\U0001f469</title>",
			"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f468\u200d\U0001f469"},
		{"<title>\x00a\x1b[31m&#27;&#x202e;b\u202e</title>", "a[31mb"},
		{"<title>never closed", "never closed"},
		{"<p>none", ""},
	}
	for _, tt := range tests {
		if got := extract(t, tt.in, Options{}).Title; got != tt.want {
			t.Errorf("%q: title %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestForms(t *testing.T) {
	page := extract(t, `<a href=/a/><a href=/a><a href=http://www.example.com/a><a href=/a?><a href=/a?ref=x>`,
		Options{})
	want := []string{"https://example.com/a", "https://www.example.com/a", "https://example.com/a?"}
	if len(page.Links) != 1 || page.Links[0].URL.Form != "https://example.com/a/" {
		t.Fatalf("%+v", page.Links)
	}
	if diff := cmp.Diff(want, page.Links[0].Forms); diff != "" {
		t.Error(diff)
	}
	if page.Links[0].URL.HTTP {
		t.Error("by http alone")
	}
	page = extract(t, `<a href=/z//><a href=/z///><a href=/z?&><a href=/z/><a href=/z?><a href=/z>`, Options{})
	want = []string{"https://example.com/z///", "https://example.com/z?&", "https://example.com/z/",
		"https://example.com/z?", "https://example.com/z"}
	if len(page.Links) != 1 || !slices.Equal(page.Links[0].Forms, want) {
		t.Errorf("of many forms these are kept: %+v", page.Links)
	}
}

// TestHTTP: a link has HTTP set if every mention of its target does.
func TestHTTP(t *testing.T) {
	tests := []struct {
		name, in string
		want     bool
	}{
		{"https", "<a href=https://b.test/>", false},
		{"http", "<a href=http://b.test/>", true},
		{"http, twice", "<a href=http://b.test/><a href=http://www.b.test/?>", true},
		{"http before https", "<a href=http://b.test/><a href=https://b.test/>", false},
		{"https before http", "<a href=https://www.b.test/><a href=http://b.test/><a href=http://b.test>", false},
		{"as the page's", "<a href=http://b.test/><a href=//b.test/>", false},
		{"relative", "<a href=/elsewhere>", false},
		{"relative to a base", "<base href=http://b.test/><a href=x>", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			links := extract(t, tt.in, Options{}).Links
			if len(links) != 1 || links[0].URL.HTTP != tt.want {
				t.Errorf("%+v; want one link, HTTP %t", links, tt.want)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	page := extract(t,
		`<a href=a>A<a href=b>B<a href=a>C<a href="a#x">D<a href="http://[">E<a href="http://]">F<a href=c>`,
		Options{MaxLinks: 1})
	want := []row{{"https://example.com/dir/a", schema.LinkAnchor, 0, schema.PlaceBody, "A"}}
	if diff := cmp.Diff(want, rows(page.Links)); diff != "" {
		t.Error(diff)
	}
	if page.Distinct != 3 {
		t.Errorf("distinct %d, want 3", page.Distinct)
	}
}

// TestFirstTargets puts many links within the page before others: they are not targets, however low the limit
// is.
func TestFirstTargets(t *testing.T) {
	var contents strings.Builder
	for i := range 50 {
		fmt.Fprintf(&contents, "<a href=#%d>%d</a>", i, i)
	}
	page := extract(t, contents.String()+"<a href=a>A</a><a href=b>B</a>", Options{MaxLinks: 1})
	want := []row{{"https://example.com/dir/a", schema.LinkAnchor, 0, schema.PlaceBody, "A"}}
	if diff := cmp.Diff(want, rows(page.Links)); diff != "" {
		t.Error(diff)
	}
	if page.Distinct != 2 {
		t.Errorf("distinct %d, want 2", page.Distinct)
	}
}

func TestRobotsMeta(t *testing.T) {
	tests := []struct {
		in   string
		want RobotsTag
	}{
		{``, RobotsTag{}},
		{`<meta name=robots content="noindex, NoFollow">`, RobotsTag{NoIndex: true, NoFollow: true}},
		{`<meta name=ROBOTS content=none><meta name=robots content=noarchive>`, RobotsTag{true, true, true, false}},
		{`<meta name=robots content=all>`, RobotsTag{}},
		{`<meta name=googlebot content=noindex>`, RobotsTag{}},
		{`<template><meta name=robots content=noindex></template>`, RobotsTag{}},
		{`<svg><meta name=robots content=noindex>`, RobotsTag{NoIndex: true}},
		{`<meta name=robots content=noindex><meta name=sumiripple content=noarchive>`,
			RobotsTag{NoIndex: true, NoArchive: true}},
		{`<meta name=sumiripple content=index><meta name=robots content=noindex>`, RobotsTag{NoIndex: true}},
		{`<meta name=robots content=nosnippet>`, RobotsTag{NoSnippet: true}},
		{`<meta name=robots content="index, max-snippet: 0">`, RobotsTag{NoSnippet: true}},
		{`<meta name=robots content="max-snippet:20">`, RobotsTag{}},
	}
	for _, tt := range tests {
		p := extract(t, tt.in, Options{Agent: "SumiRipple"})
		if got := p.RobotsTag(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestHeaderRobotsTag(t *testing.T) {
	tests := []struct {
		values []string
		want   RobotsTag
	}{
		{nil, RobotsTag{}},
		{[]string{"noindex, nofollow"}, RobotsTag{NoIndex: true, NoFollow: true}},
		{[]string{"noindex", "NOARCHIVE"}, RobotsTag{NoIndex: true, NoArchive: true}},
		{[]string{"none"}, RobotsTag{NoIndex: true, NoFollow: true}},
		{[]string{"otherbot: noindex, nofollow"}, RobotsTag{}},
		{[]string{"otherbot: noindex", "nofollow"}, RobotsTag{NoFollow: true}},
		{[]string{"sumiripple: noindex, noarchive"}, RobotsTag{NoIndex: true, NoArchive: true}},
		{[]string{"otherbot: none, SumiRipple: noarchive"}, RobotsTag{NoArchive: true}},
		{[]string{"noindex", "SumiRipple: index"}, RobotsTag{NoIndex: true}},
		{[]string{"robots: nosnippet"}, RobotsTag{NoSnippet: true}},
		{[]string{"otherbot: noindex, max-snippet: 0"}, RobotsTag{}},
		{[]string{"max-snippet: 0"}, RobotsTag{NoSnippet: true}},
		{[]string{"unavailable_after: Sun, 25 Jun 2010 15:00:00 PST, noindex"}, RobotsTag{NoIndex: true}},
		{[]string{"max-snippet: 20, noindex"}, RobotsTag{NoIndex: true}},
		{[]string{"noindexed", ":", ",,"}, RobotsTag{}},
	}
	for _, tt := range tests {
		if got := HeaderRobotsTag(http.Header{"X-Robots-Tag": tt.values}, "SumiRipple"); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.values, got, tt.want)
		}
	}
}

func TestStructuredRobotsTag(t *testing.T) {
	tests := []struct {
		values []string
		want   RobotsTag
	}{
		{[]string{"*;noindex"}, RobotsTag{NoIndex: true}},
		{[]string{"*;NoSnippet, SumiRipple;nofollow;noarchive"}, RobotsTag{NoFollow: true, NoArchive: true, NoSnippet: true}},
		{[]string{"*;nosnippet", "sumiripple;noindex"}, RobotsTag{NoIndex: true, NoSnippet: true}},
		{[]string{"OtherBot;noindex, *;nofollow"}, RobotsTag{NoFollow: true}},
		{[]string{`"SumiRipple";none`}, RobotsTag{NoIndex: true, NoFollow: true}},
		{[]string{"*;noindex=?0;max-snippet=0"}, RobotsTag{NoSnippet: true}},
		{[]string{"*;max-snippet=20"}, RobotsTag{}},
		{[]string{"(*);noindex"}, RobotsTag{}},
		{[]string{"noindex, nofollow"}, RobotsTag{NoIndex: true, NoFollow: true}}, // as in an X-Robots-Tag
		{[]string{"otherbot: noindex", "sumiripple: noarchive"}, RobotsTag{NoArchive: true}},
		{[]string{"*;noindex", ";;="}, RobotsTag{NoIndex: true}},
	}
	for _, tt := range tests {
		if got := HeaderRobotsTag(http.Header{"Robots-Tag": tt.values}, "SumiRipple"); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.values, got, tt.want)
		}
	}
}

// An extractor carries nothing over to the next page.
func TestExtractorStartsAnew(t *testing.T) {
	base, self := testBase(t, testRules(t), "https://example.com/")
	e := NewExtractor(Options{Agent: "x"})
	e.Extract([]byte(`<title>t</title><base href=/b/><meta name=x content=noindex><nav><svg><a href=a>A`), "", base,
		self)
	got := e.Extract([]byte(`<title>u</title><a href=c>`), "text/html; charset=utf-8", base, self)
	want := NewExtractor(Options{}).Extract([]byte(`<title>u</title><a href=c>`), "text/html; charset=utf-8", base,
		self)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBaseOfOtherScheme reads pages that were saved from a disk or another server.
func TestBaseOfOtherScheme(t *testing.T) {
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	for src, want := range map[string]string{
		`<base href="file:///C:/site/"><a href=a.html>x</a><a href="https://o.test/">o</a>`:          "https://o.test/",
		`<base href="ftp://o.test/d/"><a href=a>x</a><a href=//o.test/b>y</a><a href=http://p.test>`: "https://p.test/",
		`<base href="data:text/html,x"><a href=a>x</a>`:                                              "https://example.com/dir/a",
		`<base href="javascript:x"><a href=a>x</a>`:                                                  "https://example.com/dir/a",
		`<base href="http://o.test/d/"><a href=a>x</a>`:                                              "https://o.test/d/a",
	} {
		p := NewExtractor(Options{}).Extract([]byte(src), "text/html", base, self)
		if len(p.Links) != 1 || p.Links[0].URL.Norm != want {
			t.Errorf("%s: %+v, want %s", src, p.Links, want)
		}
	}
}

// TestXHTML reads XML pages, in which a self-closing tag has no content.
func TestXHTML(t *testing.T) {
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	for _, tt := range []struct{ src, title, links string }{
		{`<head><title>T</title><script src="a.js"/></head><body><a href="/1">one</a></body>`, "T", "/1 body one"},
		{`<head><title/></head><body><iframe src="/0"/><a href="/1">one</a></body>`, "", "/1 body one"},
		{`<nav/><p>x<a href="/1"/> two</p><SCRIPT/><a href="/2">two</a>`, "", "/1 body , /2 body two"},
		{`<svg><g><a href="/1"/><title/></g></svg><script>"<a href='/3'/>"</script><a href=/2/>two`, "", "/1 body , /2 body two"},
		{`<template/><title>T</title><a href="/1">one<br/>line</a>`, "T", "/1 body one line"},
		{`<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title>T</h:title><h:script/></h:head><h:body><h:nav>` +
			`<h:a href="/1">one</h:a></h:nav></h:body></h:html>`, "T", "/1 nav one"},
		{`<html xmlns="http://www.w3.org/1999/xhtml"><head><title><![CDATA[a < b & c]]></title><script>//<![CDATA[` +
			`document.write('<script></script><a href="/0">no</a>');//]]></script></head><body><![CDATA[a > b <a href="/0">]]>` +
			`<a href="/1">one</a></body></html>`, "a < b & c", "/1 body one"},
		{`<x:html xmlns:x='http://www.w3.org/1999/xhtml' xmlns:y="y"><y:a href="/0">no</y:a><x:a href="/1">one</x:a></x:html>`, "",
			"/1 body one"},
	} {
		var links []string
		p := NewExtractor(Options{}).Extract([]byte(tt.src), "application/xhtml+xml; charset=utf-8", base, self)
		for _, l := range p.Links {
			links = append(links, strings.TrimPrefix(l.URL.Norm, "https://example.com")+" "+l.Place.String()+" "+l.Anchor)
		}
		if got := strings.Join(links, ", "); p.Title != tt.title || got != tt.links {
			t.Errorf("%s\ntitle %q, links %s; want %q, %s", tt.src, p.Title, got, tt.title, tt.links)
		}
	}
	const src = `<h1/><script/><p>text</p>`
	opt := Options{Extracts: []Extract{mustExtract(t, "x", "body > p", "")}}
	p := NewExtractor(opt).Extract([]byte(src), "application/xhtml+xml", base, self)
	if len(p.Facts) != 1 {
		t.Errorf("facts %v", p.Facts)
	}
}

// TestKindsOfPeople checks the kinds of links that say whose their target is, and which of them endorse it.
func TestKindsOfPeople(t *testing.T) {
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	const anchor, me, blogroll = 1 << schema.LinkAnchor, 1 << schema.LinkMe, 1 << schema.LinkBlogroll
	for _, tt := range []struct {
		body     string
		kinds    schema.Kinds
		endorses bool
	}{
		{`<link rel=me href=//o.test>`, me, false},
		{`<link rel="blogroll ME" href=//o.test>`, me | blogroll, false},
		{`<a rel=me href=//o.test>O</a>`, anchor | me, true},
		{`<map><area rel="me blogroll" href=//o.test></map>`, anchor | me | blogroll, true},
		{`<link rel=me href=//o.test><footer><a rel=me href=//o.test>O</a></footer>`, anchor | me, false},
		{`<link rel=me href=//o.test><footer><a href=https://www.o.test/>O</a></footer>`, anchor | me, false},
		{`<link rel=me href=//o.test><p><a href=//o.test>O</a>`, anchor | me, true},
		{`<a rel="me nofollow" href=//o.test>O</a>`, anchor | me, false},
	} {
		p := NewExtractor(Options{}).Extract([]byte(tt.body), "text/html", base, self)
		if len(p.Links) != 1 {
			t.Fatalf("%s: %+v", tt.body, p.Links)
		}
		l := p.Links[0]
		if got := (schema.Link{Kinds: l.Kinds, Rel: l.Rel, Place: l.Place}); l.Kinds != tt.kinds || got.Endorses() != tt.endorses {
			t.Errorf("%s: kinds %b, endorses: %v", tt.body, l.Kinds, got.Endorses())
		}
	}
}
