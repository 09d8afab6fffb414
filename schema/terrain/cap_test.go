package terrain

import (
	"errors"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCaps(t *testing.T) {
	terrain := build(t, Spec{
		Origins: []Origin{origin(t, "own.org")},
		PageTypes: []PageType{
			{Name: "issues", Pattern: mustPattern(t, "github.com"),
				Path: regexp.MustCompile(`^/(?P<group>[^/]+/[^/]+)/issues`), MaxPerGroup: 50},
			{Name: "all", Pattern: mustPattern(t, "own.org"), MaxPerGroup: 7},
			{Name: "free", Pattern: mustPattern(t, "free.org")},
		},
		Traps: Traps{MaxQueriesPerPath: 200, MaxPerPrefix: 5000},
	})
	prefix := func(group string) Cap { return Cap{Rule{true, "max-per-prefix = 5000"}, group, 5000} }
	queries := func(group string) Cap { return Cap{Rule{true, "max-queries-per-path = 200"}, group, 200} }
	tests := []struct {
		host, path string
		want       []Cap
	}{
		{"github.com", "/a/b/issues/1?x=1", []Cap{
			{Rule{Text: `page-type "issues": max-per-group = 50`}, "a/b", 50}, queries("github.com/a/b/issues/1"),
			prefix("github.com/a"),
		}},
		{"own.org:81", "/x", []Cap{{Rule{Text: `page-type "all": max-per-group = 7`}, "own.org:81", 7}}},
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
	if got, want := SubdomainCap("a.b.example.co.uk", 3),
		(Cap{Rule{Text: "max-subdomains = 3"}, "example.co.uk", 3}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRoomIn(t *testing.T) {
	first, second := Cap{Rule{Text: "first = 2"}, "a", 2}, Cap{Rule{Text: "second = 3"}, "a", 3}
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
