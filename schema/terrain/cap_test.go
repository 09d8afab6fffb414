package terrain

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCaps(t *testing.T) {
	terrain := build(t, Spec{
		Origins: []Origin{origin(t, "own.org")},
		PageTypes: []PageType{
			{Name: "issues", Pattern: mustPattern(t, "github.com"), Path: regexp.MustCompile(`^/(?P<group>[^/]+/[^/]+)/issues`), MaxPerGroup: 50},
			{Name: "all", Pattern: mustPattern(t, "own.org"), MaxPerGroup: 7},
			{Name: "free", Pattern: mustPattern(t, "free.org")},
		},
		Traps: Traps{MaxQueriesPerPath: 200, MaxPerPrefix: 5000},
	})
	prefix := func(group string) Cap { return Cap{"trap: max-per-prefix = 5000", group, 5000} }
	queries := func(group string) Cap { return Cap{"trap: max-queries-per-path = 200", group, 200} }
	tests := []struct {
		host, path string
		want       []Cap
	}{
		{"github.com", "/a/b/issues/1?x=1", []Cap{{`page-type "issues": max-per-group = 50`, "a/b", 50}, queries("github.com/a/b/issues/1"), prefix("github.com/a")}},
		{"own.org:81", "/x", []Cap{{`page-type "all": max-per-group = 7`, "own.org:81", 7}}},
		{"free.org", "/", []Cap{prefix("free.org/")}},
		{"free.org", "/?q", []Cap{queries("free.org/"), prefix("free.org/")}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, terrain.Caps(tt.host, tt.path)); diff != "" {
			t.Errorf("%s%s: %s", tt.host, tt.path, diff)
		}
	}
	if got := build(t, Spec{}).Caps("a.com", "/x?y"); got != nil {
		t.Errorf("caps that are off: %v", got)
	}
	if got, want := SubdomainCap("a.b.example.co.uk", 3), (Cap{"max-subdomains = 3", "example.co.uk", 3}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
