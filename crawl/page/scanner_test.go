package page

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// An event is something that scanner and tokenizer must agree on: a tag with its relevant attributes, or a
// piece of text as written.
type event struct {
	kind  string
	text  string
	attrs string
}

// A context is information that only a parser has, for the tokenizer.
type context struct {
	markup []bool       // for each element whose content is text in HTML: whether it belongs to SVG or MathML
	cdata  map[int]bool // positions where CDATA sections are text
}

// scanEvents returns the events of the scanner, with adjacent texts joined, and the context in which it read.
func scanEvents(src []byte) (events []event, in context) {
	in.cdata = make(map[int]bool)
	var s scanner
	s.reset(src)
	s.keepText = true
	for {
		switch s.next() {
		case tokenEOF:
			return joinTexts(events), in
		case tokenText:
			if s.literal {
				in.cdata[cap(src)-cap(s.text)-len(cdata)] = true
			}
			events = append(events, event{kind: "text", text: string(s.text)})
		case tokenEnd:
			events = append(events, event{kind: fmt.Sprint("end ", s.tag)})
		case tokenStart:
			ev := event{kind: fmt.Sprint("start ", s.tag)}
			if s.tag.hasUse() {
				values := make(map[attr]string)
				for name := range attrNone {
					if value, ok := s.attrs.get(name); ok {
						values[name] = attributeValue(string(value))
					}
				}
				ev.attrs = fmt.Sprintf("%q", values)
			}
			if s.tag.isRaw() {
				in.markup = append(in.markup, s.raw == nil)
			}
			events = append(events, ev, event{kind: "text", text: string(s.raw)})
		}
	}
}

// tokenEvents returns the events of the tokenizer of x/net/html for the same input in that context.
func tokenEvents(src []byte, in context) []event {
	z := html.NewTokenizer(bytes.NewReader(src))
	var events []event
	for at := 0; ; {
		isCDATA := in.cdata[at]
		z.AllowCDATA(isCDATA)
		kind := z.Next()
		raw := string(z.Raw())
		at += len(raw)
		if isCDATA {
			raw = strings.TrimSuffix(strings.TrimPrefix(raw, cdata), "]]>")
		}
		switch kind {
		case html.ErrorToken:
			return joinTexts(events)
		case html.TextToken:
			events = append(events, event{kind: "text", text: raw})
		case html.EndTagToken:
			name, _ := z.TagName()
			events = append(events, event{kind: fmt.Sprint("end ", tagOf(name))})
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			t := tagOf(name)
			if t.isRaw() && len(in.markup) > 0 {
				if in.markup[0] {
					z.NextIsNotRawText()
				}
				in.markup = in.markup[1:]
			}
			if string(name) == "noscript" {
				z.NextIsNotRawText()
			}
			ev := event{kind: fmt.Sprint("start ", t)}
			values := make(map[attr]string)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if _, ok := values[attrOf(key)]; !ok && attrOf(key) != attrNone {
					values[attrOf(key)] = string(value)
				}
			}
			if t.hasUse() {
				ev.attrs = fmt.Sprintf("%q", values)
			}
			events = append(events, ev)
		}
	}
}

func joinTexts(events []event) []event {
	var joined []event
	for _, ev := range events {
		switch n := len(joined); {
		case ev.kind != "text":
			joined = append(joined, ev)
		case ev.text == "":
		case n > 0 && joined[n-1].kind == "text":
			joined[n-1].text += ev.text
		default:
			joined = append(joined, ev)
		}
	}
	return joined
}

// FuzzScanner: the scanner yields the same tags, attributes and text as x/net/html.
func FuzzScanner(f *testing.F) {
	for _, s := range scannerSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(agree)
}

// agree fails if the scanner and the tokenizer disagree on src.
func agree(t *testing.T, src []byte) {
	got, in := scanEvents(src)
	want := tokenEvents(src, in)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%q: at %d\n got %+v\nwant %+v", src, i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

// TestScannerOnFragments checks the same on random sequences of HTML fragments, which reach deeper than
// random bytes.
func TestScannerOnFragments(t *testing.T) {
	fragments := []string{
		"<", "</", "<!", "<!--", "-", "--", "-->", "--!>", ">", "/>", "/", "'", `"`, "=", " ", "\n", "\r\n", "\x00",
		"é", "\xff", "!", "?", "x",
		"<a", "<A ", "</a>", "<img", "<base", "<meta ", "<link ", "<svg", "</svg>", "<p>", "href", "HREF=",
		" content='", ` alt="`, " rel=x",
		"<g>", "<style/>", "<font color=x>", "<math>", "</math>", "]", "<script", "</script", "<SCRIPT>", "</Script>",
		"script>", "<title", "</title>", "<style>", "</style", "<textarea>", "</textarea\t>",
		"<noscript>", "<iframe", "</iframe>", "<xmp>", "</xmp/", "<!DOCTYPE ", "<![CDATA[", "]]>", "&amp;", "&copy",
		"&", ";", "#x41", "&notin;", "xlink:href",
	}
	agreeOnRows(t, "", fragments)
}

// Scripts end by special rules.
func TestScannerOnScripts(t *testing.T) {
	agreeOnRows(t, "<script>", []string{"<!--", "<!", "-", "--", ">", "-->", "<", "x", "/", " ", "<script>", "<script",
		"<SCRIPT ",
		"</script>", "</script", "</Script ", "script", "</scripty>", "<a>"})
}

func agreeOnRows(t *testing.T, start string, fragments []string) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		src := []byte(start)
		for range 1 + rng.IntN(25) {
			src = append(src, fragments[rng.IntN(len(fragments))]...)
		}
		agree(t, src)
	}
}

func scannerSeeds() []string {
	return []string{
		`<!DOCTYPE html><title>a &amp; b</title><a href="x?a=1&amp;b=2" rel=nofollow>t<b>u</b></a>`,
		`<a href=x/><a href='y"z' href=w><a / href = "v" =a=b><a href><a href=>x`,
		`<!-->a<!--->b<!-- <a href=x> -->c<!--x--!>d<!--x--!-->e<!--x--!->f-->`,
		`<!>a<!a>b<?x>c</>d</ a>e</a b='>'>f<!DOCTYPE`,
		`<script>"<a href=x>"<!-- <script> </script> </script> --></script><a href=y>`,
		`<script><!-- < </script><a><script><!--<script </script>--></script><script><!--></script>`,
		`<script><!-- -<</script>x<SCRIPT><!--<ScRiPt>-</script>-></script>y`,
		`<title>a</titl></ti</title ><title>x</title`,
		`<textarea><a href=x></textarea><xmp><a></xmp><iframe><a></iframe><noframes><a></noframes>`,
		`<noscript><a href=x></noscript><style><a></style><plaintext><a></plaintext>`,
		`<svg a=1/><title><a href=x></title></svg><svg/><title><b></title>`,
		`<svg><style><a href=x><![CDATA[</style><a href=y>]]]></style><script>"</svg><a href=z>"</script><style></style>`,
		`<svg><font size=1><style><a href=x></style><svg><font><style><a href=y></style><math><![CDATA[`,
		"<a\nhref\t=\f'x\r\ny\r'>\x00</a\x00><a hr\x00ef=\x00><a\x00b>",
		`<a href="&copy=1&copy&copyx&copy;&semi;&notit;&notin;&#65&#x;&#xD800;&ampx&amp=&nGt;">`,
		`a<`, `a</`, `a</b`, `<a href="x`, `<a href=x`, `a < b << c <<a>`, `<svg a=1 a=2/><title><a>`,
	}
}
