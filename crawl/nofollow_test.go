package crawl

import (
	"testing"
	"testing/synctest"
)

// TestNofollowBesideCanonical has a page that leads to another one by links, some or none of which
// are followed.
func TestNofollowBesideCanonical(t *testing.T) {
	t.Parallel()
	const canonical, nofollow, frame = "<link rel=canonical href=/t>", "<a rel=nofollow href=/t>t</a>", "<frame src=/t>"
	for _, tt := range []struct {
		body      string
		canonical string // result for the other page with follow-canonical, and without
		without   string
	}{
		{canonical, "processed", "discovered"},
		{nofollow, "discovered", "discovered"},
		{canonical + nofollow, "processed", "discovered"},
		{nofollow + "<link rel=canonical href=/./t>", "processed", "discovered"},
		{canonical + nofollow + "<a rel=ugc href=/t>t</a>", "processed", "processed"},
		{canonical + nofollow + frame, "processed", "processed"},
		{"<meta name=robots content=nofollow>" + canonical + frame, "discovered", "discovered"},
	} {
		for follow, want := range map[string]string{"true": tt.canonical, "false": tt.without} {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = pages(map[string]reply{"/": {status: 200, body: tt.body}, "/t": {status: 200}})
				s.crawl(politeConfig(map[string]string{"crawler": "respect-nofollow = true\nfollow-canonical = " + follow + "\n"}), 0)
				if got := s.survey()["a.test/t"].state; got != want {
					t.Errorf("%s, follow-canonical = %s: %s, want %s", tt.body, follow, got, want)
				}
			})
		}
	}
}
