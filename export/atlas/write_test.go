package atlas

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sumi-ripple/ripple/schema/sanitize"
	"golang.org/x/net/html"
)

// A document is a map as an HTML parser sees it.
type document struct {
	tags   map[string]int
	texts  map[string][]string // by tag
	metas  map[string]string   // by name or http-equiv
	inline []string            // attributes that run code
	ids    map[string]string   // text by id
}

// readPage parses a map with an independent parser.
func readPage(t testing.TB, page []byte) document {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	d := document{map[string]int{}, map[string][]string{}, map[string]string{}, nil, map[string]string{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		d.tags[n.Data]++
		text := textOf(n)
		d.texts[n.Data] = append(d.texts[n.Data], text)
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" {
				d.inline = append(d.inline, n.Data+" "+a.Key)
			}
		}
		d.metas[attributes["name"]+attributes["http-equiv"]] = attributes["content"]
		d.ids[attributes["id"]] = text
	}
	return d
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func write(t testing.TB, m Map) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// small returns a map of two nodes with the given text.
func small(text string) Map {
	return Map{Title: text, Level: "host", Run: text, Status: text, Partial: text,
		Nodes: []Node{{Name: text, Title: text, Class: text, Depth: -5, Community: math.MaxInt, Pages: -1, In: math.MaxInt,
			PageRank: math.NaN(), Harmonic: math.Inf(1)}, {Name: "b.example"}},
		Edges:  []Edge{{0, 1, math.MaxUint32, 0}},
		Points: []Point{{-3.5, 2}, {4, 1}}}
}

func TestPageAllowsItselfOnly(t *testing.T) {
	d := readPage(t, write(t, sample(40)))
	want := "default-src 'none'; script-src 'sha256-" + digest(d.texts["script"][1]) + "'; style-src 'sha256-" +
		digest(d.texts["style"][0]) + "'; base-uri 'none'; form-action 'none'"
	if got := d.metas["Content-Security-Policy"]; got != want {
		t.Errorf("policy %q; want %q", got, want)
	}
	if d.tags["script"] != 2 || d.tags["link"]+d.tags["iframe"]+d.tags["img"] != 0 || len(d.inline) != 0 {
		t.Errorf("tags %v, attributes %v", d.tags, d.inline)
	}
}

// The viewer must never turn text into markup or code, or contact a server.
func TestViewerHasNoDoors(t *testing.T) {
	text, err := script()
	if err != nil {
		t.Fatal(err)
	}
	for _, door := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(",
		"fetch(", "XMLHttpRequest", "WebSocket", "import(", "createContextualFragment", "DOMParser", "</", "<!--"} {
		if strings.Contains(text, door) {
			t.Errorf("the viewer says %q", door)
		}
	}
}

