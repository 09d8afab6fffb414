package robots_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/robots"
)

func FuzzCheck(f *testing.F) {
	f.Add(rfcSimple, "foobot", "/example/page.html")
	f.Add("User-agent: r\nDisallow: /*a*b$\nAllow: /%zz%2f\nCrawl-delay: 1e9\nSitemap: /s", "r", "/?a=%2f#b")
	f.Add("\ufeffuser-agent:*\rdisallow:*\r\nallow:/$", "", "")
	f.Add("\xff\xfeu\x00s\x00", "u", "*")
	f.Fuzz(func(t *testing.T, body, agent, path string) {
		r := robots.Parse([]byte(body), agent)
		v := r.Check(path)
		if again := robots.Parse([]byte(body), agent).Check(path); again != v {
			t.Errorf("%+v, then %+v", v, again)
		}
		if (v.Line == 0) != (v.Rule == "") || v.Line == 0 && !v.Allowed || len(v.Rule) > 256 {
			t.Errorf("verdict %+v", v)
		}
		if !r.Check("/robots.txt").Allowed {
			t.Error("/robots.txt is refused")
		}
		if d, ok := r.CrawlDelay(); d < 0 || d > 365*24*time.Hour || !ok && d != 0 {
			t.Errorf("crawl-delay %v, %v", d, ok)
		}
		sameWithCRLF(t, r, body, agent, v, path)
		lineSays(t, body, v)
	})
}

// sameWithCRLF checks that line endings do not matter.
func sameWithCRLF(t *testing.T, r *robots.Rules, body, agent string, v robots.Verdict, path string) {
	if strings.ContainsAny(body, "\r\x00") || 2*len(body) > robots.MaxBytes {
		return
	}
	other := robots.Parse([]byte(strings.ReplaceAll(body, "\n", "\r\n")), agent)
	if got := other.Check(path); got != v || !slices.Equal(other.Sitemaps(), r.Sitemaps()) ||
		other.Agent() != r.Agent() {
		t.Errorf("with CRLF %+v; want %+v", got, v)
	}
}

// lineSays checks that the deciding line is a rule of the verdict's kind.
func lineSays(t *testing.T, body string, v robots.Verdict) {
	if v.Line == 0 || strings.Contains(body[:min(len(body), 4)], "\x00") { // UTF-16
		return
	}
	lines := regexp.MustCompile("\r\n|[\r\n\v\f\u0085\u2028\u2029]").Split(body, -1)
	line := lines[v.Line-1]
	key, _, _ := strings.Cut(line, ":")
	letters := regexp.MustCompile("[^a-zA-Z]").ReplaceAllString(key, "")
	if strings.EqualFold(letters, "allow") != v.Allowed {
		t.Errorf("%+v, but the line is %q", v, line)
	}
}

// FuzzMatch compares one rule with the equivalent regular expression.
func FuzzMatch(f *testing.F) {
	f.Add("/a*b$", "/axxb")
	f.Add("/*a*a*a*b", "/aaaaaaaaaab")
	f.Add("*", "/")
	f.Add("/ab*ba", "/aba")
	f.Fuzz(func(t *testing.T, value, path string) {
		if !plain(value, "*$") || !plain(path, "") || len(value) > 100 {
			return
		}
		var many strings.Builder // enough wildcard rules for the path to be indexed
		for _, prefix := range []string{"*", "/*", "/*/", "/*//"} {
			for c := range 20 {
				many.WriteString("\nDisallow: " + prefix + "~" + string(rune('a'+c)) + "*~")
			}
		}
		want := expression(value).MatchString("/" + path)
		for _, rest := range []string{"", many.String()} {
			r := robots.Parse([]byte(group("Disallow: /"+value+rest)), "r")
			if got := r.Check("/" + path); got.Allowed == want && "/"+path != "/robots.txt" {
				t.Errorf("rule /%s, path /%s: %+v; want match %v", value, path, got, want)
			}
		}
	})
}

// plain reports a string of only letters, slashes and the extra characters.
func plain(s, extra string) bool {
	return strings.IndexFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && c != '/' && !strings.ContainsRune(extra, c)
	}) < 0 && !strings.Contains(strings.TrimSuffix(s, "$"), "$")
}

func expression(value string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^/")
	for _, c := range value {
		switch c {
		case '*':
			b.WriteString(".*")
		case '$':
			b.WriteString("$")
		default:
			b.WriteRune(c)
		}
	}
	return regexp.MustCompile(b.String())
}
