package scope

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func expressions(list ...string) (all []*regexp.Regexp) {
	for _, s := range list {
		all = append(all, regexp.MustCompile(s))
	}
	return all
}

func TestRefuse(t *testing.T) {
	wide, narrow, only := origin(t, "*.example.com"), origin(t, "docs.example.com"), origin(t, "only.org")
	wide.Exclude = expressions("/private", `\?print=`)
	narrow.Include = expressions("^/private/open")
	only.Include, only.Exclude = expressions("^/a", "^/b"), expressions(`\.pdf$`)
	scope := build(t, Spec{
		Origins: []Origin{wide, narrow, only, origin(t, "free.org")},
		Traps:   Traps{MaxPathDepth: 20, MaxRepeatedSegments: 3},
	})
	tests := []struct{ host, path, rule string }{
		{"example.com", "/", ""},
		{"example.com", "/x/private", `exclude "/private"`},
		{"example.com:8443", "/x?print=1", `exclude "\\?print="`},
		{"docs.example.com", "/private/open/1", ""},
		{"docs.example.com", "/private/closed", `exclude "/private"`},
		{"docs.example.com", "/public", ""},
		{"only.org", "/a.pdf", `exclude "\\.pdf$"`},
		{"only.org", "/b", ""},
		{"only.org", "/c", `no include of "only.org" matches`},
		{"free.org", "/private", ""},
		{"other.net", "/private", ""},
		{"other.net", strings.Repeat("/a/b/c/d", 5), "trap: max-repeated-segments = 3"},
		{"free.org", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20", ""},
		{"free.org", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21", "trap: max-path-depth = 20"},
		{"free.org", "/?a=/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21", ""},
		{"free.org", "/a/b/a/b/a/b", ""},
		{"free.org", "/a/b/a/b/a/b/a", "trap: max-repeated-segments = 3"},
		{"free.org", "/a////b", ""},
		{"free.org", "/a/////b", "trap: max-repeated-segments = 3"},
	}
	for _, tt := range tests {
		rule, refused := scope.Refuse(tt.host, tt.path)
		if rule.String() != tt.rule || refused != (tt.rule != "") {
			t.Errorf("Refuse(%q, %q) = %q, %v; want %q", tt.host, tt.path, rule, refused, tt.rule)
		}
	}
}

func TestTrapsAreOffAtZero(t *testing.T) {
	scope := build(t, Spec{})
	if rule, refused := scope.Refuse("a.com", strings.Repeat("/a", 1000)); refused {
		t.Errorf("refused by %q", rule)
	}
}

// Both ways of counting segments agree.
func TestRepeatsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "dd", ""}), 0, 30).Draw(t,
			"path"), "/")
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		if a, b := repeats(path, limit), repeatsCounted(path, limit); a != b {
			t.Fatalf("%q repeats more than %d times: %v by pairs, %v by counting", path, limit, a, b)
		}
	})
}

func TestPageType(t *testing.T) {
	github := mustPattern(t, "github.com")
	scope := build(t, Spec{PageTypes: []PageType{
		{Name: "issues", Pattern: github, Path: regexp.MustCompile(`^/(?P<group>[^/]+/[^/]+)/issues`), MaxPerGroup: 50},
		{Name: "owner", Pattern: github, Path: regexp.MustCompile(`^/([^/]+)$`)},
		{Name: "maybe", Path: regexp.MustCompile(`^/x(/(?P<group>\d+))?$`), MaxPerGroup: 2},
		{Name: "rest", Pattern: mustPattern(t, "*.rest.org")},
	}})
	tests := []struct {
		host, path, name, group string
		limit                   int
	}{
		{"github.com", "/golang/go/issues/1", "issues", "golang/go", 50},
		{"github.com", "/golang", "owner", "", 0},
		{"github.com", "/golang/go", "", "", 0},
		{"a.com", "/x/12", "maybe", "12", 2},
		{"a.com", "/x", "maybe", "", 2},
		{"a.rest.org:81", "/anything", "rest", "", 0},
		{"a.com", "/anything", "", "", 0},
	}
	for _, tt := range tests {
		name, group, limit, ok := scope.PageType(tt.host, tt.path)
		if name != tt.name || group != tt.group || limit != tt.limit || ok != (tt.name != "") {
			t.Errorf("PageType(%q, %q) = %q, %q, %d, %v; want %q, %q, %d", tt.host, tt.path, name, group, limit, ok, tt.name,
				tt.group, tt.limit)
		}
	}
}

func TestEntity(t *testing.T) {
	scope := build(t, Spec{Entities: []Entity{
		{mustPattern(t, "github.com"), 1, nil},
		{mustPattern(t, "two.org"), 2, nil},
		{mustPattern(t, "*.wiki.org"), BySite, nil},
		{mustPattern(t, "ann.example.com"), ByHost, patterns(t, "ann.blog", "*.ann.net")},
		{mustPattern(t, "*.example.com"), ByHost, nil},
	}})
	tests := []struct{ url, want string }{
		{"https://github.com/owner/repo?x", "github.com/owner"},
		{"https://github.com/owner", "github.com/owner"},
		{"https://github.com/owner?tab=1", "github.com/owner"},
		{"https://github.com/", "github.com"},
		{"https://github.com/?q=/a", "github.com"},
		{"https://github.com//x", "github.com"},
		{"https://two.org/a/b/c", "two.org/a/b"},
		{"https://two.org:81/a/b", "two.org:81/a/b"},
		{"https://two.org/a", "two.org"},
		{"https://two.org/a//c", "two.org"},
		{"https://de.m.wiki.org/x", "wiki.org"},
		{"https://a.example.com/x", "a.example.com"},
		{"https://other.net:81/x", "other.net:81"},
		{"https://ann.example.com/x", "ann.example.com"},
		{"https://ann.blog:81/x", "ann.example.com"},
		{"https://a.ann.net/", "ann.example.com"},
		{"https://b.ann.blog/", "b.ann.blog"},
	}
	for _, tt := range tests {
		if got := scope.Entity(tt.url); got != tt.want {
			t.Errorf("Entity(%q) = %q, want %q", tt.url, got, tt.want)
		}
		host, _ := weburl.Split(tt.url)
		byPath := strings.HasPrefix(host, "github.com") || strings.HasPrefix(host, "two.org")
		if node, ok := scope.EntityOfHost(host); ok == byPath || ok && node != tt.want {
			t.Errorf("EntityOfHost(%q) = %q, %v, want %q", host, node, ok, tt.want)
		}
	}
}

func TestParseBy(t *testing.T) {
	for _, s := range []string{"host", "site", "path-1", "path-20"} {
		if by, err := ParseBy(s); err != nil || by.String() != s {
			t.Errorf("ParseBy(%q) = %v, %v", s, by, err)
		}
	}
	for _, s := range []string{"", "path", "path-", "path-0", "path-21", "path-01", "path-+1", "path--1", "domain"} {
		if by, err := ParseBy(s); err == nil {
			t.Errorf("ParseBy(%q) = %v", s, by)
		}
	}
}
