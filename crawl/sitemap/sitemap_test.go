package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"github.com/sumi-ripple/ripple/crawl/sitemap"
)

const base = "https://example.com/maps/sitemap.xml?page=1"

func day() time.Time { return time.Date(2024, 5, 17, 0, 0, 0, 0, time.UTC) }

// A fileRow is a sitemap and its expected content.
type fileRow struct {
	name, body string
	want       sitemap.File
}

// urlRows are lists of URLs.
func urlRows() []fileRow {
	return []fileRow{
		{"everything",
			urlset("<url><loc> https://example.com/a?b=1&amp;c=2\n</loc><lastmod>2024-05-17</lastmod>" +
				"<changefreq> Weekly </changefreq><priority>1</priority></url>"),
			urls(sitemap.Entry{Loc: "https://example.com/a?b=1&c=2", LastMod: day(), ChangeFreq: "weekly"})},
		{"fields before the URL",
			urlset("<url><changefreq>never</changefreq><lastmod>2024-05-17</lastmod><loc>/a</loc></url>"),
			urls(sitemap.Entry{Loc: "https://example.com/a", LastMod: day(), ChangeFreq: "never"})},
		{"not values", urlset("<url><loc>/a</loc><lastmod>yesterday</lastmod><changefreq>often</changefreq></url>"),
			urls(entry("/a"))},
		{"empty", urlset(""), sitemap.File{Kind: sitemap.URLSet}},
		{"relative", urlset(loc("a") + loc("/b") + loc("?c") + loc("//other.org/d") + loc("HTTP://other.org") +
			loc("../e")),
			urls(entry("/maps/a"), entry("/b"), entry("/maps/sitemap.xml?c"), sitemap.Entry{Loc: "https://other.org/d"},
				sitemap.Entry{Loc: "HTTP://other.org"}, entry("/maps/../e"))},
		{"no URL", urlset(loc("") + loc("#a") + loc("mailto:a@b.org") + loc("javascript:a") + loc("https://") +
			loc("//") +
			"<url/>" + loc(strings.Repeat("a", 9000)) + loc("/a")),
			urls(entry("/a"))},
		{"several in one", urlset("<url><loc>/a</loc><loc>/b</loc><changefreq>daily</changefreq></url>"),
			urls(entry("/a"), sitemap.Entry{Loc: "https://example.com/b", ChangeFreq: "daily"})},
	}
}

// damagedRows are damaged files that can still be read.
func damagedRows() []fileRow {
	return []fileRow{
		{"wrapped", urlset("<url><loc><url>/a</url></loc></url><url><loc><b>/b</b></loc></url>"),
			urls(entry("/a"), entry("/b"))},
		{"prefix", `<s:urlset xmlns:s="x"><s:url><s:loc>/a</s:loc><i:loc>/i.png</i:loc><loc>/no</loc></s:url></s:urlset>`,
			urls(entry("/a"))},
		{"upper case", `<URLSET><URL><LOC>/a</LOC></URL></URLSET>`, urls(entry("/a"))},
		{"CDATA", urlset(loc("<![CDATA[/a?b&c]]>")), urls(entry("/a?b&c"))},
		{"bare ampersand", urlset(loc("/a?b=1&copy=2&lang=3")), urls(entry("/a?b=1&copy=2&lang=3"))},
		{"comment within", urlset(loc("/a<!-- x -->b")), urls(entry("/ab"))},
		{"unclosed", urlset("<url><loc>/a<lastmod>2024-05-17<url><loc>/b</loc>"),
			urls(sitemap.Entry{Loc: "https://example.com/a", LastMod: day()}, entry("/b"))},
		{"damaged", urlset(loc("/a") + "<3 <!-- a -- b --> <a b='<'>" + loc("/b") + "<" + loc("/c")),
			urls(entry("/a"), entry("/b"), entry("/c"))},
		{"XML 1.1", `<?xml version="1.1"?>` + urlset(loc("/a")), urls(entry("/a"))},
		{"control characters", urlset(loc("\x00/a\x01") + loc("/b\xff")), urls(entry("/a"))},
		{"cut in a URL", "<urlset>" + loc("/a") + "<url><loc>/b", cutOff(entry("/a"))},
		{"cut in a tag", "<urlset>" + loc("/a") + "<url><loc>/b</lo", cutOff(entry("/a"), entry("/b"))},
		{"cut between", "<urlset>" + loc("/a"), cutOff(entry("/a"))},
		{"a warning first", "\nWarning: <b>mysql</b>\n<?xml version='1.0'?>" + urlset(loc("/a")), urls(entry("/a"))},
	}
}

