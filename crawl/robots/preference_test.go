package robots_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/robots"
)

// applying returns the statements about a path, each as its line, field, path and value.
func applying(body, agent, path string) (all []robots.Statement) {
	return robots.Parse([]byte(body), agent).Applying(path)
}

const usage = "Content-Usage"

// The example of draft-ietf-aipref-attach, and what its text says about paths, groups and order.
func TestApplying(t *testing.T) {
	draft := "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n\n" +
		"User-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y\n"
	type said = []robots.Statement
	tests := []struct {
		name, body, agent, path string
		want                    said
	}{
		{"draft: the whole host", draft, "Ripple", "/test", said{{usage, "", "train-ai=n", 4}}},
		{"draft: a path", draft, "Ripple", "/ai-ok/test", said{{usage, "/ai-ok/", "train-ai=y", 5}}},
		{"draft: another crawler", draft, "ExampleBot", "/test", said{{usage, "/", "train-ai=y", 9}}},
		{"no group", "Content-Usage: train-ai=n\nUser-agent: *\nAllow: /", "r", "/", nil},
		{"equal paths", "User-agent: *\nContent-Usage: /a train-ai=n\nContent-Usage: /%61 train-ai=y\n" +
			"Content-Usage: x=y", "r", "/a/b", said{{usage, "/a", "train-ai=n", 2}, {usage, "/%61", "train-ai=y", 3}}},
		{"no path is /", "User-agent: *\nContent-Usage: a=y\nContent-Usage: / b=n", "r", "/x",
			said{{usage, "", "a=y", 2}, {usage, "/", "b=n", 3}}},
		{"wildcard and end", "User-agent: *\nContent-Usage: /*.pdf$ search=n\nContent-Usage: * search=y", "r", "/a.pdf",
			said{{usage, "/*.pdf$", "search=n", 2}}},
		{"wildcard, elsewhere", "User-agent: *\nContent-Usage: /*.pdf$ search=n\nContent-Usage:\t*\tsearch=y", "r", "/a.pdfx",
			said{{usage, "*", "search=y", 3}}},
		{"comment and case", "user-agent: *\n content-USAGE : /a  train-ai=n # why", "r", "/a",
			said{{usage, "/a", "train-ai=n", 2}}},
		{"a path alone", "User-agent: *\nContent-Usage: /a", "r", "/a", nil},
		{"fields apart", "User-agent: *\nContent-Usage: /a x=n\nContent-Signal: search=yes,use=reference\nLicense: https://l",
			"r", "/a", said{{usage, "/a", "x=n", 2}, {"Content-Signal", "", "search=yes,use=reference", 3},
				{"License", "", "https://l", 4}}},
		{"a licence is for all", "License: https://l\nUser-agent: other\nDisallow: /", "r", "/",
			said{{"License", "", "https://l", 1}}},
		{"a statement ends the names before it", "User-agent: r\nContent-Usage: a=n\nUser-agent: other\nContent-Usage: a=y",
			"r", "/", said{{usage, "", "a=n", 2}}},
		{"unknown words", "User-agent: *\nContent-Usage: own-word=\"x y\";p, (a b", "r", "/",
			said{{usage, "", "own-word=\"x y\";p, (a b", 2}}},
	}
	for _, tt := range tests {
		if diff := gocmp.Diff(tt.want, applying(tt.body, tt.agent, tt.path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Of each group the first hundred statements are read, because every page is compared with them.
func TestMostStatements(t *testing.T) {
	var body strings.Builder
	for _, agent := range []string{"*", "r"} {
		body.WriteString("User-agent: " + agent + "\n")
		for range 1000 {
			body.WriteString("Content-Usage: / train-ai=n\n")
		}
	}
	body.WriteString("License: https://l\n")
	for _, agent := range []string{"r", "other"} {
		rules := robots.Parse([]byte(body.String()), agent)
		if n, all := len(rules.Applying("/a")), len(rules.Statements()); n != 101 || all != n {
			t.Errorf("%s: %d statements of %d apply, want 101", agent, n, all)
		}
	}
}

// A line that states something permits and forbids nothing, and does not end a list of agents for rules.
func TestStatementsChangeNoRule(t *testing.T) {
	with := "User-agent: r\nContent-Usage: / train-ai=n\nLicense: https://l\nUser-agent: other\nContent-Signal: use=full\n" +
		"Disallow: /a\n"
	if v := robots.Parse([]byte(with), "r").Check("/a"); v.Allowed {
		t.Errorf("%+v", v)
	}
}

// FuzzApplying compares the statements that apply with rules: of lines that begin with the same paths, the longest
// matching one decides about requests, and its statement applies.
func FuzzApplying(f *testing.F) {
	f.Add("/a*b$\n/a\n/\n*", "/axxb")
	f.Add("/%61\n/a b\n/é", "/a?x=%2f")
	f.Fuzz(func(t *testing.T, paths, target string) {
		var rules, statements strings.Builder
		rules.WriteString("User-agent: *\n")
		statements.WriteString("User-agent: *\n")
		for path := range strings.SplitSeq(paths, "\n") {
			if strings.Trim(path, "/*$%abcé0123456789") != "" || path == "" || path[0] != '/' && path[0] != '*' {
				path = "/none"
			}
			rules.WriteString("Allow: " + path + "\n")
			statements.WriteString("Content-Usage: " + path + " a=n\n")
		}
		v := robots.Parse([]byte(rules.String()), "r").Check(target)
		got := robots.Parse([]byte(statements.String()), "r").Applying(target)
		if strings.HasPrefix(v.Rule, "Allow") && !slices.ContainsFunc(got, func(s robots.Statement) bool { return s.Line == v.Line }) {
			t.Errorf("line %d decides, but %v apply", v.Line, got)
		}
		all := robots.Parse([]byte(statements.String()), "r").Statements()
		if !slices.IsSortedFunc(all, func(a, b robots.Statement) int { return cmp.Compare(a.Line, b.Line) }) {
			t.Errorf("statements are not in their order: %v", all)
		}
	})
}
