package app

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// hostile returns texts of servers that try to be more than text: as markup or a template, as an address, as writing
// that turns round or never ends, and as names that mean something to a program.
func hostile() []string {
	return []string{
		"<script>document.documentElement.dataset.broken = 1</script></title></style></template>" +
			"<img src=x onerror=\"document.documentElement.dataset.broken=1\">" +
			"${document.documentElement.dataset.broken=1} {{.}} '); DROP TABLE pages; -- \" ' `",
		"javascript:document.documentElement.dataset.broken=1//https://",
		"data:text/html,<script>parent.document.documentElement.dataset.broken=1</script>",
		"\u202egro.elpmaxe\u202c \u2066x\u2069 \u200f \x1b[31mred \u0000 \u2028 \ud7ff\ue000 " +
			strings.Repeat("very long title 🦊 ", 17_000), // 300 kB
		"https://user:secret@a.test/",
		"", "https://[", "__proto__",
	}
}

// hurt replaces every text of an answer except the few that the application depends on. The
// replacement depends on the text's place and the round: over as many rounds as there are hostile
// texts, each is in every place once.
func hurt(round *atomic.Uint32) func(any) any {
	texts := hostile()
	var change func(place, name string, v any) any
	change = func(place, name string, v any) any {
		place += "/" + name
		switch v := v.(type) {
		case string:
			if slices.Contains([]string{"mode", "status", "x", "y",
				"from", "to", "weight", "trust", "pagerank", "harmonic", "in", "out", "pages",
				"visited", "class", "cover", "community", "depth", "at", "palette"}, name) {
				return v
			}
			return texts[(crc32.ChecksumIEEE([]byte(place))+round.Load())%uint32(len(texts))]
		case []any:
			for i := range v {
				v[i] = change(place+strconv.Itoa(i), name+"s", v[i])
			}
			return v
		case map[string]any:
			for key := range v {
				if name != "palette" && name != "palettes" {
					v[key] = change(place, key, v[key])
				}
			}
			for _, key := range []string{"errors", "pages_by_state", "pages_by_answer", "pages_by_class"} {
				if _, ok := v[key].(map[string]any); ok {
					v[key] = map[string]any{texts[0]: 1.0, texts[1]: 2.0, "__proto__": 3.0, "constructor": 4.0}
				}
			}
			return v
		}
		return v
	}
	return func(v any) any { return change("", "", v) }
}

// damage reports the effects of hostile text: code that ran, unexpected elements and addresses,
// characters that change the writing direction.
const damage = `(() => {
	const out = [];
	if ("broken" in document.documentElement.dataset) out.push("a script ran");
	if (document.scripts.length !== 1) out.push(document.scripts.length + " scripts");
	if (document.querySelectorAll("iframe, object, base, [onerror], [onload]").length) out.push("foreign elements");
	if ([...document.images].some((image) => !image.src.endsWith("/app/icon.svg"))) out.push("foreign images");
	for (const a of document.querySelectorAll("a[href]")) {
		const outside = a.origin !== location.origin;
		if (!/^https?:$/.test(a.protocol) || a.username) out.push("a link to " + a.href.slice(0, 80));
		if (outside && !(a.relList.contains("noopener") && a.relList.contains("noreferrer")))
			out.push("an open door to " + a.href.slice(0, 80));
	}
	if (/[\u202a-\u202e\u2066-\u2069\u001b]/.test(document.body.textContent + document.title))
		out.push("writing that is turned round");
	if (document.body.textContent.length > 1e6) out.push(document.body.textContent.length + " characters");
	if (document.documentElement.scrollWidth > innerWidth) out.push(document.documentElement.scrollWidth + " px wide");
	return out.join("; ");
})()`

// Every view shows any text of a server as text, within limits. Under RIPPLE_PROOF=full every text
// is tried in every place, otherwise one is.
func TestHostileTextIsInert(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	var round atomic.Uint32
	d.change = hurt(&round)
	b := desktest.Open(t, d.url("now"))
	b.Size(400, 900)
	rounds := 1
	if crawltest.Full() {
		rounds = len(hostile())
	}
	for i := range rounds * len(allViews()) {
		n, v := i/len(allViews()), allViews()[i%len(allViews())]
		round.Store(uint32(n))
		t.Run(fmt.Sprintf("%d/%s", n, v.address), func(t *testing.T) {
			b := b.In(t)
			b.Visit(v.address, `document.querySelector("#view").innerText.trim() && !document.querySelector("#view .loading")`)
			if failure := b.Text("#view .failed"); strings.Contains(failure, "could not be drawn") {
				t.Errorf("%.300s", failure)
			}
			if wrong := desktest.Ask[string](b, damage); wrong != "" {
				t.Errorf("%.1000s", wrong)
			}
		})
	}
	for _, name := range hostile() {
		b.Visit("host/"+strings.ToUpper(fmt.Sprintf("%%%x", name[:min(1, len(name))])), "true")
		desktest.Ask[any](b, fmt.Sprintf(`location.hash = "#/host/" + encodeURIComponent(%q), 1`, name[:min(200, len(name))]))
		if wrong := desktest.Ask[string](b, damage); wrong != "" {
			t.Errorf("%q: %.300s", name[:min(40, len(name))], wrong)
		}
	}
}

// A table for spreadsheets contains no formula.
func TestCSVHoldsNoFormula(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	got := desktest.Ask[string](b, `import("/app/dom.js").then((m) => m.csv(["a", "b"],
		[["=1+1", -5], ["say \"x\"", null], ["@x,y", "\tz"], ["\u200b =1;2", "|x"]]))`)
	if want := "a,b\r\n'=1+1,-5\r\n\"say \"\"x\"\"\",\r\n\"'@x,y\",'\tz\r\n\"'\u200b =1;2\",'|x\r\n"; got != want {
		t.Errorf("csv = %q; want %q", got, want)
	}
}
