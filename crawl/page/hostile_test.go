package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/process"
)

// shapeSize returns the size of a hostile page in bytes.
func shapeSize() int {
	if process.Race {
		return 500_000
	}
	return 5_000_000
}

// fill repeats a piece up to shapeSize.
func fill(piece string) string { return strings.Repeat(piece, shapeSize()/len(piece)) }

// count writes numbered pieces up to shapeSize.
func count(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < shapeSize(); i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// adversarial returns shapes that cost some HTML parser more than their size. Each is followed by a link,
// which is found unless the shape swallows it.
func adversarial() map[string]string {
	return map[string]string{
		"nested divs":            fill("<div>"),
		"nested navs":            fill("<nav>") + "</div>",
		"navs and stray ends":    fill("<nav></main><div></aside>"),
		"formatting elements":    fill("<b><i><p>"),
		"formatting ended apart": fill("<a><b></a>"),
		"tables":                 fill("<table><td>"),
		"unknown elements":       count("<x%d>"),
		"less-than signs":        fill("<"),
		"ends of nothing":        fill("</"),
		"open tags":              fill("<a "),
		"quotes":                 fill(`<a href="`) + `">`,
		"one attribute":          `<a title="` + fill("x") + `">x</a>`,
		"one name":               "<" + fill("x") + ">",
		"attributes":             "<p " + count("a%d=1 ") + ">",
		"empty attributes":       "<p " + fill("= /") + ">",
		"comments":               fill("<!-->"),
		"comment ends":           "<!--" + fill("--!x>-") + "-->",
		"script comments":        fill("<script><!--<script>-</script>--></script>"),
		"script ends":            "<script>" + fill("</scrip") + "</script>",
		"title ends":             "<title>" + fill("</titl<") + "</title>",
		"entities in text":       "<a href=y>" + fill("&notanentity&#x41;") + "</a>",
		"entities in hrefs":      count("<a href='?&Aacut&copyx&%d'>x</a>"),
		"one anchor":             "<a href=y>" + fill(" \n<br>") + "</a>",
		"anchors":                fill("<a href=y>") + "x",
		"distinct links":         count("<a href=%d>"),
		"one target":             count("<a href='y?utm_x=%d'>t</a>"),
		"metas":                  count("<meta name=robots content='noindex,%d'>"),
		"refreshes":              count("<meta http-equiv=refresh content='0;url=%d'>"),
		"bases":                  fill("<base href=/b/>"),
		"svgs":                   fill("<svg><title>"),
		"NULs":                   fill("\x00<\x00a\x00"),
		"mounts":                 fill(`<div id="my-app-root"></div>`),
		"noscripts":              fill("<noscript>JavaScript</noscript>"),
		"scripts":                count(`<script src="//h%d.example/"></script>`),
		"inline scripts":         fill("<script>import</script>"),
		"roles":                  count("<x%d role=main>"),
		"roles followed":         "<i role=main>" + fill("<i></b><b role=navigation><u>"),
		"long role":              "<div role='" + fill("note ") + "'>",
		"long rel":               "<a href=y rel='" + fill("nofollow ") + "'>x</a>",
	}
}

func TestHostileShapes(t *testing.T) {
	const limit, memory = time.Second, 64 << 20 // quadratic work takes many seconds
	base, self := testBase(t, testRules(t), "https://example.com/")
	swallowed := []string{"ends of nothing", "open tags", "quotes"}
	for name, shape := range adversarial() {
		t.Run(name, func(t *testing.T) {
			// This makes shellOf read the page again.
			body := []byte(`<script src=/s></script>` + shape + `<a href=/last>last</a>`)
			var p Page
			var full bool
			took, allocated := cost(limit, func() {
				e := NewExtractor(Options{})
				p = e.Extract(body, "text/html; charset=utf-8", base, self)
				full = len(p.Links) == config.DefaultLinks || len(e.ledger.hrefs) == e.ledger.limit
			})
			checkPage(t, &p)
			if n := len(p.Links); !full && !slices.Contains(swallowed, name) &&
				(n == 0 || p.Links[n-1].URL.Norm != "https://example.com/last") {
				t.Errorf("the last link is not found among %d", n)
			}
			t.Logf("%v, %d KiB", took, allocated>>10)
			if took > limit && !process.Race {
				t.Errorf("took %v", took)
			}
			if allocated > memory {
				t.Errorf("allocated %d MiB", allocated>>20)
			}
		})
	}
}

// Links relative to a long base take no memory beyond the limit on links.
func TestLongBase(t *testing.T) {
	const most = 128 << 20 // the kept links take half of it
	base, self := testBase(t, testRules(t), "https://example.com/")
	body := []byte("<base href=/" + strings.Repeat("b/", 1000) + ">" + count("<a href=%d>"))
	var p Page
	_, allocated := cost(time.Second, func() {
		p = NewExtractor(Options{}).Extract(body, "text/html; charset=utf-8", base, self)
	})
	if len(p.Links) != config.DefaultLinks || p.Distinct < 3*config.DefaultLinks || allocated > most {
		t.Errorf("%d links of %d, %d MiB", len(p.Links), p.Distinct, allocated>>20)
	}
}

// cost returns the processor time of f, and the bytes it allocates. Since a busy machine is slower now and
// then, a run over the limit is repeated.
func cost(limit time.Duration, f func()) (took time.Duration, allocated uint64) {
	took = time.Hour
	for tries := 0; tries < 20 && took > limit; tries++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := process.CPUTime()
		f()
		took = min(took, process.CPUTime()-start)
		runtime.ReadMemStats(&after)
		allocated = after.TotalAlloc - before.TotalAlloc
	}
	return took, allocated
}

