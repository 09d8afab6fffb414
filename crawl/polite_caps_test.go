package crawl

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// TestCapsOfChangedRun resumes a run under another limit of a group: its earlier visits count.
func TestCapsOfChangedRun(t *testing.T) {
	for _, tt := range []struct{ name, section, key string }{
		{"page type", "more", "[[page-type]]\nname = \"p\"\ndomain = \"a.test\"\npath = '^/[0-9]'\nmax-per-group = %d\n"},
		{"queries of a path", "traps", "max-queries-per-path = %d"},
	} {
		for _, limit := range []int{3, 8} { // after 5
			t.Run(fmt.Sprintf("%s, %d", tt.name, limit), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newPaperServers(t)
					s.host["a.test"] = func(q question) reply {
						if q.path == "/" {
							return links("/1?1", "/1?2", "/1?3", "/1?4", "/1?5", "/1?6", "/1?7", "/1?8", "/1?9")
						}
						return site("", 0)(q)
					}
					visited := func(limit int) (n int) {
						s.crawl(politeConfig(map[string]string{tt.section: fmt.Sprintf(tt.key, limit)}), 0)
						for _, r := range s.requests("a.test") {
							if strings.HasPrefix(r, "GET /1") {
								n++
							}
						}
						return n
					}
					if n := visited(5); n != 5 {
						t.Fatalf("%d pages are visited, want 5", n)
					}
					if n, want := visited(limit), max(limit, 5); n != want {
						t.Errorf("%d pages are visited in all, want %d", n, want)
					}
				})
			})
		}
	}
}
