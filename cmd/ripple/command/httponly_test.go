package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// The end of the crawl and the summary name the unreachable hosts that only http URLs lead to: no link, redirect, seed
// or sitemap names them with https.
func TestOnlyHTTP(t *testing.T) {
	t.Parallel()
	web, err := webtest.New(webtest.WithUnknownRefused())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	link := func(href string) string { return fmt.Sprintf("<a href=%q>x</a>", href) }
	a := web.Host("a.test")
	a.Robots("Sitemap: https://a.test/map.txt\n")
	a.Page("/map.txt", "https://listed.a.test/\nhttp://plainly.a.test/\n").Type("text/plain")
	a.Page("/", link("http://plain.test/")+link("http://two.test/")+link("http://two.test/again")+
		link("http://both.test/x")+link("https://both.test/")+link("http://same.test/")+link("https://www.same.test")+
		link("//relative.test/")+link("http://later.test/")+link("http://seed.test/")+link("http://listed.a.test/")+
		link("http://moved.test/")+link("/to")+link("/plainly")+link("/two"))
	a.Redirect("/to", "https://moved.test/", 302)
	a.Redirect("/plainly", "http://hop.test/", 302)
	a.Page("/two", link("https://later.test/"))
	path := rippletest.WriteConfig(t, web, t.TempDir(), false)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`sitemaps = "off"`), []byte(`sitemaps = "quality"`), 1)
	text = bytes.Replace(text, []byte(`domain = "a.test"`), []byte(`domain = "*.a.test"`), 1)
	text = append(text, "[[quality]]\ndomain = \"seed.test\"\nseeds = [\"https://seed.test/\"]\n"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"hop.test", "plain.test", "plainly.a.test", "two.test"}
	for run := range 2 { // the second run requests no page again, and reads what the first has recorded
		var out, told bytes.Buffer
		if err := New(&out, &told).Run(t.Context(), []string{"crawl", path}); err != nil {
			t.Fatalf("%v\n%s", err, told.String())
		}
		if got := onlyHTTP(t, filepath.Join(filepath.Dir(path), "out.md")); !slices.Equal(got, want) {
			t.Errorf("run %d: the summary names %q, want %q", run+1, got, want)
		}
		const line = "  4 hosts were seen only as http:// and not reached over https ("
		if !strings.Contains(told.String(), line) {
			t.Errorf("run %d: it does not end with %q:\n%s", run+1, line, told.String())
		}
	}
}

// onlyHTTP returns the hosts that a summary names as seen only as http://.
func onlyHTTP(t *testing.T, summary string) (hosts []string) {
	t.Helper()
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "### Domains Seen Only as http://")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "- "); ok {
			name, _, _ = strings.Cut(name, " ")
			hosts = append(hosts, name)
		}
	}
	slices.Sort(hosts)
	return hosts
}
