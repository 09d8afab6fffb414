package show

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
)

// A link that only the rendered page contains is marked.
func TestPrintLinks(t *testing.T) {
	var b strings.Builder
	printLinks(&b, []answer.PageLink{
		{URL: "https://a.test/1", State: "processed", Kind: "anchor", Place: "main", Anchor: "one", Rendered: true},
		{URL: "https://a.test/2", State: "queued", Kind: "anchor", Place: "nav"},
	}, 2)
	const want = "  https://a.test/1  processed  \"one\" (anchor, main) by scripts\n" +
		"  https://a.test/2  queued     (anchor, nav)\n"
	if b.String() != want {
		t.Errorf("the links are\n%swant\n%s", b.String(), want)
	}
}
