package crawl

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sumi-ripple/ripple/schema"
)

// A URL that pages request in two formats is two resources: each is requested once, with its own value of Accept.
func TestRenderingAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const json = "application/json"
		var sent []string
		s := rendered(t, map[string]reply{
			"a.test/":     shell("/a.js"),
			"a.test/2":    shell("/a.js", "/b.js"),
			"a.test/a.js": script("get /items "+json, "link /2"),
			"a.test/b.js": script("get /items"),
		}, "", func(s *paperServers) {
			serve := s.other
			s.other = func(q question) reply {
				if q.path != "/items" {
					return serve(q)
				}
				sent = append(sent, strings.Join(headerOf(q.step)["Accept"], " "))
				return script("link " + map[string]string{json: "/json", "": "/any"}[q.step.Accept])
			}
		})
		if slices.Sort(sent); !slices.Equal(sent, []string{"*/*", json}) {
			t.Errorf("sent with Accept %q", sent)
		}
		for url, want := range map[string][2]int{"https://a.test/": {2, 2}, "https://a.test/2": {4, 2}} {
			if v := s.visits()[url]; v.Rendering != schema.Rendered || v.RenderAsked != want[0] || len(v.Links) != want[1] {
				t.Errorf("%s is %b, with %d requests and %d links, want %v", url, v.Rendering, v.RenderAsked, len(v.Links), want)
			}
		}
	})
}
