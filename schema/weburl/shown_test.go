package weburl_test

import (
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/sumi-ripple/ripple/schema/sanitize"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// ace encodes a label in Punycode, valid or not.
func ace(t *testing.T, label string) string {
	t.Helper()
	ascii, err := idna.Punycode.ToASCII(label)
	if err != nil {
		t.Fatal(err)
	}
	return ascii
}

// A host is shown in both forms if they differ and the second may be shown. The first is always kept.
func TestShown(t *testing.T) {
	for _, tt := range []struct{ name, host, reading string }{
		{"plain", "example.test", ""},
		{"umlaut", "xn--bcher-kva.test", "bücher.test"},
		{"port", "xn--bcher-kva.test:8443", "bücher.test:8443"},
		{"subdomain", "a_b.xn--bcher-kva.test", "a_b.bücher.test"},
		{"pattern", "*.xn--bcher-kva.test", "bücher.test"},
		{"address", "192.0.2.7:8080", ""},
		{"address of version 6", "[2001:db8::1]:8443", ""},
		{"URL", "https://xn--bcher-kva.test/a?b=xn--x", "bücher.test"},
		{"part of a host", "xn--bcher-kva.test/user", "bücher.test"},
		{"A-label in a path", "https://example.test/xn--bcher-kva.test", ""},
		{"one foreign script", ace(t, "пример") + ".test", "пример.test"},
		{"all of a word imitated", ace(t, "аррӏе") + ".test", "аррӏе.test"},
		{"Cyrillic in Latin", ace(t, "pаypal") + ".test", "pаypal.test, mixed scripts"},
		{"Greek in Latin", ace(t, "gοogle") + ".test", "gοogle.test, mixed scripts"},
		{"Cyrillic in Latin below a port", ace(t, "pаypal") + ".test:444", "pаypal.test:444, mixed scripts"},
		{"scripts of two labels", "shop." + ace(t, "пример") + ".test", "shop.пример.test"},
		{"Japanese with Latin", ace(t, "abcの例テ") + ".test", "abcの例テ.test"},
		{"Korean with Latin", ace(t, "k한글") + ".test", "k한글.test"},
		{"digits", ace(t, "дом2") + ".test", "дом2.test"},
		{"right to left", ace(t, "שלום") + "." + ace(t, "קום"), "שלום.קום\u200e"},
		{"emoji", ace(t, "☃") + ".test", "☃.test"},
		{"not Punycode", "xn--a.test", ""},
		{"empty label", "xn--.test", ""},
		{"not normal", ace(t, "BÜCHER") + ".test", ""},
		{"override", ace(t, "a\u202eb") + ".test", ""},
		{"isolate", ace(t, "a\u2067b") + ".test", ""},
		{"mark of direction", ace(t, "é\u200f") + ".test", ""},
		{"control", ace(t, "é\u009b31m") + ".test", ""},
		{"line separator", ace(t, "é\u2028") + ".test", ""},
		{"soft hyphen", ace(t, "é\u00ad") + ".test", ""},
		{"space without width", ace(t, "é\u200b") + ".test", ""},
		{"slash of mathematics", ace(t, "a\u2215b") + ".test", ""},
		{"blank of Braille", ace(t, "é\u2800") + ".test", ""},
		{"both directions", ace(t, "aש") + ".test", ""},
		{"ASCII alone", "xn--abc-.test", ""},
	} {
		got, want := tt.host+weburl.Reading(tt.host), tt.host
		if tt.reading != "" {
			want += " (" + tt.reading + ")"
		}
		if got != want {
			t.Errorf("%s: Reading(%q) shows %q; want %q", tt.name, tt.host, got, want)
		}
		if sanitize.Text(got) != got || !strings.HasPrefix(got, tt.host) {
			t.Errorf("%s: %q is not fit to be shown", tt.name, got)
		}
	}
}
