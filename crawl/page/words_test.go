package page

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/simhash"
)

// The fingerprint is that of the text in main, body and aside, as a reader without scripts sees it.
func TestSimHashText(t *testing.T) {
	words := "the stream runs down past old mills and bridges to a town by a wide grey sea where boats wait"
	long := strings.Repeat(words+" ", 3)
	tests := []struct{ name, body, text string }{
		{"plain", "<p>" + long, long},
		{"without enough", words, words},
		{"inline tags", "<p>" + strings.ReplaceAll(long, "bridges", "<b>br</b>i<i>dg</i>es"), long},
		{"tags that separate", "<p>" + strings.ReplaceAll(long, " mills ", "<p>mills<br>"), long},
		{"links", "<p>" + strings.ReplaceAll(long, "town", `<a href="/t">to<b>wn</b></a>`), long},
		{"navigation", "<nav>Home News</nav><header>A site</header>" + long + "<footer>Imprint</footer>", long},
		{"roles", `<div role="navigation">Home</div><div role="banner">A</div>` + long, long},
		{"aside", long + "<aside>by the way</aside>", long + " by the way"},
		{"main", "<main>" + long + "</main> and more", long + " and more"},
		{"title", "<title>A title</title>" + long, long},
		{"scripts", "<script>var a = 1</script><style>p { color: red }</style><!-- no -->" + long, long},
		{"fields", "<textarea>my words</textarea><iframe>old</iframe>" + long, long},
		{"template", "<template>later</template>" + long, long},
		{"without scripts", "<noscript>turn them on</noscript> " + long, "turn them on " + long},
		{"drawing", "<svg><style>a { b: c }</style><text>on the map</text></svg> " + long, "on the map " + long},
		{"CDATA", "<svg><text><![CDATA[fish &amp; chips]]></text></svg> " + long, "fish amp chips " + long},
		{"entities", "caf&eacute; &amp; b&#97;r &lt;now&gt;&nbsp;&#x27;&unknown; &copy 2020&" + long,
			"café bar now unknown 2020 " + long},
	}
	e := NewExtractor(Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, self := testBase(t, testRules(t), "https://example.com/")
			got := e.Extract([]byte("<!DOCTYPE html>"+tt.body), "text/html; charset=utf-8", base, self).SimHash
			var h simhash.Hasher
			h.Write([]byte(tt.text))
			if want := h.Sum(); got != want {
				t.Errorf("%q\nhas %v, want that of %q, %v", tt.body, got, tt.text, want)
			}
		})
	}
}

// The fingerprint depends on the characters, and not on their encoding.
func TestSimHashEncoding(t *testing.T) {
	long := strings.Repeat("das große Café liegt über dem Fluß, wo früh die Schwäne schlafen ", 6)
	base, self := testBase(t, testRules(t), "https://example.com/")
	e := NewExtractor(Options{})
	want := e.Extract([]byte(long), "text/html; charset=utf-8", base, self).SimHash
	var latin []byte
	for _, r := range long {
		latin = append(latin, byte(r))
	}
	if got := e.Extract(latin, "text/html; charset=iso-8859-1", base, self).SimHash; got != want || want == 0 {
		t.Errorf("%v in Latin-1, %v in UTF-8", got, want)
	}
}
