package weburl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// readVectors reads published conformance data, or skips the test.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	folder := os.Getenv("RIPPLE_VECTORS")
	if folder == "" {
		t.Skip("RIPPLE_VECTORS names no folder with conformance data")
	}
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// withoutRules strips no parameters and allows every length.
func withoutRules(t testing.TB) *weburl.Rules {
	t.Helper()
	r, err := weburl.NewRules(nil, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// resolve resolves ref on a page with this base, which may be empty.
func resolve(rules *weburl.Rules, base, ref string) (weburl.URL, error) {
	if base == "" {
		return rules.Parse(ref)
	}
	b, err := rules.Base(base)
	if err != nil {
		return weburl.URL{}, err
	}
	return b.Parse(ref)
}

var escapes = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// folded returns a Form with the escapes in its path in upper case and unreserved characters decoded,
// for comparison with the WHATWG serialisation.
func folded(form string) string {
	path, query, hasQuery := strings.Cut(form, "?")
	path = escapes.ReplaceAllStringFunc(path, func(escape string) string {
		c, err := strconv.ParseUint(escape[1:], 16, 8)
		if err == nil && strings.ContainsRune("-._~", rune(c)) || c < 0x80 && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) {
			return string(rune(c))
		}
		return strings.ToUpper(escape)
	})
	if hasQuery {
		return path + "?" + query
	}
	return path
}

// formOf returns the Form of a URL in WHATWG serialisation, except for the escapes in its path.
func formOf(href string) string {
	href, _, _ = strings.Cut(href, "#")
	_, href, _ = strings.Cut(href, "://")
	i := strings.IndexAny(href, "/?")
	host, rest := href[:i], href[i:]
	host = strings.TrimSuffix(host[strings.LastIndexByte(host, '@')+1:], ":443")
	name, port, _ := strings.Cut(host, ".:")
	if port != "" {
		host = name + ":" + port
	}
	return "https://" + strings.TrimSuffix(host, ".") + rest
}

func TestWebPlatformVectors(t *testing.T) {
	var vectors []struct {
		Base, Input, Href string
		Failure           bool
	}
	readVectors(t, "url_wpt.json", &vectors)
	departures := map[string]string{
		// A label that claims to be punycode but is not cannot be looked up.
		"http://a.b.c.xn--pokxncvks":  "disputed punycode",
		"http://10.0.0.xn--pokxncvks": "disputed punycode",
		"http://a.b.c.XN--pokxncvks":  "disputed punycode",
		"http://a.b.c.Xn--pokxncvks":  "disputed punycode",
		"http://10.0.0.XN--pokxncvks": "disputed punycode",
		"http://10.0.0.xN--pokxncvks": "disputed punycode",
		"https://xn--/":               "disputed punycode",
		// Trailing dots of a host are dropped.
		"http://./":       "nothing is left without the dots",
		"http://../":      "nothing is left without the dots",
		"http://foo.09..": "ends in a number without the dots",
	}
	rules := withoutRules(t)
	for _, v := range vectors {
		if reason, ok := departures[v.Input]; ok {
			if u, err := resolve(rules, v.Base, v.Input); err == nil {
				t.Errorf("%q (%s) = %q; it should be refused", v.Input, reason, u.Form)
			}
			continue
		}
		u, err := resolve(rules, v.Base, v.Input)
		switch {
		case v.Failure && err == nil:
			t.Errorf("%q on %q = %q; want an error", v.Input, v.Base, u.Form)
		case v.Failure:
		case err != nil || folded(u.Form) != folded(formOf(v.Href)):
			t.Errorf("%q on %q = %q, %v; want %q", v.Input, v.Base, u.Form, err, formOf(v.Href))
		default:
			checkLaws(t, rules, u)
		}
	}
}

func TestRFC3986Vectors(t *testing.T) {
	var vectors []struct {
		Base, Ref, Expected string
		WHATWG              string `json:"expected_whatwg"` // where browsers differ
	}
	readVectors(t, "url_rfc3986.json", &vectors)
	rules := withoutRules(t)
	for _, v := range vectors {
		want := v.Expected
		if v.WHATWG != "" {
			want = v.WHATWG
		}
		u, err := resolve(rules, v.Base, v.Ref)
		if !strings.HasPrefix(want, "http") {
			if err == nil {
				t.Errorf("%q = %q; want an error", v.Ref, u.Form)
			}
			continue
		}
		if err != nil || folded(u.Form) != folded(formOf(want)) {
			t.Errorf("%q on %q = %q, %v; want %q", v.Ref, v.Base, u.Form, err, formOf(want))
		}
	}
}