func TestPageSaysWhatItIs(t *testing.T) {
	m := sample(40)
	m.Partial, m.LeftOut = "partial: 2 hosts cut", Cut{Edges: 1234}
	d := readPage(t, write(t, m))
	got := []string{d.texts["title"][0], d.texts["h1"][0], d.ids["counts"], d.ids["state"], d.ids["left-out"],
		d.metas["ripple-run"], d.metas["ripple-status"], d.metas["ripple-partial"]}
	want := []string{m.Title, m.Title, "40 hosts (8 blacklisted or stubs), 73 links", "run 3completepartial: 2 hosts cut",
		"left out: 1,234 links of lowest weight", "3", "complete", "partial: 2 hosts cut"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i := range m.Nodes {
		m.Nodes[i].Class = "quality"
	}
	if got, want := readPage(t, write(t, m)).ids["counts"], "40 hosts, 73 links"; got != want {
		t.Errorf("without listed hosts the map counts %q; want %q", got, want)
	}
	m.Partial, m.LeftOut = "", Cut{}
	if d := readPage(t, write(t, m)); d.metas["ripple-partial"] != "" || d.ids["left-out"] != "" {
		t.Error("a whole map passes as a partial one")
	}
}

func TestMany(t *testing.T) {
	for want, got := range map[string]string{
		"1 host": many(1, "host"), "2,000 entities": many(2000, "entity"), "1 entity": many(1, "entity"),
		"0 nodes": many(0, ""),
	} {
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	tests := map[string]func(*Map){
		"2 points for 1 nodes":           func(m *Map) { m.Nodes = m.Nodes[:1] },
		"point 1 is not a place":         func(m *Map) { m.Points[1].X = float32(math.NaN()) },
		"point 0 is not a place":         func(m *Map) { m.Points[0].Y = float32(math.Inf(-1)) },
		"link 0 leads from 7 to 1 among": func(m *Map) { m.Edges[0].From = 7 },
	}
	for want, spoil := range tests {
		m := small("a")
		spoil(&m)
		if err := Write(&bytes.Buffer{}, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q", err, want)
		}
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	if !bytes.Equal(write(t, sample(200)), write(t, sample(200))) {
		t.Error("two files differ")
	}
}

func TestEmptyMap(t *testing.T) {
	d := readPage(t, write(t, Map{}))
	if d.ids["counts"] != "0 nodes, 0 links" || d.texts["title"][0] != "Ripple map" {
		t.Errorf("%q, %q", d.ids["counts"], d.texts["title"][0])
	}
}

// Numbers have the form that the viewer reads.
func TestColumns(t *testing.T) {
	var c column
	c.amount(-1)
	c.amount(math.MaxInt)
	c.label(-7)
	c.label(math.MaxInt)
	c.real(math.Inf(1))
	c.real(0.5)
	text, err := c.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, len(raw)/4)
	if _, err := binary.Decode(raw, binary.LittleEndian, got); err != nil {
		t.Fatal(err)
	}
	want := []uint32{0, math.MaxUint32, math.MaxUint32, math.MaxInt32, 0, math.Float32bits(0.5)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever a peer calls its page, the file has the same elements and shows the text as text.
func FuzzWrite(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	want := readPage(f, write(f, small("harmless"))).tags
	f.Fuzz(func(t *testing.T, text string) {
		m := small(text + "x")
		d := readPage(t, write(t, m))
		if diff := cmp.Diff(want, d.tags); diff != "" || len(d.inline) != 0 {
			t.Fatalf("elements:\n%s%v", diff, d.inline)
		}
		var graph struct{ Names, Titles []string }
		if err := json.Unmarshal([]byte(d.ids["graph"]), &graph); err != nil {
			t.Fatal(err)
		}
		if want := sanitize.Line(m.Nodes[0].Title, mostTitle); graph.Titles[0] != want || graph.Names[1] != "b.example" {
			t.Fatalf("title %q; want %q", graph.Titles[0], want)
		}
		if got, want := strings.TrimSpace(d.texts["h1"][0]), line(m.Title); got != want && want != "" {
			t.Fatalf("heading %q; want %q", got, want)
		}
	})
}

// hostile returns texts that have broken out of pages elsewhere.
func hostile() []string {
	return []string{
		"</script><script>document.documentElement.dataset.broken = 1</script>",
		"<img src=x onerror=\"document.documentElement.dataset.broken=1\">",
		"\"><svg onload=document.documentElement.dataset.broken=1>",
		"<!--<script>", "]]>", "{{.Script}}", "${document.documentElement.dataset.broken=1}", "'-alert(1)-'",
		"javascript:alert(1)",
		"\u202egnp.exe", "\x00\x1b[31m", "\u2028\u2029", "\xff\xfe", "&lt;b&gt;", "</title><base href=https://b.example/>",
		"__proto__", strings.Repeat("é", 400),
	}
}

func BenchmarkWrite(b *testing.B) {
	m := sample(5000)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(write(b, m))))
	}
}

// TestLongURL shows pages with the longest URL allowed in the map, and with a longer one: no link leads
// to a part of it.
func TestLongURL(t *testing.T) {
	longest := "https://a.test/" + strings.Repeat("x", mostURL-len("https://a.test/"))
	longer := strings.ReplaceAll(longest, "x", "y") + "y"
	m := Map{Level: "host", Points: make([]Point, 1),
		Nodes: []Node{{Name: "a.test", Busiest: []Page{{URL: longest}, {URL: longer}}}}}
	text, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(longest)) || bytes.Contains(text, []byte("yy")) {
		t.Errorf("the map names %s", text)
	}
}
