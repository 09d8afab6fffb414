// Package demo is the web that the demonstration crawls: a valley of small sites
// with what a crawler meets on the real web. Tests crawl it too.
package demo

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// Serve adds the web to the server and returns the front pages of
// its quality sites: a valley of a dozen independent sites and about 300 pages,
// none larger than 60, with what a crawler meets on the real web: neighbours
// three links away and one that is too far, a code forge, a tracker, a site
// only at www., moved, missing and forbidden pages, a site that asks for
// patience.
//
// The web is the same every time. It answers 429 and 503 once each, so a second
// crawl of the same server meets neither.
func Serve(s *webtest.Server) []string {
	valley := sites()
	var seeds []string
	for i := range valley {
		valley[i].write()
		valley[i].serve(s)
		if valley[i].quality {
			seeds = append(seeds, valley[i].url("/"))
		}
	}
	oddities(s)
	return seeds
}

// Config is the configuration that crawls the web at addr and leaves its
// state and every output in dir.
func Config(addr, caFile, dir string) string {
	in := func(name string) string { return tomlString(filepath.Join(dir, name)) }
	return fmt.Sprintf(configuration,
		in("ripple.bolt"), in("ripple.db"), in("summary.md"), in("graph.gexf"), in("map.html"),
		in("decisions.toml"), in("report.json"), tomlString(caFile), tomlString(addr))
}

// tomlString quotes as JSON does, which TOML reads alike.
func tomlString(s string) string {
	b, _ := json.Marshal(s) // a string always has a form
	return string(b)
}

// configuration has a gap for each path, the certificate and the address.
const configuration = `# The demonstration: a small web on this machine, crawled as a real one would be.

[crawler]
max-depth = 3
max-concurrent-pages-open = 10
minimum-time-on-page = 100     # the demonstration's hosts are patient; ask real ones less often
max-domain-requests = 200
head-check = "auto"

[user-agent]
crawler-name = "RippleDemo"
crawler-version = "1.0"
contact-url = "https://alderford.test/about"

[state]
path = %s

[output]
database-path = %s
summary-path = %s
graph-path = %s
map-path = %s

[decisions]
file = %s

[monitor]
report-path = %s

[retry]
delay = "300ms"

[network]
ca-file = %s
connect-to = {"*.test" = %s}

[[quality]]
domain = "*.alderford.test"
seeds = ["https://alderford.test/"]

[[quality]]
domain = "hedgerow-journal.test"
seeds = ["https://hedgerow-journal.test/"]

[[quality]]
domain = "saltmarsh-radio.test"
seeds = ["https://saltmarsh-radio.test/"]

[[stub]]
domain = "codeshelf.test"

[[blacklist]]
domain = "*.pixelcount.test"

[[entity]]
domain = "codeshelf.test"
by = "path-1"

[[extract]]
name = "author"
selector = 'meta[name="author"]'
attr = "content"
`