// formatRows are files of all other formats.
func formatRows() []fileRow {
	return []fileRow{
		{"index", `<sitemapindex><sitemap><loc>/a.xml.gz</loc><lastmod>2024-05-17</lastmod></sitemap></sitemapindex>`,
			sitemap.File{Kind: sitemap.Index,
				Children: []sitemap.Entry{{Loc: "https://example.com/a.xml.gz", LastMod: day()}}}},
		{"both in one", `<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><url><loc>/a</loc></url></sitemapindex>`,
			sitemap.File{Kind: sitemap.Index, Children: []sitemap.Entry{entry("/a.xml")},
				Entries: []sitemap.Entry{entry("/a")}}},
		{"no loc", "<sitemapindex><sitemap>\nhttps://example.com/a.xml\n</sitemap><sitemap>b.xml</sitemap></sitemapindex>",
			sitemap.File{Kind: sitemap.Index, Children: []sitemap.Entry{entry("/a.xml")}}},
		{"text", "https://example.com/a\r\n\n# b\n  http://other.org/ \rhttps://example.com/c\nnothing",
			sitemap.File{Kind: sitemap.Text,
				Entries: []sitemap.Entry{entry("/a"), {Loc: "http://other.org/"}, entry("/c")}}},
		{"text with a byte order mark", "\ufeffhttps://example.com/a",
			sitemap.File{Kind: sitemap.Text, Entries: []sitemap.Entry{entry("/a")}}},
		{"text with an endless line", "http://" + strings.Repeat("a", 1<<20) + "\nhttps://example.com/a",
			sitemap.File{Kind: sitemap.Text, Entries: []sitemap.Entry{entry("/a")}}},
		{"RSS", `<rss><channel><link>/</link><image><url>/i.png</url></image><item><link>/a</link>` +
			`<atom:link href="/no"/><pubDate>Fri, 17 May 2024 02:00:00 +0200</pubDate><guid>/no</guid></item>` +
			`<item><guid>https://example.com/b</guid></item><item/></channel></rss>`,
			sitemap.File{Kind: sitemap.RSS, Entries: []sitemap.Entry{{Loc: "https://example.com/a", LastMod: day()},
				entry("/b")}}},
		{"RDF", `<rdf:RDF><item rdf:about="x"><link>/a</link><dc:date>2024-05-17</dc:date></item></rdf:RDF>`,
			sitemap.File{Kind: sitemap.RSS, Entries: []sitemap.Entry{{Loc: "https://example.com/a", LastMod: day()}}}},
		{"Atom", `<feed><link href="/"/><entry><link rel="self" href="/no"/><link href="/a"/>` +
			`<updated>2024-05-17T00:00:00Z</updated></entry>` +
			`<entry><link rel="alternate" href="/b"/><link href="/no"/></entry></feed>`,
			sitemap.File{Kind: sitemap.Atom, Entries: []sitemap.Entry{{Loc: "https://example.com/a", LastMod: day()},
				entry("/b")}}},
	}
}