// checkPage checks the limits of every text.
func checkPage(t testing.TB, p *Page) {
	t.Helper()
	checkText(t, "title", p.Title, titleLength)
	for _, l := range p.Links {
		checkText(t, "anchor", l.Anchor, anchorLength)
		if l.Kinds == 0 || len(l.Forms) > 4+schema.MaxOwnForms {
			t.Fatalf("bad link %+v", l)
		}
	}
	for _, f := range p.Facts {
		checkText(t, "fact", f.Value, factLength)
	}
	if p.Distinct < len(p.Links) || len(p.Facts) > maxFacts {
		t.Fatalf("%d links of %d, %d facts", len(p.Links), p.Distinct, len(p.Facts))
	}
}

func checkText(t testing.TB, what, s string, runes int) {
	t.Helper()
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > runes {
		t.Fatalf("%s is not valid or too long: %q", what, s)
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == 0x202e || r == 0xfffe {
			t.Fatalf("%s has %U: %q", what, r, s)
		}
	}
}

func TestMillionLinks(t *testing.T) {
	var b bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "<a href=%d>", i)
	}
	p := extract(t, b.String(), Options{})
	if len(p.Links) != 10_000 || p.Distinct != 1_000_000 {
		t.Fatalf("%d links of %d, want 10,000 of 1,000,000", len(p.Links), p.Distinct)
	}
	for i, l := range p.Links {
		if want := fmt.Sprintf("https://example.com/dir/%d", i); l.URL.Norm != want {
			t.Fatalf("link %d is %s, want %s", i, l.URL.Norm, want)
		}
	}
}

func TestHostileHrefs(t *testing.T) {
	src := `<a href="` + strings.Repeat("x", 1<<20) + `">long</a>` +
		"<a href=\"a\x01b\">control</a><a href='https://xn--a\xff.example/'>label</a><a href=https://[::/>brackets</a>" +
		`<a href=https://b%C3%BCcher.example/>b</a><a href=https://аpple.example/>homograph</a><a href=ok>ok</a>` +
		"<a href='https://a\x00b.example/'>NUL</a><a href=/" + strings.Repeat("y", 3000) + ">beyond max-length</a>" +
		"<a href=https://>no host</a><a href=https://>once more</a><a href=' java\tscript:x'>script</a><a href=page>self</a>" +
		"<a href=mailto:a@b.example>mail</a><a href=ok#" + strings.Repeat("z", 20_000) + ">long fragment</a>"
	p := extract(t, src, Options{})
	if p.Refused != 6 || p.Distinct != 4 {
		t.Errorf("%d hrefs refused beside %d targets; want 6, 4", p.Refused, p.Distinct)
	}
	got := sortedNorms(p.Links)
	want := []string{"https://example.com/dir/a%01b", "https://example.com/dir/ok", "https://xn--bcher-kva.example/",
		"https://xn--pple-43d.example/"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("links %q; want %q", got, want)
	}
}

