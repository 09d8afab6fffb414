// Package demo is the web of the demonstration: a valley of small sites with the situations that a
// crawler meets on the real web. Tests crawl it too.
package demo

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// Serve adds the web to the server and returns the front pages of its quality sites. The web is a
// valley of a dozen independent sites with about 300 pages, at most 60 per site. It contains
// situations of the real web: neighbours three links away and one that is too far, a code forge, a
// tracker, a site only at www., moved, missing and forbidden pages, and a site with a Crawl-delay.
//
// The web is always the same until [Change] is called. It answers 429 and 503 once each, so a second crawl of the same
// server meets neither.
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

// Config returns a configuration that crawls the web at addr, with the state and all outputs in dir.
func Config(addr, caFile, dir string) string {
	in := func(name string) string { return tomlString(filepath.Join(dir, name)) }
	return fmt.Sprintf(configuration,
		in("ripple.bolt"), in("ripple.db"), in("summary.md"), in("graph.gexf"), in("map.html"),
		in("decisions.toml"), in("report.json"), tomlString(caFile), tomlString(addr))
}

// tomlString quotes a string as JSON, which is also valid TOML.
func tomlString(s string) string {
	b, _ := json.Marshal(s) // strings always marshal
	return string(b)
}

// configuration has a placeholder for each path, the certificate and the address.
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

[recrawl]
min-age = "0s"                 # the next run may begin at once

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