// spellingRows have URLs in odd spellings, and elements that do not belong to sitemaps.
func spellingRows() []fileRow {
	const images = ` xmlns="http://www.google.com/schemas/sitemap-image/1.1"`
	const own = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" ` +
		`xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" ` +
		`xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">`
	text := func(entries ...sitemap.Entry) sitemap.File { return sitemap.File{Kind: sitemap.Text, Entries: entries} }
	return []fileRow{
		{"no scheme", urlset(loc("example.com/a") + loc("WWW.example.com/b") + loc("en.example.com") +
			loc("example.com:8443/c") +
			loc("other.org/d") + loc("a.html") + loc("v1.2/e") + loc(".well-known/f")),
			urls(entry("/a"), sitemap.Entry{Loc: "https://WWW.example.com/b"}, sitemap.Entry{Loc: "https://en.example.com"},
				sitemap.Entry{Loc: "https://example.com:8443/c"}, sitemap.Entry{Loc: "https://other.org/d"}, entry("/maps/a.html"),
				entry("/maps/v1.2/e"), entry("/maps/.well-known/f"))},
		{"bytes that are not UTF-8", urlset(loc("/caf\xe9") + loc("/b")), urls(entry("/b"))},
		{"lines that are not UTF-8", "https://example.com/caf\xe9\nhttps://example.com/b\n", text(entry("/b"))},
		{"scheme written twice", urlset(loc("https://https://example.com/a") + loc("http://https:/example.com/b") +
			loc(`https:\\example.com\c`)), urls(entry("/a"), entry("/b"), entry("/c"))},
		{"entities", "<!DOCTYPE urlset [<!ENTITY h 'https://example.com'>]>" + urlset(loc("&h;/a")+loc("/caf&eacute;")+
			loc("/c?x=1&y=2")), urls(entry("/café"), entry("/c?x=1&y=2"))},
		{"quoted", urlset(loc(`"https://example.com/a"`) + loc("'/b'") + loc("<![CDATA[<https://example.com/c>]]>") +
			loc("\u201chttps://example.com/d\u201d") + loc("https://example.com/e;")),
			urls(entry("/a"), entry("/b"), entry("/c"), entry("/d"), entry("/e"))},
		{"two in one",
			urlset(loc("https://example.com/a https://example.com/b\nHTTPS://example.com/c, http://example.com/d?u=x,https://e")),
			urls(entry("/a"), entry("/b"), sitemap.Entry{Loc: "HTTPS://example.com/c"},
				sitemap.Entry{Loc: "http://example.com/d?u=x,https://e"})},
		{"default namespace of images", own + "<url>" + loc("/a")[len("<url>"):len(loc("/a"))-len("</url>")] +
			"<image" + images +
			"><loc>/i.jpg</loc><image><loc>/j.jpg</loc></image></image><lastmod>2024-05-17</lastmod></url></urlset>",
			urls(sitemap.Entry{Loc: "https://example.com/a", LastMod: day()})},
		{"prefix of images", own +
			"<url><image:loc>/i</image:loc><image:image><loc>/j</loc></image:image><s:loc>/a</s:loc></url>" +
			"<image:url><loc>/k</loc></image:url><url><loc>/b</loc></url></urlset>", urls(entry("/a"), entry("/b"))},
		{"images left open", own + "<url><image" + images + "><loc>/i</loc></url><url><loc>/b</loc></url></urlset>",
			urls(entry("/b"))},
		{"a wrong namespace", `<urlset xmlns="x"><url><loc>/a</loc></url></urlset>`, urls(entry("/a"))},
		{"comma separated", "url,lastmod,priority\nhttps://example.com/a,2024-05-17,0.8\nhttps://example.com/b,x;y\n" +
			"\"https://example.com/c,d\",\"T\"\n7,https://example.com/e,daily\nhttps://example.com/f,\n",
			text(entry("/a"), entry("/b,x;y"), entry("/c,d"), entry("/e"), entry("/f"))},
		{"tabs and blanks", "https://example.com/a\t2024-05-17\nTitle\thttps://example.com/b\nhttps://example.com/c daily\n" +
			"https://example.com/d https://example.com/e\n<https://example.com/f>\nexample.com/g\n",
			text(entry("/a"), entry("/b"), entry("/c"), entry("/d"), entry("/e"), entry("/f"), entry("/g"))},
	}
}

