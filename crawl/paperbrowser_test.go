package crawl

import (
	"net/http"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// show renders a page like a visitor.
func (s *paperServers) show(p *parser, step ring.Step) (o ring.Outcome) {
	v := visitors{parsers: make(parsers, 1)}
	v.parsers <- p
	v.render(s.t.Context(), step, func(rendered ring.Outcome) { o = rendered })
	return o
}

// shell is a page that shows only what its scripts build.
func shell(scripts ...string) reply {
	return reply{status: http.StatusOK, body: crawltest.Shell(scripts...)}
}

// script is a script resource: lines for a [crawltest.Browser].
func script(lines ...string) reply {
	return reply{
		status: http.StatusOK, header: http.Header{"Content-Type": {"text/javascript"}},
		body: strings.Join(lines, "\n"),
	}
}
