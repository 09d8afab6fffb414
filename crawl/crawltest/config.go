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

// Config returns the configuration of a crawl of a server's web, [Complete].
func Config(t testing.TB, s *webtest.Server, text string) string {
	t.Helper()
	ca, err := s.CAFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Complete(text, ca, s.Addr())
}

// Complete says for every test alike what the text of a configuration leaves open: the shortest delay, GET without
// HEAD, no sitemaps, a name, and the way to the server at an address, whose authority has its certificate in a file.
func Complete(text, ca, addr string) string {
	way := []string{fmt.Sprintf("ca-file = %q", ca), fmt.Sprintf("connect-to = { \"*.test\" = %q }", addr)}
	text = complete(text, "network", way...)
	text = complete(text, "user-agent", `crawler-name = "TestBot"`)
	return complete(text, "crawler", "minimum-time-on-page = 100", `head-check = "never"`, `sitemaps = "off"`)
}

// Paper says what the text of a configuration leaves open of a crawl without sockets, whose hosts have one address: a
// name, GET without HEAD, no sitemaps, and no rest for addresses.
func Paper(text string) string {
	text = complete(text, "politeness", `minimum-time-per-address = "0s"`)
	text = complete(text, "user-agent", `crawler-name = "TestBot"`)
	return complete(text, "crawler", `head-check = "never"`, `sitemaps = "off"`)
}

// complete adds to a table of a configuration the lines whose keys it does not have.
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

// Parse reads a configuration.
func Parse(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text), t.TempDir(), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Files writes the [Config] of a crawl, with the state beside it, and returns both names.
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

// Anchors is a page that links to what is given.
func Anchors(urls ...string) string {
	var b strings.Builder
	b.WriteString("<title>Links</title>")
	for _, u := range urls {
		fmt.Fprintf(&b, "<a href=%q>to %s</a>\n", u, strings.ReplaceAll(u, "<", ""))
	}
	return b.String()
}