// Any label with any bytes yields valid, bounded UTF-8.
func TestDecodeAnyLabel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	body := make([]byte, 100_000)
	for i := range body {
		body[i] = byte(rng.Uint32())
	}
	labels := []string{"utf-8", "utf-16le", "utf-16be", "iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "gb18030", "gbk",
		"big5", "euc-jp",
		"euc-kr", "shift_jis", "x-user-defined", "koi8-r", "macintosh", "ibm866", "windows-1258", "iso-8859-8-i",
		"replacement", "no-such-thing", `"`, ""}
	for _, label := range labels {
		text, name := decode(body, "text/html; charset="+label)
		if !utf8.Valid(text) || len(text) > 3*len(body) {
			t.Errorf("%s: %d bytes, valid: %v", label, len(text), utf8.Valid(text))
		}
		if _, err := htmlindex.Get(name); err != nil {
			t.Errorf("%s: read as %q: %v", label, name, err)
		}
	}
}

func TestDecode(t *testing.T) {
	latin := []byte("caf\xe9")
	late := strings.Repeat(" ", 2000) + "café"
	tests := []struct{ in, contentType, want, charset string }{
		{"café", "text/html; charset=utf-8", "café", "utf-8"},
		{"café", "", "café", "utf-8"},
		{late, "", late, "utf-8"},
		{"cafe", "", "cafe", "windows-1252"},
		{string(latin), "", "café", "windows-1252"},
		{string(latin), "text/html; charset=ISO-8859-1", "café", "windows-1252"},
		{string(latin), "text/html; charset=utf-8", "caf\ufffd", "utf-8"},
		{"\ufeffcafé", "text/html; charset=koi8-r", "café", "utf-8"},
		{"\xff\xfec\x00a\x00", "", "ca", "utf-16le"},
		{"<meta charset=koi8-r>\xc1", "", "<meta charset=koi8-r>а", "koi8-r"},
		{"<meta charset=koi8-r>é", "text/html; charset=utf-8", "<meta charset=koi8-r>é", "utf-8"},
		{"", "", "", "windows-1252"},
	}
	for _, tt := range tests {
		text, charset := decode([]byte(tt.in), tt.contentType)
		if got := strings.TrimPrefix(string(text), "\ufeff"); got != tt.want || charset != tt.charset {
			t.Errorf("%q as %q: %q, %q; want %q, %q", tt.in, tt.contentType, got, charset, tt.want, tt.charset)
		}
	}
}

// FuzzExtract: for any input, the page keeps its limits, and the same extractor returns the same result
// again.
func FuzzExtract(f *testing.F) {
	for _, s := range scannerSeeds() {
		f.Add([]byte(s), "text/html; charset=utf-8")
	}
	seed, _ := base64.StdEncoding.DecodeString("//48AGEAIABoAHIAZQBmAD0AeAA+AA==")
	f.Add(seed, "")
	rules := testRules(f)
	base, self := testBase(f, rules, "https://example.com/dir/")
	title, err := NewExtract("title", "title, a", "")
	if err != nil {
		f.Fatal(err)
	}
	opt := Options{MaxLinks: 3, Agent: "x", Extracts: []Extract{title}}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		e := NewExtractor(opt)
		p := e.Extract(body, contentType, base, self)
		checkPage(t, &p)
		for _, l := range p.Links {
			if u, err := rules.Parse(l.URL.Norm); err != nil || u.Norm != l.URL.Norm || l.URL.Norm == self {
				t.Errorf("link %q reads as %q, %v", l.URL.Norm, u.Norm, err)
			}
		}
		if again := e.Extract(body, contentType, base, self); fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", p) {
			t.Errorf("%q: once %+v, again %+v", body, p, again)
		}
	})
}

// decode returns the UTF-8 of a body, and the name of its encoding.
func decode(body []byte, contentType string) ([]byte, string) {
	e := encodingOf(body, contentType)
	return e.Decode(body), e.Name()
}
