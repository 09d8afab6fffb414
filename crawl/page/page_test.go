package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema"
)

// extract reads a page of https://example.com/dir/page.
func extract(t testing.TB, src string, opt Options) Page {
	t.Helper()
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	return NewExtractor(opt).Extract([]byte(src), "text/html; charset=utf-8", base, self)
}

// A row is a link in short: identity, kinds, rel, place, anchor, count.
type row struct {
	Norm   string
	Kind   schema.LinkKind
	Rel    schema.Rel
	Place  schema.Place
	Anchor string
	Count  int
}

func rows(links []Link) []row {
	var list []row
	for _, l := range links {
		list = append(list, row{l.URL.Norm, l.Kind, l.Rel, l.Place, l.Anchor, l.Count})
	}
	return list
}

func TestLinks(t *testing.T) {
	const dir = "https://example.com/dir/"
	anchor := func(norm, text string) row {
		return row{norm, schema.LinkAnchor, 0, schema.PlaceBody, text, 1}
	}
	tests := []struct {
		name, in string
		want     []row
	}{
		{"plain", `<a href=a>A</a> <A HREF='b'>B</A>`, []row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
		{"area", `<map><area href=a alt="the &eacute;tage">`, []row{anchor(dir+"a", "the étage")}},
		{"canonical", `<link rel="x Canonical" href="/c"><link rel=stylesheet href=s>`,
			[]row{{"https://example.com/c", schema.LinkCanonical, 0, schema.PlaceBody, "", 1}}},
		{"frame, not iframe", `<frameset><frame src=f><iframe src=i></iframe>`,
			[]row{{dir + "f", schema.LinkFrame, 0, schema.PlaceBody, "", 1}}},
		{"refresh", `<meta http-equiv=Refresh content="0; URL='r?a=1&amp;b'">`,
			[]row{{dir + "r?a=1&b", schema.LinkRefresh, 0, schema.PlaceBody, "", 1}}},
		{"refresh of itself", `<meta http-equiv=refresh content=30>`, nil},
		{"noscript and template", `<noscript><a href=a>A</a></noscript><template><a href=b>B</a></template>`,
			[]row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
		{"text is no markup", `<script>"<a href=a>"</script><style><a href=b></style><textarea><a href=c></textarea>` +
			`<!-- <a href=d> --><iframe><a href=e></iframe><xmp><a href=f></xmp><title><a href=g></title>`, nil},
		{"svg", `<svg><title>x</title><a xlink:href=a>A</a><a href=b xlink:href=c>B</a></svg><a xlink:href=d>D</a>`,
			[]row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
		{"no links", `<a href=a download>A</a><a href=" JavaScript:x">J</a><a href=mailto:x@y>M</a><a href=tel:1>` +
			`<a href=data:,x><a href=ftp://x/><a href="java&#10;script:x"><a name=x>`, nil},
		{"itself", `<a href="">1</a><a href=#x>2</a><a href=page>3</a><a href=//www.example.com/dir/page/>4</a>`, nil},
		{"base for earlier links too, the first with href", `<a href=a>A</a><base target=x><base href=/b/><base href=/c/>`,
			[]row{anchor("https://example.com/b/a", "A")}},
		{"bad base", `<base href="https://[/"><a href=a>A</a>`, []row{anchor(dir+"a", "A")}},
		{"base without a URL", `<base href="data:,x"><a href=a>A</a>`, []row{anchor(dir+"a", "A")}},
		{"merged", `<nav><a href=a rel="nofollow ugc"></a></nav><main><a href=./a rel=nofollow>one</a></main><a href="a#x" rel=NoFollow>two</a>`,
			[]row{{dir + "a", schema.LinkAnchor, schema.RelNofollow, schema.PlaceMain, "one", 3}}},
		{"rel of one spelling", `<a href=a rel="nofollow sponsored">A</a><a href=a rel=sponsored>A</a>`,
			[]row{{dir + "a", schema.LinkAnchor, schema.RelSponsored, schema.PlaceBody, "A", 2}}},
		{"first anchor in document order", `<a href=a></a><a href=./a>one</a><a href=a>two</a>`,
			[]row{{dir + "a", schema.LinkAnchor, 0, schema.PlaceBody, "one", 2 + 1}}},
		{"kinds", `<a href=a>x</a><link rel=canonical href=a>`,
			[]row{{dir + "a", schema.LinkCanonical, 0, schema.PlaceBody, "x", 2}}},
		{"a link in a link ends it", `<a href=a>A<a href=b>B</a>C</a>`, []row{anchor(dir+"a", "A"), anchor(dir+"b", "B")}},
		{"anchor text", "<a href=a> <b>x</b>y\n<br>z&nbsp;&amp;<!-- no --> <script>no</script>w</a>", []row{anchor(dir+"a", "xy z & w")}},
		{"alt", `<a href=a> <img alt=""><img alt=one><img alt=two></a><a href=b><img alt=no>B</a>`,
			[]row{anchor(dir+"a", "one"), anchor(dir+"b", "B")}},
		{"hidden characters", "<a href=a>a\x00b\u202e&#x1b;[31m&#x202e;c\ufffe</a>", []row{anchor(dir+"a", "ab[31mc")}},
		{"entities in attributes", `<a href="x?a=1&copy=2&amp;b=&eacute;">x</a>`, []row{anchor(dir+"x?a=1&b=%C3%A9&copy=2", "x")}},
		{"cut off tag", `<a href=a>A</a><a href=b`, []row{anchor(dir+"a", "A")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rows(extract(t, tt.in, Options{}).Links)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	tests := []struct {
		in   string
		want schema.Place
	}{
		{`<a href=x>`, schema.PlaceBody},
		{`<main><a href=x>`, schema.PlaceMain},
		{`<main><aside><div><a href=x>`, schema.PlaceAside},
		{`<footer><nav></nav><a href=x>`, schema.PlaceFooter},
		{`<header><nav><section><a href=x>`, schema.PlaceNav},
		{`<div><nav></div><a href=x>`, schema.PlaceBody},
		{`<main><nav><div></nav><a href=x>`, schema.PlaceMain},
		{`<nav></div></main></section><a href=x>`, schema.PlaceNav},
		{`<NAV/><a href=x>`, schema.PlaceNav},
		{`<nav><a href=x></a></nav><header><a href=x></a></header>`, schema.PlaceHeader},
	}
	for _, tt := range tests {
		links := extract(t, tt.in, Options{}).Links
		if len(links) != 1 || links[0].Place != tt.want {
			t.Errorf("%s: %+v, want place %v", tt.in, links, tt.want)
		}
	}
}

func TestTitle(t *testing.T) {
	tests := []struct{ in, want string }{
		{"<title> a\n&amp;\t<b>b </title><title>c</title>", "a & <b>b"},
		{"<svg><title>logo</title></svg><title>page</title>", "page"},
		{"<title></title><title>second</title>", ""},
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
	page := extract(t, `<a href=/a/><a href=/a><a href=http://www.example.com/a><a href=/a?><a href=/a?ref=x>`, Options{})
	want := []string{"https://example.com/a", "https://www.example.com/a", "https://example.com/a?"}
	if len(page.Links) != 1 || page.Links[0].URL.Form != "https://example.com/a/" {
		t.Fatalf("%+v", page.Links)
	}
	if diff := cmp.Diff(want, page.Links[0].Forms); diff != "" {
		t.Error(diff)
	}
	if page.Links[0].URL.HTTP || page.Links[0].Count != 5 {
		t.Errorf("by http alone: %t, %d mentions", page.Links[0].URL.HTTP, page.Links[0].Count)
	}
}

// TestHTTP: a link is by http where every mention of its target is.
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
	page := extract(t, `<a href=a>A<a href=b>B<a href=a>C<a href="a#x">D<a href="http://[">E<a href="x&#1;y">F<a href=c>`, Options{MaxLinks: 1})
	want := []row{{"https://example.com/dir/a", schema.LinkAnchor, 0, schema.PlaceBody, "A", 3}}
	if diff := cmp.Diff(want, rows(page.Links)); diff != "" {
		t.Error(diff)
	}
	// Of the six spellings four are kept; the last two are counted unread.
	if page.Distinct != 4 || page.Dropped != 1 {
		t.Errorf("distinct %d, dropped %d; want 4, 1", page.Distinct, page.Dropped)
	}
}

func TestRobotsMeta(t *testing.T) {
	tests := []struct {
		in   string
		want RobotsTag
	}{
		{``, RobotsTag{}},
		{`<meta name=robots content="noindex, NoFollow">`, RobotsTag{NoIndex: true, NoFollow: true}},
		{`<meta name=ROBOTS content=none><meta name=robots content=noarchive>`, RobotsTag{true, true, true}},
		{`<meta name=robots content=all>`, RobotsTag{}},
		{`<meta name=googlebot content=noindex>`, RobotsTag{}},
		{`<meta name=robots content=noindex><meta name=sumiripple content=noarchive>`, RobotsTag{NoArchive: true}},
		{`<meta name=sumiripple content=index><meta name=robots content=noindex>`, RobotsTag{}},
	}
	for _, tt := range tests {
		p := extract(t, tt.in, Options{Agent: "SumiRipple"})
		if got := (RobotsTag{p.NoIndex, p.NoFollow, p.NoArchive}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestParseRobotsTag(t *testing.T) {
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
		{[]string{"noindex", "SumiRipple: index"}, RobotsTag{}},
		{[]string{"unavailable_after: Sun, 25 Jun 2010 15:00:00 PST, noindex"}, RobotsTag{NoIndex: true}},
		{[]string{"max-snippet: 20, noindex"}, RobotsTag{NoIndex: true}},
		{[]string{"noindexed", ":", ",,"}, RobotsTag{}},
	}
	for _, tt := range tests {
		if got := ParseRobotsTag(tt.values, "SumiRipple"); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.values, got, tt.want)
		}
	}
}

func TestRefreshTarget(t *testing.T) {
	tests := []struct{ in, want string }{
		{"0;url=a", "a"}, {"5", ""}, {"5;", ""}, {" 1.5 , URL = 'a b' x", "a b"}, {"0 url=a", "a"},
		{"0;a", "a"}, {`0;"a`, "a"}, {"0;url", "url"}, {"0;urla", "urla"}, {"x;url=a", ""}, {"", ""}, {"0url=a", ""}, {"url=a", ""},
	}
	for _, tt := range tests {
		if got := string(refreshTarget([]byte(tt.in))); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// An extractor keeps nothing of one page for the next.
func TestExtractorStartsAnew(t *testing.T) {
	base, self := testBase(t, testRules(t), "https://example.com/")
	e := NewExtractor(Options{Agent: "x"})
	e.Extract([]byte(`<title>t</title><base href=/b/><meta name=x content=noindex><nav><svg><a href=a>A`), "", base, self)
	got := e.Extract([]byte(`<title>u</title><a href=c>`), "text/html; charset=utf-8", base, self)
	want := NewExtractor(Options{}).Extract([]byte(`<title>u</title><a href=c>`), "text/html; charset=utf-8", base, self)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
