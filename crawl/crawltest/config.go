package crawltest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Config returns the configuration for crawling a server's web; see [Complete].
func Config(t testing.TB, s *webtest.Server, text string) string {
	t.Helper()
	ca, err := s.CAFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Complete(text, ca, s.Addr())
}

// Complete adds the defaults of all tests to a configuration: the shortest delay, GET without HEAD, no
// sitemaps, no request for a page that does not exist, a name, and the connection to the server at addr. ca is the file
// with the certificate of the server's authority.
func Complete(text, ca, addr string) string {
	way := []string{fmt.Sprintf("ca-file = %q", ca), fmt.Sprintf("connect-to = { \"*.test\" = %q }", addr)}
	text = complete(text, "network", way...)
	text = complete(text, "user-agent", `crawler-name = "TestBot"`)
	text = complete(text, "checks", `soft-404 = "off"`)
	return complete(text, "crawler", "minimum-time-on-page = 100", `head-check = "never"`, `sitemaps = "off"`)
}

// Paper adds defaults for a crawl without sockets, whose hosts share one address: a name, GET without
// HEAD, no sitemaps, no request for a page that does not exist, and no delay per address.
func Paper(text string) string {
	text = complete(text, "politeness", `minimum-time-per-address = "0s"`)
	text = complete(text, "user-agent", `crawler-name = "TestBot"`)
	text = complete(text, "checks", `soft-404 = "off"`)
	return complete(text, "crawler", `head-check = "never"`, `sitemaps = "off"`)
}

// complete adds those lines to a table of a configuration whose keys the table lacks.
func complete(text, table string, lines ...string) string {
	header := "[" + table + "]\n"
	before, after, found := strings.Cut(text, header)
	if !found {
		return header + strings.Join(lines, "\n") + "\n" + text
	}
	body, _, _ := strings.Cut(after, "\n[")
	missing := slices.DeleteFunc(lines, func(line string) bool {
		key, _, _ := strings.Cut(line, " ")
		return strings.Contains("\n"+body, "\n"+key+" ")
	})
	return before + header + strings.Join(append(missing, after), "\n")
}

// Parse parses a configuration, by default without requests for pages that do not exist.
func Parse(t testing.TB, text string) *config.Config {
	t.Helper()
	text = complete(text, "checks", `soft-404 = "off"`)
	cfg, _, err := config.Parse([]byte(text), t.TempDir(), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Files writes the [Config] of a crawl and returns its path and that of the state file, which is in the
// same folder.
func Files(t testing.TB, s *webtest.Server, text string) (path, state string) {
	t.Helper()
	dir := t.TempDir()
	path, state = filepath.Join(dir, "config.toml"), filepath.Join(dir, "state.bolt")
	text = complete(Config(t, s, text), "state", fmt.Sprintf("path = %q", state))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, state
}

// Anchors returns a page with links to the given URLs.
func Anchors(urls ...string) string {
	var b strings.Builder
	b.WriteString("<title>Links</title>")
	for _, u := range urls {
		fmt.Fprintf(&b, "<a href=%q>to %s</a>\n", u, strings.ReplaceAll(u, "<", ""))
	}
	return b.String()
}
