package scope

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func mustPattern(t testing.TB, s string) Pattern {
	t.Helper()
	p, _, err := ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParsePattern(t *testing.T) {
	tests := []struct{ in, want, notice, err string }{
		{in: "example.com", want: "example.com"},
		{in: "*.example.com", want: "*.example.com"},
		{in: "EXAMPLE.Com", want: "example.com"},
		{in: "example.com.", want: "example.com"},
		{in: "bücher.example", want: "xn--bcher-kva.example"},
		{in: "*.BÜCHER.example", want: "*.xn--bcher-kva.example"},
		{in: "www.example.com", want: "example.com", notice: `means "example.com"`},
		{in: "*.www.example.com", want: "*.example.com", notice: `means "*.example.com"`},
		{in: "www.com", want: "www.com"},
		{in: "a_b.example.com", want: "a_b.example.com"},
		{in: "r3---sn.example.com", want: "r3---sn.example.com"},
		{in: "127.1", want: "127.0.0.1"},
		{in: "[::1]", want: "[::1]"},
		{in: "localhost", want: "localhost"},
		{in: "https://example.com/", err: `write "example.com"`},
		{in: "https://www.example.com/a?b#c", err: `write "example.com"`},
		{in: "https://*.example.com", err: `write "*.example.com"`},
		{in: "example.com/path", err: `write "example.com"`},
		{in: "*.example.com/path", err: `write "*.example.com"`},
		{in: "user@example.com", err: `write "example.com"`},
		{in: "example.com:8443", err: `write "example.com"`},
		{in: "*.example.com:443", err: `write "*.example.com"`},
		{in: "[::1]:80", err: `write "[::1]"`},
		{in: "*.127.0.0.1", err: `write "127.0.0.1"`},
		{in: "*.4", err: `write "0.0.0.4"`},
		{in: "foo.*.com", err: "only in front"},
		{in: "*example.com", err: "only in front"},
		{in: "*.*.example.com", err: "only in front"},
		{in: "", err: "not a host name"},
		{in: "*", err: "only in front"},
		{in: "*.", err: "not a host name"},
		{in: "a..b", err: "not a host name"},
		{in: ".example.com", err: "not a host name"},
		{in: "exa mple.com", err: "not a host name"},
		{in: "it's.example", err: "not a host name"},
		{in: "-bad-.com", err: "begins or ends with a hyphen"},
		{in: "*.bad-.com", err: "begins or ends with a hyphen"},
		{in: "good.-com", err: "begins or ends with a hyphen"},
		{in: "-bäd-.com", err: "begins or ends with a hyphen"},
		{in: "xn--bd--qla.com", err: "begins or ends with a hyphen"},
		{in: "*.good.xn----zfa.com", err: "begins or ends with a hyphen"},
		{in: "xn--.com", err: "not a host name"},
		{in: "-1.2.3.4", err: "not a host name"},
		{in: "a-_-b.r3---sn.com", want: "a-_-b.r3---sn.com"},
		{in: "a\x00b", err: "not a host name"},
		{in: strings.Repeat("a", 64) + ".com", err: "not a host name"},
		{in: strings.Repeat("abc.", 64) + "com", err: "not a host name"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, notice, err := ParsePattern(tt.in)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("ParsePattern(%q) = %q, error %v; want an error with %q", tt.in, got, err, tt.err)
				}
				return
			}
			if err != nil || got.String() != tt.want {
				t.Fatalf("ParsePattern(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
			}
			if (notice != "") != (tt.notice != "") || !strings.Contains(notice, tt.notice) {
				t.Errorf("notice %q, want one with %q", notice, tt.notice)
			}
		})
	}
}

func TestPatternMatch(t *testing.T) {
	tests := []struct {
		pattern, host string
		want          bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "example.com:8443", true},
		{"example.com", "a.example.com", false},
		{"*.example.com", "example.com", true},
		{"*.example.com", "a.b.example.com:81", true},
		{"*.example.com", "notexample.com", false},
		{"*.example.com", "example.com.evil.org", false},
		{"[::1]", "[::1]:8443", true},
		{"[::1]", "[::1]", true},
		{"[::1]", "[::2]", false},
		{"*.com", "example.com", true},
	}
	for _, tt := range tests {
		if got := mustPattern(t, tt.pattern).Match(tt.host); got != tt.want {
			t.Errorf("%q matches %q: %v, want %v", tt.pattern, tt.host, got, tt.want)
		}
	}
	if (Pattern{}).Match("") || !(Pattern{}).IsZero() {
		t.Error("the zero pattern matches something")
	}
}

func TestPatternCompare(t *testing.T) {
	order := []string{"a.b.example.com", "example.com", "*.b.example.com", "*.example.com", "*.com"}
	for i, a := range order {
		for j, b := range order {
			got := mustPattern(t, a).Compare(mustPattern(t, b))
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q compared with %q: %d", a, b, got)
			}
		}
	}
}

// Patterns round-trip; a plain name needs no canonicalization; every pattern matches its own base.
func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{"example.com", "*.Example.com", "www.example.com", "127.1", "[::1]", "xn--a.b", "a-.b_c",
		"0x7f", "http://x/", "a:1", "*.co.uk"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, _, err := ParsePattern(s)
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		again, notice, err := ParsePattern(p.String())
		if err != nil || again != p || notice != "" {
			t.Errorf("%q becomes %q, then %q (%s, %v)", s, p, again, notice, err)
		}
		if !p.Match(p.base) || !p.Match(p.base+":8443") || p.Match("x"+p.base) {
			t.Errorf("%q does not match its own base alone", p)
		}
		if norm, err := weburl.NormalizeHost(p.base); err != nil || norm != p.base {
			t.Errorf("base %q normalises to %q, %v", p.base, norm, err)
		}
	})
}
