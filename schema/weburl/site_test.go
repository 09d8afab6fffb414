package weburl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestNormalizeHost(t *testing.T) {
	tests := []struct {
		name, in, want string
		err            error
	}{
		{"case and www", "WWW.Example.COM", "example.com", nil},
		{"trailing dot", "example.com.", "example.com", nil},
		{"umlaut", "bücher.example", "xn--bcher-kva.example", nil},
		{"port", "www.example.com:08443", "example.com:8443", nil},
		{"port of https", "example.com:443", "example.com", nil},
		{"port 80", "example.com:80", "example.com:80", nil},
		{"registry", "www.co.uk", "www.co.uk", nil},
		{"no dot", "localhost", "localhost", nil},
		{"IPv4", "0x7f.1", "127.0.0.1", nil},
		{"IPv6", "[::1]:8080", "[::1]:8080", nil},
		{"IPv6 without brackets", "::1", "", weburl.ErrNoHost},
		{"empty", "", "", weburl.ErrNoHost},
		{"scheme", "https://example.com", "", weburl.ErrMalformed},
		{"scheme alone", "https:example.com", "", weburl.ErrMalformed},
		{"path", "example.com/", "", weburl.ErrMalformed},
		{"backslash", `example.com\`, "", weburl.ErrMalformed},
		{"query", "example.com?", "", weburl.ErrMalformed},
		{"fragment", "example.com#", "", weburl.ErrMalformed},
		{"user", "user@example.com", "", weburl.ErrMalformed},
		{"space", "example.com ", "", weburl.ErrMalformed},
		{"tab", "exam\tple.com", "", weburl.ErrMalformed},
		{"pattern", "*.example.com", "", weburl.ErrMalformed},
		{"comma", "a.example,b.example", "", weburl.ErrMalformed},
		{"empty label", "a..example", "", weburl.ErrMalformed},
		{"underscore", "_dmarc.example.com", "_dmarc.example.com", nil},
		{"longest label", strings.Repeat("a", 63) + ".example", strings.Repeat("a", 63) + ".example", nil},
		{"label too long", strings.Repeat("a", 64) + ".example", "", weburl.ErrMalformed},
		{"name too long", strings.Repeat("a.", 127) + "example", "", weburl.ErrMalformed},
		{"far too long", strings.Repeat("a.", 1<<20), "", weburl.ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := weburl.NormalizeHost(tt.in)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("NormalizeHost(%q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestSite(t *testing.T) {
	for host, want := range map[string]string{
		"blog.example.com":      "example.com",
		"blog.example.com:8443": "example.com",
		"a.b.example.co.uk":     "example.co.uk",
		"co.uk":                 "co.uk",
		"me.github.io":          "me.github.io",
		"x.me.github.io":        "me.github.io",
		"github.io":             "github.io",
		"localhost":             "localhost",
		"db.localhost":          "db.localhost",
		"192.168.0.1":           "192.168.0.1",
		"192.168.0.1:80":        "192.168.0.1",
		"[2001:db8::1]":         "[2001:db8::1]",
		"[2001:db8::1]:8080":    "[2001:db8::1]",
		"a.xn--bcher-kva.de":    "xn--bcher-kva.de",
		".example.com":          ".example.com",
		"":                      "",
	} {
		if got := weburl.Site(host); got != want {
			t.Errorf("Site(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestSURT(t *testing.T) {
	for norm, want := range map[string]string{
		"https://blog.example.com/path?query": "com,example,blog)/path?query",
		"https://example.com:8443/":           "com,example:8443)/",
		"https://localhost/":                  "localhost)/",
		"https://192.168.0.1/a":               "192.168.0.1)/a",
		"https://192.168.0.1:81/a":            "192.168.0.1:81)/a",
		"https://[2001:db8::1]/":              "[2001:db8::1])/",
		"https://[2001:db8::1]:8443/":         "[2001:db8::1]:8443)/",
		"https://":                            ")",
	} {
		if got := weburl.SURT(norm); got != want {
			t.Errorf("SURT(%q) = %q, want %q", norm, got, want)
		}
	}
}

func TestSURTKeepsDomainsTogether(t *testing.T) {
	var keys []string
	for _, norm := range []string{"https://b.example.com/", "https://example.org/", "https://a.example.com/z",
		"https://a.example.com/"} {
		keys = append(keys, weburl.SURT(norm))
	}
	slices.Sort(keys)
	want := []string{"com,example,a)/", "com,example,a)/z", "com,example,b)/", "org,example)/"}
	if !slices.Equal(keys, want) {
		t.Errorf("sorted %q, want %q", keys, want)
	}
}

func TestUnicode(t *testing.T) {
	for host, want := range map[string]string{
		"xn--bcher-kva.example":      "bücher.example",
		"xn--bcher-kva.example:8443": "bücher.example:8443",
		"example.com":                "example.com",
		"[::1]:80":                   "[::1]:80",
		"xn--a.example":              "xn--a.example", // invalid punycode, so shown unchanged
	} {
		if got := weburl.Unicode(host); got != want {
			t.Errorf("Unicode(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestBadPort(t *testing.T) {
	for port, want := range map[string]bool{
		"0": true, "1": true, "022": true, "22": true, "25": true, "587": true, "6000": true, "6697": true, "10080": true,
		"": false, "80": false, "443": false, "8080": false, "8443": false, "6001": false, "65536": false, "-1": false,
		"x": false,
	} {
		if got := weburl.BadPort(port); got != want {
			t.Errorf("BadPort(%q) = %t", port, got)
		}
	}
}
