package page

import (
	"net/http"
	"testing"

	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestPreferences(t *testing.T) {
	const self = "https://a.test/x/y"
	rules, err := weburl.NewRules(nil, 2048)
	if err != nil {
		t.Fatal(err)
	}
	base, err := rules.Base(self)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		header http.Header
		body   string
		want   string
	}{
		{"fields", http.Header{"Content-Usage": {"train-ai=n", "own=y"}, "Content-Signal": {"use=reference"}}, "<p>",
			"header: Content-Usage: train-ai=n, own=y\nheader: Content-Signal: use=reference"},
		{"licences", http.Header{"Link": {`</l>; rel="license canonical", <m>; rel=license; anchor="/other"`}},
			`<link rel="License" href="http://creativecommons.org/by/4.0/"><link rel=license href="z">`,
			"header: License: https://a.test/l\nelement: License: http://creativecommons.org/by/4.0/\n" +
				"element: License: https://a.test/x/z"},
		{"not the document's", nil, `<svg><link rel=license href="/l"></svg><a rel=license href="/m">x</a>`, ""},
		{"base", nil, `<base href="/b/"><link rel=license href="l">`, "element: License: https://a.test/b/l"},
		{"unsafe", http.Header{"Content-Usage": {"a=\x1b[2Jn\u202e"}}, "", "header: Content-Usage: a=[2Jn"},
		{"nothing", http.Header{"Content-Usage": {""}}, "<p>", ""},
	}
	for _, tt := range tests {
		e := NewExtractor(Options{})
		p := e.Answer(tt.header, "text/html", []byte(tt.body), base, self)
		if p.Preferences != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, p.Preferences, tt.want)
		}
		if again := e.Answer(nil, "text/html", []byte("<p>x"), base, self); again.Preferences != "" {
			t.Errorf("%s: the next page says %q", tt.name, again.Preferences)
		}
	}
	plain := NewExtractor(Options{}).Answer(http.Header{"Content-Usage": {"train-ai=n"}}, "text/plain", nil, base, self)
	if preference.StanceOf(plain.Preferences) != preference.Refused {
		t.Errorf("an answer that is not HTML says %q", plain.Preferences)
	}
}
