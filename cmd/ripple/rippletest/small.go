package rippletest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

func link(href, text string) string { return fmt.Sprintf("<a href=%q>%s</a>\n", href, text) }

// SmallWeb adds a quality site of six pages, one of them forbidden, with links to a neighbour, a tracker and a code
// forge.
func SmallWeb(web *webtest.Server) {
	a := web.Host("a.test")
	a.Robots("User-agent: *\nDisallow: /private\n")
	a.Page("/", "<title>Front \x1b[31mpage</title>"+
		link("/one", "One")+link("/two?utm_source=x", "Two")+link("/private", "Private")+
		link("https://b.test/", "A neighbour")+link("https://t.track.test/pixel", "")+
		link("https://forge.test/me", "Code"))
	a.Page("/one", "<title>One</title>"+link("/three", "Three")+link("/gone", "Gone"))
	a.Page("/two", "<title>Two</title>"+link("/", "Home"))
	a.Page("/three", "<title>Three</title>"+link("https://b.test/deep", "Deep"))
	a.Page("/private", "<title>Private</title>")
	b := web.Host("b.test")
	b.Page("/", "<title>Neighbour</title>"+link("/deep", "Deep"))
	b.Page("/deep", "<title>Deep</title>")
}

// NewWeb serves the small web until the test ends.
func NewWeb(t *testing.T) *webtest.Server {
	t.Helper()
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	SmallWeb(web)
	return web
}

// SoonAgain is the part of a small configuration that makes retries immediate.
const SoonAgain = "\n[retry]\ndelay = \"100ms\"\n"

// SmallConfig returns a configuration that crawls the small web at an address, with more keys of [crawler], as
// KEY=VALUE. A slow crawl waits for a minute between requests to a host.
func SmallConfig(addr string, slow bool, keys []string) string {
	gap := 100
	if slow {
		gap = 60_000
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[crawler]\nmax-depth = 2\nminimum-time-on-page = %d\nhead-check = \"never\"\nsitemaps = \"off\"\n",
		gap)
	for _, key := range keys {
		b.WriteString(strings.Replace(key, "=", " = ", 1) + "\n")
	}
	b.WriteString(SoonAgain)
	fmt.Fprintf(&b, `
[politeness]
minimum-time-per-address = "0s"

[user-agent]
crawler-name = "Test"
contact-url = "https://a.test/bot"

[state]
path = "./ripple.bolt"

[output]
database-path = "./out.db"
summary-path = "./out.md"

[monitor]
report-path = "./out.json"

[network]
ca-file = "./webtest-ca.pem"
connect-to = {"*.test" = %q}

[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]

[[blacklist]]
domain = "*.track.test"

[[stub]]
domain = "forge.test"
`, addr)
	return b.String()
}

// WriteConfig writes the configuration of a small web, and its certificate, into a folder. It returns the path of the
// configuration.
func WriteConfig(t *testing.T, web *webtest.Server, dir string, slow bool) string {
	t.Helper()
	if _, err := web.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte(SmallConfig(web.Addr(), slow, nil)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// WebGraph writes a web graph in which far.example links to a host, whose name has its labels from the right. It
// returns the prefix of the files.
func WebGraph(t *testing.T, dir, host string) (prefix string) {
	t.Helper()
	prefix = filepath.Join(dir, "graph")
	for list, text := range map[string]string{"vertices": "0\texample.far\n1\t" + host + "\n", "edges": "0\t1\n",
		"ranks": "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n1\t1E7\t2\t1E-5\texample.far\n"} {
		if err := os.WriteFile(prefix+"-"+list+".txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

// Soon waits until a condition holds, as long as a busy machine may need, and reports whether it
// does. Most conditions start a command, so asking takes a fifth of the time at most.
func Soon(holds func() bool) bool {
	for end := time.Now().Add(3 * time.Minute); ; {
		asked := time.Now()
		if holds() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(min(max(20*time.Millisecond, 4*time.Since(asked)), 300*time.Millisecond))
	}
}
