package crawl

import (
	"net/http"
	"testing"
	"testing/synctest"
)

// What a page asks of everybody holds as well as what it asks of Ripple, in its header and in its text.
func TestDirectives(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, field, value, head string
		noindex                  bool
		title                    string
		facts                    int
	}{
		{"none", "", "", "", false, "named", 1},
		{"Ripple is asked less", "", "", "<meta name=robots content=noindex><meta name=TestBot content=noarchive>", true, "", 0},
		{"header and text", "Robots-Tag", "*;noindex", "<meta name=TestBot content=index>", true, "", 0},
		{"header of its own", "X-Robots-Tag", "noindex, TestBot: index", "", true, "", 0},
		{"others are asked", "Robots-Tag", "OtherBot;noindex", "", false, "named", 1},
		{"no snippet, in the text", "", "", "<meta name=robots content=nosnippet>", false, "named", 0},
		{"no snippet, in the header", "Robots-Tag", "TestBot;nosnippet", "", false, "named", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.other = func(q question) reply {
					r := reply{status: http.StatusOK, header: http.Header{"Content-Type": {"text/html"}},
						body: "<title>named</title>" + tt.head + "<h1>a heading</h1>"}
					if q.path == "/robots.txt" {
						return reply{status: http.StatusNotFound}
					}
					if tt.field != "" {
						r.header.Set(tt.field, tt.value)
					}
					return r
				}
				const more = "[user-agent]\ncrawler-name = \"TestBot\"\n[[extract]]\nname = \"heading\"\nselector = \"h1\"\n"
				s.crawl(politeConfig(map[string]string{"more": more}), 0)
				v := s.visits()["https://a.test/"]
				if v.NoIndex != tt.noindex || v.Title != tt.title || len(v.Facts) != tt.facts {
					t.Errorf("noindex %t, title %q, facts %v", v.NoIndex, v.Title, v.Facts)
				}
			})
		})
	}
}