// Sitemap lines of a robots.txt accept the same spellings.
func TestNamed(t *testing.T) {
	for value, want := range map[string][]string{
		"https://example.com/s.xml":                            {"https://example.com/s.xml"},
		"example.com/s.xml":                                    {"https://example.com/s.xml"},
		"www.example.com/s.xml":                                {"https://www.example.com/s.xml"},
		"cdn.example.net/s.xml":                                {"https://cdn.example.net/s.xml"},
		"'https://example.com/s.xml';":                         {"https://example.com/s.xml"},
		"<https://example.com/s.xml>":                          {"https://example.com/s.xml"},
		"https://example.com/1.xml, https://example.com/2.xml": {"https://example.com/1.xml", "https://example.com/2.xml"},
		"sitemap.xml":                                          {"https://example.com/sitemap.xml"},
		"/maps/1.xml":                                          {"https://example.com/maps/1.xml"},
		"maps/1.xml":                                           {"https://example.com/maps/1.xml"},
		"ftp://a.org/1":                                        nil,
		"\"\"":                                                 nil,
		"//a.org/s.xml":                                        {"https://a.org/s.xml"},
		"example.com":                                          {"https://example.com"},
		"sitemap.xml.gz":                                       {"https://example.com/sitemap.xml.gz"},
		"sitemap.php?a/b":                                      {"https://example.com/sitemap.php?a/b"},
		"https:/a.org/s.xml":                                   {"https://a.org/s.xml"},
		"https//a.org/s.xml":                                   {"https://a.org/s.xml"},
		`https:\\a.org\s.xml?a\b`:                              {`https://a.org/s.xml?a\b`},
		"https:///a.org/s.xml":                                 {"https://a.org/s.xml"},
		"http://https://a.org/s.xml":                           {"https://a.org/s.xml"},
		"Sitemap: https://a.org/s.xml":                         {"https://a.org/s.xml"},
		"[https://a.org/s.xml]":                                {"https://a.org/s.xml"},
		"[map](https://a.org/s.xml)":                           {"https://a.org/s.xml"},
		`<a href="https://a.org/s.xml">map</a>`:                {"https://a.org/s.xml"},
		"/go?to=https://a.org/s.xml":                           {"https://example.com/go?to=https://a.org/s.xml"},
		"go/https://a.org/s.xml":                               {"https://example.com/go/https://a.org/s.xml"},
	} {
		if got := sitemap.Named(value, "https://example.com/robots.txt"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range slices.Concat(urlRows(), damagedRows(), spellingRows(), formatRows()) {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sitemap.Parse([]byte(tt.body), base, "", sitemap.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, body := range []string{"", " \n", "no URL here", "<", "<html><body><url><loc>/a</loc></url>", "{}",
		"\x1f\x8b", "\x1f\x8bnot gzip",
		"<?xml version='1.0'?><a/>", "<!DOCTYPE a [", "\xff\xfe", "\x00<", gzipped(5, urlset(loc("/a")))} {
		if f, err := sitemap.Parse([]byte(body), base, "text/xml", sitemap.DefaultLimits()); !errors.Is(err,
			sitemap.ErrNotSitemap) || f.Kind != 0 {
			t.Errorf("%.40q: %+v, %v", body, f, err)
		}
	}
}

func TestParseEncodings(t *testing.T) {
	declared := func(encoding string) string { return `<?xml version="1.0" encoding="` + encoding + `"?>` }
	doc := urlset(loc("/ä"))
	latin, _ := charmap.ISO8859_1.NewEncoder().String(doc)
	cyrillic, _ := charmap.Windows1251.NewEncoder().String(urlset(loc("/ж")))
	tests := []struct{ name, body, contentType, want string }{
		{"UTF-8", declared("utf-8") + doc, "", "/ä"},
		{"UTF-8 with a mark, declared otherwise", "\ufeff" + declared("iso-8859-1") + doc, "", "/ä"},
		{"Latin 1 by declaration", declared("ISO-8859-1") + latin, "application/xml", "/ä"},
		{"Latin 1 by content type", latin, "text/xml; charset=iso-8859-1", "/ä"},
		{"content type before declaration", declared("iso-8859-1") + cyrillic, `text/xml; charset="windows-1251"`,
			"/ж"},
		{"content type with faults", cyrillic, `text/xml;; x; charset="windows-1251`, "/ж"},
		{"content type said twice", cyrillic, "text/xml; charset=windows-1251, text/xml", "/ж"},
		{"unknown", declared("x-klingon") + doc, "text/xml; charset=none", "/ä"},
		{"UTF-16 with a mark", utf16le("\ufeff" + declared("utf-16") + doc), "", "/ä"},
		{"UTF-16 without", utf16le(doc), "", "/ä"},
		{"UTF-16 claimed", declared("utf-16") + doc, "", "/ä"},
		{"gzip", gzipped(1, declared("iso-8859-1")+latin), "application/gzip", "/ä"},
		{"gzip in gzip", gzipped(2, doc), "", "/ä"},
		{"gzip after gzip", gzipped(1, doc[:20]) + gzipped(1, doc[20:]), "", "/ä"},
		{"gzip and garbage", gzipped(1, doc) + "garbage", "", "/ä"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sitemap.Parse([]byte(tt.body), base, tt.contentType, sitemap.DefaultLimits())
			if diff := cmp.Diff(urls(entry(tt.want)), got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

// A date is a spelling of a date in a sitemap, and its meaning.
type date struct {
	in   string
	want time.Time
}

func dates() []date {
	at := func(h, m, s int) time.Time { return time.Date(2024, 5, 17, h, m, s, 0, time.UTC) }
	return []date{
		{"2024", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"2024-05", time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)},
		{"2024-05-17", at(0, 0, 0)},
		{"2024-05-17T10:20Z", at(10, 20, 0)},
		{"2024-05-17T10:20+01:00", at(9, 20, 0)},
		{"2024-05-17T10:20:30+01:00", at(9, 20, 30)},
		{"2024-05-17T10:20:30.45Z", at(10, 20, 30).Add(450 * time.Millisecond)},
		{"2024-05-17t10:20:30z", at(10, 20, 30)},
		{"2024-05-17T10:20:30", at(10, 20, 30)},
		{"2024-05-17 10:20:30", at(10, 20, 30)},
		{"2024-05-17T10:20:30+0100", at(9, 20, 30)},
		{"2024-05-17 10:20:30 +0100", at(9, 20, 30)},
		{"2024-05-17 10:20:30 UTC", at(10, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 GMT", at(10, 20, 30)},
		{"Mon, 17 May 2024 10:20:30 +0100", at(9, 20, 30)},
		{"17 May 24 10:20 +0000", at(10, 20, 0)},
		{"17 may 2024", at(0, 0, 0)},
		{"Fri, 17 May 2024 10:20:30 UT", at(10, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 Z", at(10, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 EST", at(15, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 edt", at(14, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 CST", at(16, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 CDT", at(15, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 MST", at(17, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 MDT", at(16, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 PST", at(18, 20, 30)},
		{"Fri, 17 May 24 10:20 PDT", at(17, 20, 0)},
		{"Fri, 17 May 2024 10:20:30 A", at(10, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 XYZT", at(10, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 CEST", at(10, 20, 30)}, // the zone this test is in
		{"Fri, 17 May 2024 10:20:30 -0130", at(11, 50, 30)},
		{"Fri, 17 May 2024 10:20:30 +01:30", at(8, 50, 30)},
		{"Fri, 17 May 2024 10:20:30 +01", at(9, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 GMT+0100", at(9, 20, 30)},
		{"Fri, 17 May 2024 10:20:30 -0700 (PDT)", at(17, 20, 30)},
		{"Fri,17 May 2024 10:20:30", at(10, 20, 30)},
		{"Friday, 17 June 2024 10:20:30 GMT", at(10, 20, 30).AddDate(0, 1, 0)},
		{"Fri 17 May 2024 10:20:30 PST", at(18, 20, 30)},
		{"2024-05-17T10:20:30 EST", at(15, 20, 30)},
		{"2024-05-17 10:20 CEST", at(10, 20, 0)},
		{"2024-05-17T10:20:30+01", at(9, 20, 30)},
		{"17 May 2024 (a (nested \\) comment) here) 10:20:30 EST", at(15, 20, 30)},
		{"17 May 2024 10 : 20 :30 EST", at(15, 20, 30)},
		{"16 May 2024 18:59:60 EST", at(0, 0, 0)}, // a leap second
		{"2024-05-16T23:59:60Z", at(0, 0, 0)},
		{"17 May 124 10:20:30 GMT", at(10, 20, 30)}, // three-digit years count from 1900
		{"17 May 50 00:00:00 GMT", time.Date(1950, 5, 17, 0, 0, 0, 0, time.UTC)},
		{"17 May 49 00:00:00 GMT", time.Date(2049, 5, 17, 0, 0, 0, 0, time.UTC)},
		{"Fri, 17 May 2024 10:20:30 +9900", time.Time{}},
		{"Fri, 17 May 2024 10:20:30 +", time.Time{}},
		{"Fri, 17 May 2024 10:20:30 1 2", time.Time{}},
		{"2024-13-45", time.Time{}},
		{"0000-00-00", time.Time{}},
		{"now", time.Time{}},
		{"", time.Time{}},
		{strings.Repeat("2024", 1000), time.Time{}},
	}
}

func TestDates(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	machine := time.Local
	time.Local = zone
	defer func() { time.Local = machine }()
	for _, tt := range dates() {
		f, err := sitemap.Parse([]byte(urlset("<url><loc>/a</loc><lastmod>"+tt.in+"</lastmod></url>")), base, "",
			sitemap.DefaultLimits())
		if err != nil || f.Entries[0].LastMod != tt.want {
			t.Errorf("%q: %v, %v; want %v", tt.in, f.Entries, err, tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	var many strings.Builder
	for i := range 100 {
		many.WriteString(loc(fmt.Sprint("https://example.com/", i)))
	}
	body := urlset(many.String())
	tests := []struct {
		name  string
		body  string
		limit sitemap.Limits
		want  int
		cut   bool
	}{
		{"all", body, sitemap.Limits{Entries: 100}, 100, false},
		{"entries", body, sitemap.Limits{Entries: 99}, 99, true},
		{"text entries", strings.Repeat("https://example.com/\n", 100), sitemap.Limits{Entries: 99}, 99, true},
		{"all text entries", strings.Repeat("https://example.com/\n", 100), sitemap.Limits{Entries: 100}, 100, false},
		{"bytes", body, sitemap.Limits{Bytes: int64(len("<urlset>")) + 3*int64(len(loc("https://example.com/1")))}, 3,
			true},
		{"bytes of text", strings.Repeat("https://example.com/\n", 100), sitemap.Limits{Bytes: 42}, 2, true},
		{"bytes in the middle of a line", strings.Repeat("https://example.com/\n", 100), sitemap.Limits{Bytes: 55}, 2, true},
		{"bytes within gzip", gzipped(1, body), sitemap.Limits{Bytes: 1000}, 23, true},
		{"bytes of URLs that their file leaves out", urlset(strings.Repeat(loc("x"), 100)),
			sitemap.Limits{Bytes: 2500}, 2500/len("https://example.com/maps/x") + 1, true},
		{"cut gzip", gzipped(1, body)[:150], sitemap.Limits{}, -1, true},
	}
	for _, tt := range tests {
		f, err := sitemap.Parse([]byte(tt.body), base, "", tt.limit)
		if err != nil || f.Truncated != tt.cut || tt.want >= 0 && len(f.Entries) != tt.want {
			t.Errorf("%s: %d entries, truncated %v, %v; want %d, %v", tt.name, len(f.Entries), f.Truncated, err,
				tt.want, tt.cut)
		}
	}
}

func TestKindString(t *testing.T) {
	var got []string
	for k := range sitemap.Atom + 2 {
		got = append(got, k.String())
	}
	if diff := cmp.Diff([]string{"unknown", "urlset", "index", "text", "rss", "atom", "unknown"}, got); diff != "" {
		t.Error(diff)
	}
}

// Without a usable base relative URLs are skipped and absolute ones kept.
func TestNoBase(t *testing.T) {
	for _, base := range []string{"", "/a", "ftp://example.com/", "https://[", "https:///a"} {
		f, err := sitemap.Parse([]byte(urlset(loc("/a")+loc("https://example.com/b"))), base, "",
			sitemap.DefaultLimits())
		if err != nil || len(f.Entries) != 1 {
			t.Errorf("%q: %+v, %v", base, f, err)
		}
	}
}

func urlset(entries string) string { return "<urlset>" + entries + "</urlset>" }

func loc(url string) string { return "<url><loc>" + url + "</loc></url>" }

func entry(path string) sitemap.Entry { return sitemap.Entry{Loc: "https://example.com" + path} }

func urls(entries ...sitemap.Entry) sitemap.File {
	return sitemap.File{Kind: sitemap.URLSet, Entries: entries}
}

func cutOff(entries ...sitemap.Entry) sitemap.File {
	return sitemap.File{Kind: sitemap.URLSet, Entries: entries, Truncated: true}
}

func gzipped(times int, s string) string {
	for range times {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(s))
		w.Close()
		s = b.String()
	}
	return s
}

func utf16le(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}
