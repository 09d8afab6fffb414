package scope

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/schema"
)

func patterns(t testing.TB, names ...string) []Pattern {
	t.Helper()
	var all []Pattern
	for _, n := range names {
		all = append(all, mustPattern(t, n))
	}
	return all
}

func origin(t testing.TB, name string) Origin {
	return Origin{Name: name, Pattern: mustPattern(t, name)}
}

func build(t testing.TB, spec Spec) *Scope {
	t.Helper()
	scope, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

func TestClassify(t *testing.T) {
	scope := build(t, Spec{
		Origins: []Origin{origin(t, "example.com"), origin(t, "*.another-site.org"), origin(t, "github.com")},
		Blacklist: []List{
			{Patterns: patterns(t, "*.tracking.com")},
			{Source: "file hosts.txt", Patterns: patterns(t, "ads.example.net", "*.wide.example", "*.tracking.com")},
			{URL: regexp.MustCompile(`/logout($|\?)`)},
		},
		Stub: []List{
			{Source: "preset social", Patterns: patterns(t, "github.com", "bad.wide.example")},
			{URL: regexp.MustCompile(`^https://example\.com/shop`)},
		},
	})
	tests := []struct{ url, class, rule string }{
		{"https://example.com/", "quality", `quality "example.com"`},
		{"https://example.com:8443/", "quality", `quality "example.com"`},
		{"https://a.example.com/", "discovered", ""},
		{"https://x.another-site.org/", "quality", `quality "*.another-site.org"`},
		{"https://tracking.com/", "blacklist", `blacklist "*.tracking.com"`},
		{"https://a.b.tracking.com:81/", "blacklist", `blacklist "*.tracking.com"`},
		{"https://nottracking.com/", "discovered", ""},
		{"https://ads.example.net/x", "blacklist", `blacklist file hosts.txt: ads.example.net`},
		{"https://example.net/x", "discovered", ""},
		{"https://bad.wide.example/", "blacklist", `blacklist file hosts.txt: *.wide.example`},
		{"https://github.com/o/r", "stub", `stub preset social: github.com`},
		{"https://github.com/logout", "blacklist", `blacklist url '/logout($|\?)'`},
		{"https://example.com/logout?a=b", "blacklist", `blacklist url '/logout($|\?)'`},
		{"https://example.com/logouts", "quality", `quality "example.com"`},
		{"https://example.com/shop/1", "stub", `stub url '^https://example\.com/shop'`},
		{"https://example.com/shop/logout", "blacklist", `blacklist url '/logout($|\?)'`},
	}
	for _, tt := range tests {
		got := scope.Classify(tt.url)
		if got.Class.String() != tt.class || got.Rule != tt.rule {
			t.Errorf("Classify(%q) = %s by %q; want %s by %q", tt.url, got.Class, got.Rule, tt.class, tt.rule)
		}
	}
	if !scope.HasURLRules() {
		t.Error("no URL rules are seen")
	}
	if got := scope.HostClass("github.com:81").Class; got != schema.ClassStub {
		t.Errorf("github.com:81 is %s", got)
	}
}

func TestNewErrors(t *testing.T) {
	for name, spec := range map[string]Spec{
		"twice":          {Origins: []Origin{origin(t, "a.com"), origin(t, "a.com")}},
		"no domain":      {Origins: []Origin{{Name: "x"}}},
		"empty pattern":  {Stub: []List{{Patterns: []Pattern{{}}}}},
		"entity of none": {Entities: []Entity{{By: ByHost}}},
		"entity of paths with others": {Entities: []Entity{
			{Pattern: mustPattern(t, "a.com"), By: 1, With: patterns(t, "b.com")}}},
	} {
		if _, err := New(spec); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOriginsAndBudget(t *testing.T) {
	wide, narrow, host, other := origin(t, "*.example.com"), origin(t, "*.docs.example.com"),
		origin(t, "v1.docs.example.com"), origin(t, "*.x.org")
	wide.MaxRequests, narrow.MaxRequests = 10, 20
	scope := build(t, Spec{Origins: []Origin{wide, host, narrow, other}})
	tests := []struct {
		host   string
		want   []int
		budget int
	}{
		{"example.com", []int{0}, 10},
		{"a.example.com:81", []int{0}, 10},
		{"docs.example.com", []int{0, 2}, 20},
		{"v2.docs.example.com", []int{0, 2}, 20},
		{"v1.docs.example.com", []int{0, 1, 2}, 500},
		{"x.org", []int{3}, 500},
		{"nowhere.net", nil, 500},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, scope.OriginsOf(tt.host)); diff != "" {
			t.Errorf("OriginsOf(%q): %s", tt.host, diff)
		}
		if got := scope.Budget(tt.host, 500); got != tt.budget {
			t.Errorf("Budget(%q) = %d, want %d", tt.host, got, tt.budget)
		}
	}
}

func TestDiscoveredHostsCostNoAllocation(t *testing.T) {
	scope := build(t, Spec{Origins: []Origin{origin(t, "*.example.com")},
		Stub: []List{{Patterns: patterns(t, "*.x.org")}}})
	allocs := testing.AllocsPerRun(100, func() {
		if scope.OriginsOf("a.b.c.example.net:8443") != nil ||
			scope.Classify("https://a.b.c.example.net/x?y").Rule != "" {
			t.Fatal("the host is not discovered")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// naive tries every pattern of every list.
func naive(spec Spec, host string) (schema.Class, []int) {
	var origins []int
	for i, o := range spec.Origins {
		if o.Pattern.Match(host) {
			origins = append(origins, i)
		}
	}
	has := func(lists []List) bool {
		return slices.ContainsFunc(lists, func(l List) bool {
			return slices.ContainsFunc(l.Patterns, func(p Pattern) bool { return p.Match(host) })
		})
	}
	switch {
	case has(spec.Blacklist):
		return schema.ClassBlacklisted, origins
	case has(spec.Stub):
		return schema.ClassStub, origins
	case len(origins) > 0:
		return schema.ClassQuality, origins
	}
	return schema.ClassDiscovered, origins
}

// The walk along the labels agrees with trying every pattern, and names a rule that matches.
func TestWalkEqualsNaive(t *testing.T) {
	name := rapid.Custom(func(t *rapid.T) string {
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4).Draw(t, "labels")
		return strings.Join(labels, ".")
	})
	pattern := rapid.Custom(func(t *rapid.T) Pattern {
		return Pattern{name.Draw(t, "base"), rapid.Bool().Draw(t, "below")}
	})
	lists := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) List {
		return List{Source: "file f", Patterns: rapid.SliceOfN(pattern, 0, 4).Draw(t, "patterns")}
	}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		spec := Spec{Blacklist: lists.Draw(t, "blacklist"), Stub: lists.Draw(t, "stub")}
		for _, p := range rapid.SliceOfNDistinct(pattern, 0, 5, func(p Pattern) Pattern { return p }).Draw(t, "origins") {
			spec.Origins = append(spec.Origins, Origin{Name: p.String(), Pattern: p})
		}
		scope, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		host := name.Draw(t, "host")
		class, origins := naive(spec, host)
		got := scope.HostClass(host + ":8443")
		if got.Class != class || !slices.Equal(scope.OriginsOf(host), origins) {
			t.Fatalf("%s is %s of %v; every pattern says %s of %v", host, got.Class, scope.OriginsOf(host), class, origins)
		}
		if _, by, ok := strings.Cut(got.Rule, ": "); ok && !mustNamed(by).Match(host) {
			t.Fatalf("%s is said to be matched by %q", host, got.Rule)
		}
	})
}

func mustNamed(s string) Pattern {
	base, below := strings.CutPrefix(s, "*.")
	return Pattern{base, below}
}

// BenchmarkClassify shows that a look-up costs the same with ten names as with 200,000.
func BenchmarkClassify(b *testing.B) {
	for _, n := range []int{10, 200_000} {
		var names strings.Builder
		for i := range n {
			fmt.Fprintf(&names, "||ads%d.example-%d.net^\n", i, i%977)
		}
		all, _, err := ParseListFile(strings.NewReader(names.String()))
		if err != nil {
			b.Fatal(err)
		}
		scope := build(b, Spec{Origins: []Origin{origin(b, "*.example.org")},
			Blacklist: []List{{Source: "file f", Patterns: all}}})
		for _, url := range []string{"https://a.b.unknown.com/x", "https://ads7.example-7.net/x",
			"https://docs.example.org/x"} {
			b.Run(fmt.Sprintf("%d/%s", n, scope.Classify(url).Class), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					scope.Classify(url)
				}
			})
		}
	}
}

// BenchmarkLoad reads and indexes a list of 200,000 names.
func BenchmarkLoad(b *testing.B) {
	var names strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&names, "0.0.0.0 ads%d.example-%d.net\n", i, i%977)
	}
	b.ReportAllocs()
	for b.Loop() {
		all, _, err := ParseListFile(strings.NewReader(names.String()))
		if err != nil || len(all) != 200_000 {
			b.Fatal(len(all), err)
		}
		if _, err := New(Spec{Blacklist: []List{{Source: "file f", Patterns: all}}}); err != nil {
			b.Fatal(err)
		}
	}
}
