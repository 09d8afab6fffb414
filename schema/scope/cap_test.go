package scope

import (
	"errors"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestCaps(t *testing.T) {
	scope := build(t, Spec{
		Origins: []Origin{origin(t, "own.org")},
		PageTypes: []PageType{
			{Name: "issues", Pattern: mustPattern(t, "github.com"),
				Path: regexp.MustCompile(`^/(?P<group>[^/]+/[^/]+)/issues`), MaxPerGroup: 50},
			{Name: "all", Pattern: mustPattern(t, "own.org"), MaxPerGroup: 7},
			{Name: "free", Pattern: mustPattern(t, "free.org")},
		},
		Traps: Traps{MaxQueriesPerPath: 200, MaxPerPrefix: 5000},
	})
	prefix := func(group string) Cap {
		return Cap{Rule: Rule{true, "max-per-prefix = 5000"}, Group: group, Limit: 5000}
	}
	queries := func(group string) Cap {
		return Cap{Rule: Rule{true, "max-queries-per-path = 200"}, Group: group, Limit: 200}
	}
	tests := []struct {
		host, path string
		want       []Cap
	}{
		{"github.com", "/a/b/issues/1?x=1", []Cap{
			{Rule: Rule{Text: `page-type "issues": max-per-group = 50`}, Group: "a/b", Limit: 50}, queries("github.com/a/b/issues/1"),
			prefix("github.com/a"),
		}},
		{"own.org:81", "/x", []Cap{{Rule: Rule{Text: `page-type "all": max-per-group = 7`}, Group: "own.org:81", Limit: 7}}},
		{"free.org", "/", []Cap{prefix("free.org/")}},
		{"free.org", "/?q", []Cap{queries("free.org/"), prefix("free.org/")}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, scope.Caps(tt.host, tt.path, true)); diff != "" {
			t.Errorf("%s%s: %s", tt.host, tt.path, diff)
		}
	}
	if got := build(t, Spec{}).Caps("a.com", "/x?y", true); got != nil {
		t.Errorf("caps that are off: %v", got)
	}
}

// Hosts named by their own site or an origin may take all places. Others get a tenth, but at least one,
// on an origin's site, and elsewhere the places that are left.
func TestSubdomainCap(t *testing.T) {
	for _, tt := range []struct {
		host    string
		limit   int
		vouched bool
		want    int
		rule    string
	}{
		{"a.b.own.co.uk", 30, true, 30, "max-subdomains = 30"},
		{"a.b.own.co.uk", 30, false, 3, "max-subdomains = 30 (3 for hosts that only others name)"},
		{"a.b.own.co.uk", 6, false, 1, "max-subdomains = 6 (1 for hosts that only others name)"},
		{"a.b.own.co.uk", 1, false, 1, "max-subdomains = 1"},
		{"a.free.co.uk", 30, true, 30, "max-subdomains = 30"},
		{"a.free.co.uk", 30, false, 26, "max-subdomains = 30"},
	} {
		scope := build(t, Spec{Origins: []Origin{origin(t, "*.own.co.uk")}})
		want := Cap{Rule: Rule{Text: tt.rule}, Group: weburl.Site(tt.host), Limit: tt.want, Others: !tt.vouched}
		counted := func(rule, group string) (int, error) {
			if rule == "max-subdomains" && group == weburl.Site(tt.host) {
				return 4, nil
			}
			return 0, nil
		}
		if got, err := scope.SubdomainCap(tt.host, tt.limit, tt.vouched, counted); got != want || err != nil {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

// Pages named only by others are counted separately. On an origin's host they get a tenth of the
// places, but at least ten.
func TestCapsOfOthers(t *testing.T) {
	for _, tt := range []struct {
		host        string
		limit, want int
		rule        string
	}{
		{"own.org", 200, 20, "max-queries-per-path = 200 (20 for pages that only others name)"},
		{"own.org", 50, 10, "max-queries-per-path = 50 (10 for pages that only others name)"},
		{"own.org", 5, 5, "max-queries-per-path = 5"},
		{"free.org", 200, 200, "max-queries-per-path = 200"},
	} {
		scope := build(t, Spec{Origins: []Origin{origin(t, "own.org")}, Traps: Traps{MaxQueriesPerPath: tt.limit}})
		others, own := scope.Caps(tt.host, "/?x", false)[0], scope.Caps(tt.host, "/?x", true)[0]
		if others.Limit != tt.want || others.Rule.Text != tt.rule || own.Limit != tt.limit {
			t.Errorf("%s, %d: %+v beside %+v", tt.host, tt.limit, others, own)
		}
		if others.Counted() == own.Counted() || others.Missed() == others.Counted() || others.MostMissed() != 10*tt.want {
			t.Errorf("%s: counted as %q beside %q", tt.host, others.Counted(), own.Counted())
		}
	}
}

func TestRoomIn(t *testing.T) {
	first := Cap{Rule: Rule{Text: "first = 2"}, Group: "a", Limit: 2}
	second := Cap{Rule: Rule{Text: "second = 3"}, Group: "a", Limit: 3}
	tests := []struct {
		name     string
		counted  map[string]int
		reserved map[Cap]int
		want     Room
		by       Cap
	}{
		{"nothing counted", nil, nil, Free, Cap{}},
		{"one place left", map[string]int{"first a": 1, "second a": 2}, nil, Free, Cap{}},
		{"the last place is reserved", map[string]int{"first a": 1}, map[Cap]int{first: 1}, Held, first},
		{"the second is full", map[string]int{"second a": 3}, nil, Full, second},
		{"both are full", map[string]int{"first a": 2, "second a": 3}, nil, Full, first},
	}
	for _, tt := range tests {
		count := func(rule, group string) (int, error) { return tt.counted[rule+" "+group], nil }
		if got, by, err := RoomIn([]Cap{first, second}, count, tt.reserved); err != nil || got != tt.want || by != tt.by {
			t.Errorf("%s: %d by %v, %v; want %d by %v", tt.name, got, by, err, tt.want, tt.by)
		}
	}
	lost := errors.New("lost")
	if _, _, err := RoomIn([]Cap{first}, func(string, string) (int, error) { return 0, lost }, nil); err != lost {
		t.Errorf("error %v, want %v", err, lost)
	}
}
